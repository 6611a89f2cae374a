package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/apply"
)

// keys makes the API keys that are not there yet. One that is there, even
// revoked, is left as it is.
func (a *applying) keys(ctx context.Context, org apply.Organization) error {
	for _, k := range org.APIKeys {
		name := apply.Name(k.Name)
		value, err := a.key(ctx, name, k)
		if err != nil {
			return err
		}
		a.out.APIKeys = append(a.out.APIKeys, apply.KeyResult{Name: name, Value: value})
	}
	return nil
}

// key returns the value of a new key, "" when there is one of the name.
func (a *applying) key(ctx context.Context, name string, k apply.APIKey) (string, error) {
	var creator int64
	err := a.tx.QueryRow(ctx, `
		SELECT u.id FROM users u JOIN org_members m ON m.user_id = u.id
		WHERE m.org_id = $1 AND u.email = $2 AND m.removed_at IS NULL
		AND NOT EXISTS (SELECT FROM api_keys WHERE org_id = $1 AND name = $3)`,
		a.org, apply.Email(k.CreatedBy), name).Scan(&creator)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil // the check saw that the creator is a member
	}
	if err != nil {
		return "", fmt.Errorf("find creator of API key: %w", err)
	}
	value, err := apikey.Generate(a.options.Rand)
	if err != nil {
		return "", fmt.Errorf("make API key: %w", err)
	}
	_, err = createKey(ctx, a.tx, a.org, creator, name, apikey.Hash(value), apikey.Last4(value),
		apikey.ExpiresAt(k.Expires, a.now), 0)
	return value, err
}
