package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// IdempotencyTTL is how long the first answer to an Idempotency-Key is kept.
const IdempotencyTTL = 24 * time.Hour

// IdempotencyKey names one request of an API key: its route and the caller's
// key, with the hash of the body that came with it.
type IdempotencyKey struct {
	KeyID      int64
	Route, Key string
	BodyHash   [32]byte
}

// Answer is a stored first answer.
type Answer struct {
	Status int
	Body   json.RawMessage
}

// FindAnswer returns the stored answer of an earlier request with the same
// key, nil when there is none; Validation when that request had another body.
func (s *Store) FindAnswer(ctx context.Context, k IdempotencyKey) (*Answer, error) {
	a, err := k.find(ctx, s.pool)
	return a, translate(err)
}

func (k IdempotencyKey) find(ctx context.Context, q querier) (*Answer, error) {
	var a Answer
	var hash []byte
	err := q.QueryRow(ctx, `SELECT status, answer, body_hash FROM idempotency_keys
		WHERE api_key_id = $1 AND route = $2 AND key = $3 AND created_at > now() - $4::interval`,
		k.KeyID, k.Route, k.Key, IdempotencyTTL).Scan(&a.Status, &a.Body, &hash)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil //nolint:nilnil // no answer is no error
	case err != nil:
		return nil, err
	case !bytes.Equal(hash, k.BodyHash[:]):
		return nil, fault.New(fault.Validation,
			"Idempotency-Key %q was used with another body; use a new key for a new request", k.Key)
	}
	return &a, nil
}

// begin claims the key for the transaction. It returns the stored answer when
// there is one, and Conflict while another request is at it.
func (k IdempotencyKey) begin(ctx context.Context, tx pgx.Tx) (*Answer, error) {
	var free bool
	if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, k.lock()).Scan(&free); err != nil {
		return nil, err
	}
	if !free {
		return nil, fault.New(fault.Conflict,
			"a request with Idempotency-Key %q is still running; retry with the same key to get its answer", k.Key).After(time.Second)
	}
	return k.find(ctx, tx)
}

func (k IdempotencyKey) keep(ctx context.Context, tx pgx.Tx, a Answer) error {
	_, err := tx.Exec(ctx, `INSERT INTO idempotency_keys (api_key_id, route, key, body_hash, status, answer)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (api_key_id, route, key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
			answer = excluded.answer, created_at = now()`,
		k.KeyID, k.Route, k.Key, k.BodyHash[:], a.Status, a.Body)
	return err
}

// lock is the advisory lock of the key: 64 bits of its hash. Two keys that
// share them only wait for each other.
func (k IdempotencyKey) lock() int64 {
	h := sha256.Sum256(fmt.Appendf(nil, "idempotency\x00%d\x00%s\x00%s", k.KeyID, k.Route, k.Key))
	return int64(binary.BigEndian.Uint64(h[:8])) //nolint:gosec // any bits will do
}

// answersDropped bounds how many answers one round deletes: after a time without
// workers all that passed their time is due at once.
const answersDropped = 5000

// dropOldAnswers deletes answers past their time, the oldest first.
func (s *Store) dropOldAnswers(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_keys
		WHERE created_at < now() - $1::interval ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))`, IdempotencyTTL, answersDropped)
	return err
}
