package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/apply"
)

func (a *applying) users(ctx context.Context, org apply.Organization) error {
	for _, u := range org.Users {
		id, err := a.user(ctx, u)
		if err != nil {
			return err
		}
		if err := a.orgMember(ctx, id, u.Role); err != nil {
			return err
		}
	}
	return nil
}

// user adds the person or changes their name and password. A new password
// ends the sessions that the old one opened.
func (a *applying) user(ctx context.Context, u apply.User) (int64, error) {
	email, name := apply.Email(u.Email), apply.Name(u.Name)
	hash := a.hashes[email]
	var id int64
	var changed, created bool
	err := a.row(ctx, []any{&id, &changed, &created}, `
		WITH added AS (
			INSERT INTO users (email, name, password_hash)
			SELECT $1, coalesce(nullif($2, ''), split_part($1, '@', 1)), $3 WHERE $3 <> ''
			ON CONFLICT (email) DO NOTHING RETURNING id
		), updated AS (
			UPDATE users SET name = coalesce(nullif($2, ''), name), password_hash = coalesce(nullif($3, ''), password_hash)
			WHERE email = $1 AND ($2 NOT IN ('', name) OR $3 NOT IN ('', password_hash)) RETURNING id
		)
		SELECT id, true, true FROM added
		UNION ALL
		SELECT id, EXISTS (SELECT FROM updated), false FROM users WHERE email = $1`,
		email, name, hash)
	if err != nil {
		return 0, fmt.Errorf("apply user: %w", err)
	}
	if !changed {
		return id, nil
	}
	action := "user.update"
	if created {
		action = "user.create"
	} else if hash != "" {
		if _, err := a.tx.Exec(ctx, `DELETE FROM sessions WHERE user_id = $1`, id); err != nil {
			return 0, fmt.Errorf("end sessions: %w", err)
		}
	}
	return id, a.audit(ctx, action, object("user", id), map[string]any{"password_set": hash != ""})
}

// orgMember makes the person a member of the organization, again if they were
// removed. Without a role an existing member keeps theirs.
func (a *applying) orgMember(ctx context.Context, userID int64, role string) error {
	role, err := a.member(ctx, 0, userID, `
		INSERT INTO org_members AS m (org_id, user_id, role) VALUES ($1, $2, coalesce(nullif($3, ''), 'member'))
		ON CONFLICT (org_id, user_id) DO UPDATE
			SET role = coalesce(nullif($3, ''), CASE WHEN m.removed_at IS NULL THEN m.role ELSE 'member' END),
				removed_at = NULL
			WHERE m.removed_at IS NOT NULL OR $3 NOT IN ('', m.role)`, a.org, userID, role)
	if err != nil || role == "" {
		return err
	}
	return a.audit(ctx, "member.set", object("user", userID), map[string]any{"role": role})
}

func (a *applying) projects(ctx context.Context, org apply.Organization) error {
	for i, p := range org.Projects {
		id, err := a.project(ctx, p)
		if err != nil {
			return err
		}
		out := apply.ProjectResult{Name: apply.Name(p.Name), ID: id, Pipelines: []apply.PipelineResult{}}
		for _, m := range p.Members {
			if err := a.projectMember(ctx, id, m); err != nil {
				return err
			}
		}
		for j, l := range p.Pipelines {
			at := fmt.Sprintf("%s.projects[%d].pipelines[%d]", a.path, i, j)
			row, err := a.pipeline(ctx, at, id, l)
			if err != nil {
				return err
			}
			out.Pipelines = append(out.Pipelines, apply.PipelineResult{Name: row.Name, ID: row.ID, Status: row.Status})
		}
		a.out.Projects = append(a.out.Projects, out)
		a.out.Pipelines = append(a.out.Pipelines, out.Pipelines...)
	}
	return nil
}

// row reads the one row of a statement that adds something unless it is there. Where
// somebody else adds it meanwhile, the statement waits for them, adds nothing, and does
// not see theirs: it is as old as its snapshot. The next one sees it.
func (a *applying) row(ctx context.Context, into []any, sql string, args ...any) error {
	err := a.tx.QueryRow(ctx, sql, args...).Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		err = a.tx.QueryRow(ctx, sql, args...).Scan(into...)
	}
	return err
}

func (a *applying) project(ctx context.Context, p apply.Project) (int64, error) {
	var id int64
	var created bool
	err := a.row(ctx, []any{&id, &created}, `
		WITH added AS (
			INSERT INTO projects (org_id, name) VALUES ($1, $2) ON CONFLICT (org_id, name) DO NOTHING RETURNING id
		)
		SELECT id, true FROM added
		UNION ALL SELECT id, false FROM projects WHERE org_id = $1 AND name = $2`,
		a.org, apply.Name(p.Name))
	if err != nil {
		return 0, fmt.Errorf("apply project: %w", err)
	}
	if !created {
		return id, nil
	}
	return id, a.audit(ctx, "project.create", object("project", id), map[string]any{"name": apply.Name(p.Name)})
}

func (a *applying) projectMember(ctx context.Context, projectID int64, m apply.Member) error {
	var userID int64
	err := a.tx.QueryRow(ctx, `
		SELECT u.id FROM users u JOIN org_members m ON m.user_id = u.id
		WHERE m.org_id = $1 AND m.removed_at IS NULL AND u.email = $2`, a.org, apply.Email(m.Email)).Scan(&userID)
	if err != nil {
		return fmt.Errorf("find project member: %w", err)
	}
	role, err := a.member(ctx, projectID, userID, `
		INSERT INTO project_members AS m (org_id, project_id, user_id, role) VALUES ($1, $2, $3, $4)
		ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role WHERE m.role <> excluded.role`,
		a.org, projectID, userID, m.Role)
	if err != nil || role == "" {
		return err
	}
	return a.audit(ctx, "project.member", object("project", projectID),
		map[string]any{"user": userID, "role": role})
}

// member writes a person's row of members, of a project's or with 0 of the
// organization's, and returns the role that it now says, "" when nothing changed. It
// notes whose row was there, for who is new has nothing that their role could forbid, and
// ends invites that would change it again.
func (a *applying) member(ctx context.Context, projectID, userID int64, sql string, args ...any) (role string, err error) {
	var there bool // a row that was inserted has no transaction that ended it, or locked it
	err = a.tx.QueryRow(ctx, sql+` RETURNING m.xmax <> 0, m.role`, args...).Scan(&there, &role)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("apply member: %w", err)
	}
	if there {
		a.moved = append(a.moved, moved{a.org, userID})
	}
	switch {
	case projectID != 0:
		err = revokeInvitesTo(ctx, a.tx, a.org, projectID, userID, RoleProjectAdmin)
	case there:
		err = revokeInvitesTo(ctx, a.tx, a.org, 0, userID, "")
	}
	return role, err
}

// endForbidden gives back what those whose roles changed may not do any more. All of
// their standings change before any task is locked, in the order of their ids: in that
// order everybody locks them.
func (a *applying) endForbidden(ctx context.Context) error {
	slices.SortFunc(a.moved, func(x, y moved) int { return cmp.Or(cmp.Compare(x.user, y.user), cmp.Compare(x.org, y.org)) })
	a.moved = slices.Compact(a.moved)
	for _, m := range a.moved {
		if err := changeStanding(ctx, a.tx, m.user); err != nil {
			return err
		}
	}
	for _, m := range a.moved {
		if err := a.store.endForbidden(ctx, a.tx, m.org, m.user, "role changed"); err != nil {
			return err
		}
	}
	return nil
}
