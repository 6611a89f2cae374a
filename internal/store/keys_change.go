package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// maxKeyName bounds the name of a key, in characters.
const maxKeyName = 100

// stillKeyAdmin keeps the actor's role as it is up to the end of the transaction, and
// refuses who was demoted since their request was let in: a key would outlive their role.
// The command line, which is 0, may always.
func stillKeyAdmin(ctx context.Context, tx pgx.Tx, orgID, actor int64) error {
	if actor == 0 {
		return nil
	}
	return lockAsOrgAdmin(ctx, tx, orgID, actor)
}

// CreateKey adds a key to the organization. The actor is its admin, or 0 for the
// command line; createdBy, whose identity the key will carry, is a member.
func (s *Store) CreateKey(
	ctx context.Context, orgID, createdBy int64, name string, hash [32]byte, last4 string,
	expiresAt *time.Time, actor int64,
) (APIKey, error) {
	name, err := keyName(name)
	if err != nil {
		return APIKey{}, err
	}
	var key APIKey
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		if err := stillKeyAdmin(ctx, tx, orgID, actor); err != nil {
			return err
		}
		var err error
		key, err = createKey(ctx, tx, orgID, createdBy, name, hash, last4, expiresAt, actor)
		return err
	})
	return key, err
}

func createKey(
	ctx context.Context, tx pgx.Tx, orgID, createdBy int64, name string, hash [32]byte, last4 string,
	expiresAt *time.Time, actor int64,
) (APIKey, error) {
	var id int64
	// ON CONFLICT waits for a rival that is about to commit the same name.
	err := tx.QueryRow(ctx, `
		INSERT INTO api_keys (org_id, name, hash, last4, created_by, expires_at)
		SELECT m.org_id, $3, $4, $5, m.user_id, $6 FROM org_members m
		WHERE m.org_id = $1 AND m.user_id = $2 AND m.removed_at IS NULL
		ON CONFLICT (org_id, name) DO NOTHING
		RETURNING id`, orgID, createdBy, name, hash[:], last4, expiresAt).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return APIKey{}, whyNoKey(ctx, tx, orgID, name)
	}
	if err != nil {
		return APIKey{}, fmt.Errorf("insert API key: %w", err)
	}
	detail := map[string]any{"name": name, "expires_at": expiresAt}
	if err := audit(ctx, tx, orgID, person(actor), "key.create", object("key", id), detail); err != nil {
		return APIKey{}, err
	}
	return keyByID(ctx, tx, orgID, id)
}

func whyNoKey(ctx context.Context, q querier, orgID int64, name string) error {
	var taken bool
	err := q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM api_keys WHERE org_id = $1 AND name = $2)`,
		orgID, name).Scan(&taken)
	if err != nil {
		return fmt.Errorf("find API key: %w", err)
	}
	if taken {
		return fault.New(fault.Conflict,
			"there is an API key named %q already; choose another name (a revoked key keeps its name)", name)
	}
	return fault.New(fault.Validation,
		"whose identity the key is to carry is no member of the organization")
}

// SetKeyExpiry sets the end of a key's life; nil means never.
func (s *Store) SetKeyExpiry(
	ctx context.Context, orgID, keyID int64, expiresAt *time.Time, actor int64,
) (APIKey, error) {
	var key APIKey
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		if err := stillKeyAdmin(ctx, tx, orgID, actor); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE api_keys SET expires_at = $3
			WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL`, orgID, keyID, expiresAt)
		if err != nil {
			return fmt.Errorf("update API key expiry: %w", err)
		}
		if key, err = keyByID(ctx, tx, orgID, keyID); err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return fault.New(fault.InvalidRequest,
				"API key %q was revoked, so its expiry cannot be changed; create another key", key.Name)
		}
		if err := changeKeyStanding(ctx, tx, keyID); err != nil {
			return err
		}
		return audit(ctx, tx, orgID, person(actor), "key.expire", object("key", keyID),
			map[string]any{"name": key.Name, "expires_at": expiresAt})
	})
	if err != nil {
		return APIKey{}, err
	}
	return key, nil
}

// RevokeKey ends a key for good, at once: requests with it that are about to create
// something have done so when it returns, or are refused. Revoking it again has no
// effect.
func (s *Store) RevokeKey(ctx context.Context, orgID, keyID, actor int64) (APIKey, error) {
	var key APIKey
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		if err := stillKeyAdmin(ctx, tx, orgID, actor); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE api_keys SET revoked_at = now()
			WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL`, orgID, keyID)
		if err != nil {
			return fmt.Errorf("revoke API key: %w", err)
		}
		if key, err = keyByID(ctx, tx, orgID, keyID); err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if err := changeKeyStanding(ctx, tx, keyID); err != nil {
			return err
		}
		return audit(ctx, tx, orgID, person(actor), "key.revoke", object("key", keyID),
			map[string]any{"name": key.Name})
	})
	if err != nil {
		return APIKey{}, err
	}
	return key, nil
}

func keyName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return "", fault.New(fault.Validation, "an API key needs a name; it tells the integration that uses it")
	case n > maxKeyName:
		return "", fault.New(fault.Validation, "the name of an API key has at most %d characters, this one has %d",
			maxKeyName, n)
	case !storable(name):
		return "", fault.New(fault.Validation, "the name of an API key must be readable text")
	}
	return name, nil
}
