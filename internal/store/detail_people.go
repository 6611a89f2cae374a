package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Person is somebody of an organization as others see them.
type Person struct {
	ID    int64
	Name  string
	Email string
}

// PeopleByID names people who are or were members of the organization; other
// ids are left out.
func (s *Store) PeopleByID(ctx context.Context, orgID int64, ids []int64) ([]Person, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, _ := s.pool.Query(ctx, `SELECT u.id, u.name, u.email FROM users u
		JOIN org_members m ON m.user_id = u.id AND m.org_id = $1 WHERE u.id = ANY ($2) ORDER BY u.name, u.id`, orgID, ids)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Person])
	return out, translate(err)
}
