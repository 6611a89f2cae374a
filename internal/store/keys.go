package store

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// APIKey is a key as people see it: never its value.
type APIKey struct {
	ID             int64
	OrgID          int64
	Name           string
	Last4          string
	CreatedBy      int64
	CreatedByEmail string
	// CreatorRemoved is set once the creator is no member of the organization
	// any more: the ZIP endpoints then refuse the key (spec 5.6).
	CreatorRemoved bool
	CreatedAt      time.Time
	ExpiresAt      *time.Time
	RevokedAt      *time.Time
	LastUsedAt     *time.Time
}

// creatorRemovedSQL is the condition that the creator of key k is no member any more.
const creatorRemovedSQL = `NOT EXISTS (SELECT FROM org_members m
		WHERE m.org_id = k.org_id AND m.user_id = k.created_by AND m.removed_at IS NULL)`

const keyColumns = `k.id, k.org_id, k.name, k.last4, k.created_by, u.email AS created_by_email,
	` + creatorRemovedSQL + ` AS creator_removed,
	k.created_at, k.expires_at, k.revoked_at, k.last_used_at`

// authenticated is a key with what decides whether it opens anything. The
// database's clock decides, so that all processes agree.
type authenticated struct {
	APIKey
	Hash    []byte
	Expired bool
	Stale   bool // last_used_at is a minute old
}

// AuthenticateKey returns the key behind the hash of a value. Nothing is
// cached, so a revocation acts on the next request of every process. Those that are
// on their way ask once more (standing_keys.go).
func (s *Store) AuthenticateKey(ctx context.Context, hash [32]byte) (APIKey, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT `+keyColumns+`, k.hash, coalesce(k.expires_at <= now(), false) AS expired,
			coalesce(k.last_used_at <= now() - interval '1 minute', true) AS stale
		FROM api_keys k JOIN users u ON u.id = k.created_by
		WHERE k.hash = $1`, hash[:])
	k, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[authenticated])
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return APIKey{}, translate(fmt.Errorf("find API key: %w", err))
	}
	// The index found it already; comparing again in constant time keeps the
	// promise should the lookup ever become less exact.
	if err != nil || subtle.ConstantTimeCompare(k.Hash, hash[:]) != 1 {
		return APIKey{}, errUnknownKey
	}
	if err := (keyState{revoked: k.RevokedAt != nil, expired: k.Expired}).refusal(); err != nil {
		return APIKey{}, err
	}
	if k.Stale { // of many requests at that moment one writes, and the others do not wait for it
		s.touch(ctx, `UPDATE api_keys SET last_used_at = now()
			WHERE id = (SELECT id FROM api_keys WHERE org_id = $1 AND id = $2
				AND (last_used_at IS NULL OR last_used_at <= now() - interval '1 minute')
				FOR UPDATE SKIP LOCKED)`, k.OrgID, k.ID)
	}
	return k.APIKey, nil
}

// Keys lists all of the organization's keys, for the command line: active ones first,
// then revoked ones, newest first in each part.
func (s *Store) Keys(ctx context.Context, orgID int64) ([]APIKey, error) {
	return s.firstKeys(ctx, orgID, noBound)
}

// ListKeys is Keys for a page: MaxKeys at most, and none that is over instead of one
// that still opens something.
func (s *Store) ListKeys(ctx context.Context, orgID int64) ([]APIKey, error) {
	return s.firstKeys(ctx, orgID, MaxKeys)
}

// firstKeys chooses by more than the order that it lists in: there, expired keys stand
// among the active ones, as they can be given more time.
func (s *Store) firstKeys(ctx context.Context, orgID int64, most int) ([]APIKey, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+keyColumns+`
		FROM (SELECT * FROM api_keys WHERE org_id = $1
			ORDER BY revoked_at IS NOT NULL, coalesce(expires_at <= now(), false), id DESC LIMIT $2) k
		JOIN users u ON u.id = k.created_by
		ORDER BY k.revoked_at IS NOT NULL, k.id DESC`, orgID, most)
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[APIKey])
	if err != nil {
		return nil, translate(fmt.Errorf("list API keys: %w", err))
	}
	return keys, nil
}

// KeyByName returns a key of the organization.
func (s *Store) KeyByName(ctx context.Context, orgID int64, name string) (APIKey, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+keyColumns+`
		FROM api_keys k JOIN users u ON u.id = k.created_by
		WHERE k.org_id = $1 AND k.name = $2`, orgID, name)
	k, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[APIKey])
	if errors.Is(err, pgx.ErrNoRows) {
		return k, fault.New(fault.NotFound, "API key %q not found", name)
	}
	if err != nil {
		return k, translate(fmt.Errorf("find API key: %w", err))
	}
	return k, nil
}

func keyByID(ctx context.Context, q querier, orgID, keyID int64) (APIKey, error) {
	rows, _ := q.Query(ctx, `SELECT `+keyColumns+`
		FROM api_keys k JOIN users u ON u.id = k.created_by
		WHERE k.org_id = $1 AND k.id = $2`, orgID, keyID)
	k, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[APIKey])
	if errors.Is(err, pgx.ErrNoRows) {
		return k, fault.New(fault.NotFound, "API key %d not found", keyID)
	}
	if err != nil {
		return k, fmt.Errorf("read API key: %w", err)
	}
	return k, nil
}
