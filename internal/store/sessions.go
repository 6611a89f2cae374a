package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// ErrWrongPassword is the error of a login, whatever is wrong with it.
var ErrWrongPassword = fault.New(fault.Unauthorized, "email or password is wrong")

// CreateSession opens a session for the user, known by the hash of its
// cookie's value, that ends after ttl at the latest. The agent is what its owner
// will tell it by. Sessions that are over are swept out on the way.
//
// The user's PasswordHash is the one that was checked. Where it is another one by
// now, the answer is ErrWrongPassword: whoever changed the password has ended the
// sessions that the old one opened, and none may come after that. A change that is
// on its way is waited for; one that comes later waits, and ends this session.
func (s *Store) CreateSession(ctx context.Context, user User, hash [32]byte, agent string, ttl time.Duration) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO sessions (hash, user_id, agent, expires_at)
			SELECT $1, u.id, $3, now() + make_interval(secs => $4) FROM users u
			WHERE u.id = $2 AND u.password_hash = $5 FOR SHARE`, hash[:], user.ID, agent, ttl.Seconds(), user.PasswordHash)
		if err != nil {
			return fmt.Errorf("insert session: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrWrongPassword
		}
		// After the user, as what changes a password locks them in this order.
		if _, err := tx.Exec(ctx, `DELETE FROM sessions WHERE expires_at <= now()`); err != nil {
			return fmt.Errorf("sweep sessions: %w", err)
		}
		return nil
	})
}

// SessionUser returns whose session it is. A session that is over, idle for 12
// hours, or of a person who belongs to no organization any more is
// fault.Unauthorized.
func (s *Store) SessionUser(ctx context.Context, hash [32]byte) (User, error) {
	var u User
	var stale bool
	err := s.pool.QueryRow(ctx, `
		SELECT u.id, u.email, u.name, s.seen_at <= now() - interval '1 minute'
		FROM sessions s JOIN users u ON u.id = s.user_id
		WHERE s.hash = $1 AND s.expires_at > now() AND s.seen_at > now() - interval '12 hours'
		AND EXISTS (SELECT FROM org_members m WHERE m.user_id = u.id AND m.removed_at IS NULL)`,
		hash[:]).Scan(&u.ID, &u.Email, &u.Name, &stale)
	if errors.Is(err, pgx.ErrNoRows) {
		return User{}, fault.New(fault.Unauthorized, "your session is over; log in again")
	}
	if err != nil {
		return User{}, translate(fmt.Errorf("find session: %w", err))
	}
	if stale {
		s.touch(ctx, `UPDATE sessions SET seen_at = now()
			WHERE hash = (SELECT hash FROM sessions WHERE hash = $1
				AND seen_at <= now() - interval '1 minute' FOR UPDATE SKIP LOCKED)`, hash[:])
	}
	return u, nil
}

// DeleteSession ends a session; ending one that is over has no effect.
func (s *Store) DeleteSession(ctx context.Context, hash [32]byte) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM sessions WHERE hash = $1`, hash[:]); err != nil {
		return translate(fmt.Errorf("delete session: %w", err))
	}
	return nil
}
