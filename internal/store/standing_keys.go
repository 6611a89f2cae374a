package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// An API key has a standing as a person has (standing.go): whether it still opens what it
// opened when a request with it began, which may be minutes ago. What such a request makes
// asks for the key again, in the transaction that makes it, and holds the key's standing
// from the statement before; both go with the statement that locks what it is made in, so
// they take no trip of their own. A change of the key waits for who holds it, when it has
// written the change and before it commits: once it is through, the key makes nothing any
// more.

// keyStanding are the two numbers of the lock of key $1, as standingKey are a person's.
const keyStanding = `2, ($1::bigint % 2147483647)::int`

const (
	// holdKeySQL keeps changes of key $1 waiting up to the end of the transaction.
	holdKeySQL = `SELECT pg_advisory_xact_lock_shared(` + keyStanding + `)`
	// holdCreatorSQL does so with changes of the roles of the key's creator.
	holdCreatorSQL = `SELECT pg_advisory_xact_lock_shared(1, (created_by % 2147483647)::int) FROM api_keys WHERE id = $1`
	// askKeySQL asks the clock and not when the transaction began: the key may have
	// ended while it waited.
	askKeySQL = `SELECT k.revoked_at IS NOT NULL, coalesce(k.expires_at <= clock_timestamp(), false), ` + creatorRemovedSQL + `
		FROM api_keys k WHERE k.id = $1 AND k.org_id = $2`
)

// changeKeyStanding waits for those who hold the key's standing, and has others wait up
// to the end of the transaction.
func changeKeyStanding(ctx context.Context, tx pgx.Tx, keyID int64) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+keyStanding+`)`, keyID); err != nil {
		return fmt.Errorf("change the standing of an API key: %w", err)
	}
	return nil
}

// queueKey has a batch hold the standing of a request's key and ask for it. Where the
// key is refused, the batch fails, whatever comes behind. Key 0 stands for what is no
// request: nothing is asked.
func queueKey(b *pgx.Batch, orgID, keyID int64, refusal func(keyState) error) {
	if keyID == 0 {
		return
	}
	b.Queue(holdKeySQL, keyID)
	b.Queue(askKeySQL, keyID, orgID).QueryRow(func(row pgx.Row) error {
		var k keyState
		err := row.Scan(&k.revoked, &k.expired, &k.creatorRemoved)
		if errors.Is(err, pgx.ErrNoRows) {
			return errUnknownKey
		}
		if err != nil {
			return fmt.Errorf("ask for the API key: %w", err)
		}
		return refusal(k)
	})
}

// queueUploadKey is queueKey for an upload.
func queueUploadKey(b *pgx.Batch, orgID, keyID int64) {
	if keyID == 0 {
		return
	}
	b.Queue(holdCreatorSQL, keyID)
	queueKey(b, orgID, keyID, keyState.uploadRefusal)
}

// keyState is what decides whether a key opens anything.
type keyState struct{ revoked, expired, creatorRemoved bool }

var (
	errUnknownKey = fault.New(fault.InvalidAPIKey, "this API key is not known; check that it was copied whole")

	// ErrCreatorRemoved is the error of uploads with a key whose creator was removed
	// (spec 5.6): they act in that person's name.
	ErrCreatorRemoved = fault.New(fault.Validation,
		"the creator of this API key was removed from the organization, and ZIP uploads act in the creator's name; "+
			"revoke the key and have an active org admin create a new one")
)

// refusal tells why the key opens nothing, nil when it does.
func (k keyState) refusal() error {
	switch {
	case k.revoked:
		return fault.New(fault.InvalidAPIKey, "this API key was revoked; use another one")
	case k.expired:
		return fault.New(fault.InvalidAPIKey,
			"this API key has expired; an org admin can extend it or create another one")
	}
	return nil
}

// uploadRefusal is refusal for uploads.
func (k keyState) uploadRefusal() error {
	if err := k.refusal(); err != nil {
		return err
	}
	if k.creatorRemoved {
		return ErrCreatorRemoved
	}
	return nil
}
