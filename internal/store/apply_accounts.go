package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
)

// checkAccounts refuses a new password for somebody who is in an organization in which the
// document does not name them: one account opens all of theirs, so whoever writes a document
// for one would get at what they may do in another. An account that is in none is nobody's. Which
// passwords are new is known once they are compared, so this comes after the other checks.
func (a *applying) checkAccounts(ctx context.Context) error {
	rows, _ := a.tx.Query(ctx, `SELECT u.email, o.slug FROM users u
		JOIN org_members m ON m.user_id = u.id AND m.removed_at IS NULL JOIN organizations o ON o.id = m.org_id
		WHERE u.email = ANY ($1)`, keysOf(a.hashes))
	unnamed := map[string][]string{} // by email: the organizations in which they are not named
	var email, slug string
	_, err := pgx.ForEachRow(rows, []any{&email, &slug}, func() error {
		unnamed[email] = append(unnamed[email], slug)
		return nil
	})
	if err != nil {
		return fmt.Errorf("list organizations of accounts: %w", err)
	}
	for _, org := range a.doc.Organizations {
		for _, u := range org.Users {
			email := apply.Email(u.Email)
			unnamed[email] = slices.DeleteFunc(unnamed[email], func(slug string) bool { return slug == org.Slug })
		}
	}
	var problems []fault.Problem
	for i, org := range a.doc.Organizations {
		for j, u := range org.Users {
			if u.Password != "" && len(unnamed[apply.Email(u.Email)]) > 0 {
				problems = append(problems, fault.Problem{
					Path: fmt.Sprintf("organizations[%d].users[%d].password", i, j),
					Message: fmt.Sprintf("%q is in an organization that this document does not name them in, and logs in there with another password; "+
						"leave it out, and they keep theirs, or name them among the users of all their organizations", cut(u.Email)),
				})
			}
		}
	}
	return refuse(problems)
}
