package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// Session is a login that still holds. Agent is the User-Agent that it came
// from.
type Session struct {
	ID        int64
	Hash      [32]byte
	Agent     string
	CreatedAt time.Time
	SeenAt    time.Time
	ExpiresAt time.Time
}

// Sessions lists the person's sessions, last used first, MaxSessions at most.
func (s *Store) Sessions(ctx context.Context, userID int64) ([]Session, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id, hash, agent, created_at, seen_at, expires_at FROM sessions
		WHERE user_id = $1 AND expires_at > now() AND seen_at > now() - interval '12 hours'
		ORDER BY seen_at DESC, id DESC LIMIT $2`, userID, MaxSessions)
	sessions, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Session, error) {
		var one Session
		hash := one.Hash[:]
		err := row.Scan(&one.ID, &hash, &one.Agent, &one.CreatedAt, &one.SeenAt, &one.ExpiresAt)
		copy(one.Hash[:], hash)
		return one, err
	})
	if err != nil {
		return nil, translate(fmt.Errorf("list sessions: %w", err))
	}
	return sessions, nil
}

// EndSession ends one of the person's sessions.
func (s *Store) EndSession(ctx context.Context, userID, sessionID int64) error {
	tag, err := s.pool.Exec(ctx, `DELETE FROM sessions WHERE user_id = $1 AND id = $2`, userID, sessionID)
	if err != nil {
		return translate(fmt.Errorf("end session: %w", err))
	}
	if tag.RowsAffected() == 0 {
		return fault.New(fault.NotFound, "session %d not found; it may be over already", sessionID)
	}
	return nil
}

// EndOtherSessions ends all of the person's sessions but the one of that hash,
// and returns how many.
func (s *Store) EndOtherSessions(ctx context.Context, userID int64, keep [32]byte) (int64, error) {
	n, err := endOtherSessions(ctx, s.pool, userID, keep)
	return n, translate(err)
}

func endOtherSessions(ctx context.Context, q querier, userID int64, keep [32]byte) (int64, error) {
	tag, err := q.Exec(ctx, `DELETE FROM sessions WHERE user_id = $1 AND hash <> $2`, userID, keep[:])
	if err != nil {
		return 0, fmt.Errorf("end other sessions: %w", err)
	}
	return tag.RowsAffected(), nil
}

// ChangePassword replaces the hash of the password that was just checked, and
// ends the sessions that the old one opened, but the one of that hash.
func (s *Store) ChangePassword(ctx context.Context, userID int64, old, renewed string, keep [32]byte) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2`, userID, old, renewed)
		if err != nil {
			return fmt.Errorf("change password: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return fault.New(fault.Conflict, "your password was changed a moment ago; log in with the new one")
		}
		if _, err := endOtherSessions(ctx, tx, userID, keep); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO audit_log (org_id, actor, action, object)
			SELECT org_id, user_id, 'user.password', $2 FROM org_members WHERE user_id = $1 AND removed_at IS NULL`,
			userID, object("user", userID))
		if err != nil {
			return fmt.Errorf("write audit rows: %w", err)
		}
		return nil
	})
}
