package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// maxName bounds the names of projects and people, in characters.
const maxName = 200

// CreateProject adds a project to by's organization. An org admin is its admin
// already; another creator becomes it.
func (s *Store) CreateProject(ctx context.Context, by Member, name string) (MyProject, error) {
	name, err := projectName(name)
	if err != nil {
		return MyProject{}, err
	}
	var id int64
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrg(ctx, tx, by.OrgID); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `INSERT INTO projects (org_id, name)
			SELECT om.org_id, $3 FROM org_members om
			WHERE om.org_id = $1 AND om.user_id = $2 AND om.removed_at IS NULL
				AND (om.role = 'org_admin' OR EXISTS (SELECT FROM project_members pm
					WHERE pm.org_id = om.org_id AND pm.user_id = om.user_id AND pm.role = 'project_admin'))
			RETURNING id`, by.OrgID, by.UserID, name).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.Forbidden, "you are no admin in this organization any more")
		}
		if err != nil {
			return takenProject(err, name)
		}
		role, err := orgRole(ctx, tx, by.OrgID, by.UserID)
		if err != nil {
			return err
		}
		if role != OrgRoleAdmin {
			if _, err := setProjectRole(ctx, tx, by.OrgID, id, by.UserID, RoleProjectAdmin); err != nil {
				return err
			}
		}
		return audit(ctx, tx, by.OrgID, &by.UserID, "project.create", object("project", id), map[string]any{"name": name})
	})
	return MyProject{ID: id, Name: name, Role: RoleProjectAdmin}, err
}

// RenameProject gives by's project another name.
func (s *Store) RenameProject(ctx context.Context, by Member, name string) (MyProject, error) {
	name, err := projectName(name)
	if err != nil {
		return MyProject{}, err
	}
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		if err := stillProjectAdmin(ctx, tx, by.UserID, by.ProjectID); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE projects SET name = $3 WHERE org_id = $1 AND id = $2 AND name <> $3`,
			by.OrgID, by.ProjectID, name)
		if err != nil {
			return takenProject(err, name)
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
		return audit(ctx, tx, by.OrgID, &by.UserID, "project.rename", object("project", by.ProjectID), map[string]any{"name": name})
	})
	if err != nil {
		return MyProject{}, err
	}
	me, err := s.Me(ctx, by.UserID)
	if err != nil {
		return MyProject{}, err
	}
	for _, o := range me.Orgs {
		for _, p := range o.Projects {
			if p.ID == by.ProjectID {
				return p, nil
			}
		}
	}
	return MyProject{}, fault.New(fault.NotFound, "project %d not found", by.ProjectID)
}

func takenProject(err error, name string) error {
	if violates(err, "projects_org_id_name_key") {
		return fault.New(fault.Conflict, "there is a project named %q already; choose another name", name)
	}
	return fmt.Errorf("write project: %w", err)
}

func projectName(name string) (string, error) {
	name, problem := properName(name)
	if problem != "" {
		return "", fault.New(fault.Validation, "name: %s", problem).With([]fault.Problem{{Path: "name", Message: problem}})
	}
	return name, nil
}

// PersonName returns how a person's name is stored, or what is wrong with it.
func PersonName(name string) (stored, problem string) { return properName(name) }

func properName(name string) (stored, problem string) {
	name = strings.TrimSpace(name)
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return "", "a name is needed"
	case n > maxName:
		return "", fmt.Sprintf("a name has at most %d characters, this one has %d", maxName, n)
	case !storable(name) || strings.ContainsAny(name, "\r\n"):
		return "", "a name must be one line of readable text"
	}
	return name, ""
}
