package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
)

// InviteTTL is how long an invite can be accepted.
const InviteTTL = 72 * time.Hour

// maxOpenInvites bounds the open invites of an organization.
const maxOpenInvites = 1000

// NewInvite is an invite to be made. Hash is that of its token; OfProject says
// that it is one of by's project, not of the whole organization.
type NewInvite struct {
	Email     string
	Role      string
	Projects  []ProjectGrant
	OfProject bool
	Hash      [32]byte
}

// CreateInvite makes an invite to by's organization, or to by's project. It
// takes the place of an open one to the same address.
func (s *Store) CreateInvite(ctx context.Context, by Member, in NewInvite) (Invite, error) {
	in.Email = apply.Email(in.Email)
	if !apply.ValidEmail(in.Email) || !storable(in.Email) {
		return Invite{}, fault.New(fault.Validation, "this is no email address").
			With([]fault.Problem{{Path: "email", Message: "this is no email address"}})
	}
	var made Invite
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrg(ctx, tx, by.OrgID); err != nil {
			return err
		}
		if err := mayInvite(ctx, tx, by, in.OfProject); err != nil {
			return err
		}
		if err := refuseMember(ctx, tx, by, in); err != nil {
			return err
		}
		if err := replaceInvites(ctx, tx, by, in); err != nil {
			return err
		}
		var err error
		made, err = insertInvite(ctx, tx, by, in)
		return err
	})
	return made, err
}

// mayInvite checks under the lock that the actor may still grant what an invite
// does, or take it back.
func mayInvite(ctx context.Context, tx pgx.Tx, by Member, ofProject bool) error {
	m, err := memberIn(ctx, tx, by.OrgID, by.ProjectID, by.UserID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if m.OrgAdmin || ofProject && m.Admin() {
		return nil
	}
	return fault.New(fault.Forbidden, "you may not invite anybody here any more")
}

// refuseMember refuses an invite for somebody who is in already.
func refuseMember(ctx context.Context, tx pgx.Tx, by Member, in NewInvite) error {
	var role Role
	var admin bool
	err := tx.QueryRow(ctx, `
		SELECT coalesce(pm.role, ''), om.role = 'org_admin' FROM users u
		JOIN org_members om ON om.org_id = $1 AND om.user_id = u.id AND om.removed_at IS NULL
		LEFT JOIN project_members pm ON pm.org_id = om.org_id AND pm.user_id = om.user_id AND pm.project_id = $2
		WHERE u.email = $3`, by.OrgID, by.ProjectID, in.Email).Scan(&role, &admin)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("look for the member: %w", err)
	case !in.OfProject:
		return fault.New(fault.Conflict, "%s is a member of this organization already; change their roles instead", in.Email)
	case admin:
		return fault.New(fault.Conflict, "%s is org admin, and so admin of this project already", in.Email)
	case role != "":
		return fault.New(fault.Conflict, "%s is in this project already; change their role instead", in.Email)
	default:
		return fault.New(fault.Conflict, "%s is a member of this organization already; add them to the project, it takes no invite", in.Email)
	}
}

// replaceInvites ends open invites of the same kind to the same address, and
// bounds how many there are.
func replaceInvites(ctx context.Context, tx pgx.Tx, by Member, in NewInvite) error {
	_, err := tx.Exec(ctx, `UPDATE invites i SET revoked_at = now()
		WHERE i.org_id = $1 AND i.email = $2 AND i.project_id IS NOT DISTINCT FROM $3 AND `+openSQL,
		by.OrgID, in.Email, in.project(by))
	if err != nil {
		return fmt.Errorf("replace invites: %w", err)
	}
	var open int
	err = tx.QueryRow(ctx, `SELECT count(*) FROM invites i WHERE i.org_id = $1 AND `+openSQL, by.OrgID).Scan(&open)
	if err != nil {
		return fmt.Errorf("count open invites: %w", err)
	}
	if open >= maxOpenInvites {
		return fault.New(fault.Conflict, "this organization has %d open invites; revoke some or wait until they are accepted", open)
	}
	return nil
}

// project is whose admins the invite belongs to, nil for the organization's.
func (in NewInvite) project(by Member) *int64 {
	if !in.OfProject {
		return nil
	}
	return &by.ProjectID
}

func insertInvite(ctx context.Context, tx pgx.Tx, by Member, in NewInvite) (Invite, error) {
	made := Invite{OrgID: by.OrgID, ProjectID: in.project(by), Email: in.Email, Role: in.Role, Projects: in.Projects, Status: InviteOpen}
	err := tx.QueryRow(ctx, `
		INSERT INTO invites (org_id, project_id, email, hash, role, invited_by, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7)) RETURNING id, created_at, expires_at`,
		by.OrgID, made.ProjectID, in.Email, in.Hash[:], in.Role, by.UserID, InviteTTL.Seconds(),
	).Scan(&made.ID, &made.CreatedAt, &made.ExpiresAt)
	if err != nil {
		return Invite{}, fmt.Errorf("insert invite: %w", err)
	}
	grants := map[int64]Role{}
	for n, g := range in.Projects {
		path := fmt.Sprintf("projects[%d].project_id", n)
		if _, twice := grants[g.ProjectID]; twice {
			return Invite{}, inviteProblem(path, "project %d is named twice", g.ProjectID)
		}
		grants[g.ProjectID] = g.Role
		tag, err := tx.Exec(ctx, `INSERT INTO invite_projects (org_id, invite_id, project_id, role)
			SELECT p.org_id, $2, p.id, $4 FROM projects p WHERE p.org_id = $1 AND p.id = $3`, by.OrgID, made.ID, g.ProjectID, g.Role)
		if err != nil {
			return Invite{}, fmt.Errorf("insert project of invite: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return Invite{}, inviteProblem(path, "project %d is not in this organization", g.ProjectID)
		}
	}
	return made, audit(ctx, tx, by.OrgID, &by.UserID, "invite.create", object("invite", made.ID),
		map[string]any{"role": in.Role, "projects": grants})
}

func inviteProblem(path, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return fault.New(fault.Validation, "%s", message).With([]fault.Problem{{Path: path, Message: message}})
}
