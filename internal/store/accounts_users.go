package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// User is a person. PasswordHash is filled for what opens a session only.
type User struct {
	ID           int64
	Email        string
	Name         string
	PasswordHash string
}

// UserByEmail returns the person behind an address, in whatever case it is
// written. One who belongs to no organization any more is not found.
func (s *Store) UserByEmail(ctx context.Context, email string) (User, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT id, email, name, password_hash FROM users
		WHERE email = $1
		AND EXISTS (SELECT FROM org_members m WHERE m.user_id = users.id AND m.removed_at IS NULL)`,
		normalEmail(email))
	u, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[User])
	if errors.Is(err, pgx.ErrNoRows) {
		return User{}, fault.New(fault.NotFound, "user not found")
	}
	if err != nil {
		return User{}, translate(fmt.Errorf("find user: %w", err))
	}
	return u, nil
}

// RenewPasswordHash replaces a hash by one of the same password with today's
// parameters, unless the password was changed meanwhile.
func (s *Store) RenewPasswordHash(ctx context.Context, userID int64, old, renewed string) error {
	_, err := s.pool.Exec(ctx, `UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2`,
		userID, old, renewed)
	if err != nil {
		return translate(fmt.Errorf("renew password hash: %w", err))
	}
	return nil
}

// OrgBySlug returns the id of an organization.
func (s *Store) OrgBySlug(ctx context.Context, slug string) (int64, error) {
	id, err := orgBySlug(ctx, s.pool, slug)
	return id, translate(err)
}

func orgBySlug(ctx context.Context, q querier, slug string) (id int64, err error) {
	err = q.QueryRow(ctx, `SELECT id FROM organizations WHERE slug = $1`, slug).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, fault.New(fault.NotFound, "organization %q not found", slug)
	}
	if err != nil {
		return 0, fmt.Errorf("find organization: %w", err)
	}
	return id, nil
}

// normalEmail is how addresses are stored and compared.
func normalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }
