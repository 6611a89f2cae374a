package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// Limits of what the web app keeps for a person.
const (
	maxSettings     = 100
	maxSettingBytes = 16 << 10
)

// Settings returns what the web app keeps for the person.
func (s *Store) Settings(ctx context.Context, userID int64) (map[string]json.RawMessage, error) {
	rows, _ := s.pool.Query(ctx, `SELECT key, value FROM user_settings WHERE user_id = $1`, userID)
	settings := map[string]json.RawMessage{}
	var key string
	var value json.RawMessage
	_, err := pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		settings[key] = bytes.Clone(value)
		return nil
	})
	if err != nil {
		return nil, translate(fmt.Errorf("list settings: %w", err))
	}
	return settings, nil
}

// PutSetting sets one of the person's settings; null deletes it. The value is
// storable JSON.
func (s *Store) PutSetting(ctx context.Context, userID int64, key string, value json.RawMessage) error {
	if n := storedBytes(value); n > maxSettingBytes {
		return fault.New(fault.Validation, "the value has %d bytes, the exponents of its numbers written out; a setting takes at most %d", n, maxSettingBytes)
	}
	if value = bytes.TrimSpace(value); len(value) == 0 || string(value) == "null" {
		_, err := s.pool.Exec(ctx, `DELETE FROM user_settings WHERE user_id = $1 AND key = $2`, userID, key)
		return translate(err)
	}
	return s.inTx(ctx, func(tx pgx.Tx) error {
		// So that two at a time cannot pass the limit.
		if _, err := tx.Exec(ctx, `SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE`, userID); err != nil {
			return fmt.Errorf("lock user: %w", err)
		}
		var others int
		err := tx.QueryRow(ctx, `SELECT count(*) FROM user_settings WHERE user_id = $1 AND key <> $2`, userID, key).Scan(&others)
		if err != nil {
			return fmt.Errorf("count settings: %w", err)
		}
		if others >= maxSettings {
			return fault.New(fault.Conflict, "you have %d settings, which is the most; delete a saved view first", others)
		}
		_, err = tx.Exec(ctx, `INSERT INTO user_settings (user_id, key, value) VALUES ($1, $2, $3)
			ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value, updated_at = now()`, userID, key, value)
		if err != nil {
			return fmt.Errorf("store setting: %w", err)
		}
		return nil
	})
}
