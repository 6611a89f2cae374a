package console

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/store"
)

// inviteTokenBytes is the randomness of an invite's link.
const inviteTokenBytes = 16

// Invite lets one person in, once.
type Invite struct {
	ID        int64           `json:"id"`
	Email     string          `json:"email" doc:"Whose account it lets in. Where the address has none, whoever has the link makes it."`
	Role      string          `json:"role" enum:"org_admin,member" doc:"In the organization."`
	Projects  []RoleInProject `json:"projects"`
	InvitedBy Person          `json:"invited_by" doc:"It works only while they may grant what it grants."`
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt time.Time       `json:"expires_at"`
	Status    string          `json:"status" enum:"open,accepted,expired,revoked"`
}

func newInvite(i store.Invite) Invite {
	return Invite{
		ID: i.ID, Email: i.Email, Role: i.Role, Projects: newRolesInProjects(i.Projects), InvitedBy: newPerson(i.InvitedBy),
		CreatedAt: i.CreatedAt.UTC(), ExpiresAt: i.ExpiresAt.UTC(), Status: i.Status,
	}
}

// NewInvite is an invite at its creation, the only time that its link is shown.
type NewInvite struct {
	ID        int64     `json:"id"`
	Email     string    `json:"email"`
	URL       string    `json:"url" doc:"Send it to the person, and to nobody else: it cannot be shown again."`
	ExpiresAt time.Time `json:"expires_at"`
}

// Grant is a role in a project that an invite brings with it.
type Grant struct {
	ProjectID int64  `json:"project_id" minimum:"1"`
	Role      string `json:"role" enum:"project_admin,contributor,reviewer"`
}

type createInviteInput struct {
	InOrg
	Body struct {
		Email    string  `json:"email" minLength:"3" maxLength:"254"`
		Role     string  `json:"role" enum:"org_admin,member" doc:"In the organization."`
		Projects []Grant `json:"projects,omitempty" maxItems:"200" nullable:"false"`
	} `nameHint:"CreateInviteRequest"`
}

type createProjectInviteInput struct {
	InProject
	Body struct {
		Email string `json:"email" minLength:"3" maxLength:"254"`
		Role  string `json:"role" enum:"project_admin,contributor,reviewer" doc:"In the project."`
	} `nameHint:"CreateProjectInviteRequest"`
}

type onInvite struct {
	InOrg
	InviteID int64 `path:"invite_id" minimum:"1"`
}

type onProjectInvite struct {
	InProject
	InviteID int64 `path:"invite_id" minimum:"1"`
}

type newInviteOutput struct{ Body NewInvite }

type invitesOutput struct {
	Body struct {
		Invites []Invite `json:"invites" doc:"Open ones first, then the newest; at most 500."`
	} `nameHint:"InviteList"`
}

func (a *api) registerInvites() {
	tags := []string{"Invites"}
	const about = "The link works once, for 72 hours, and replaces an earlier open one to the same address. " +
		"409 when the person is in already."
	register(a, huma.Operation{
		OperationID: "createInvite", Method: http.MethodPost, Path: "/orgs/{org_id}/invites", Tags: tags,
		Summary: "Invite somebody to the organization", Description: about, DefaultStatus: http.StatusCreated,
	}, a.createInvite, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "createProjectInvite", Method: http.MethodPost, Path: "/projects/{project_id}/invites", Tags: tags,
		Summary: "Invite somebody to the project", Description: about, DefaultStatus: http.StatusCreated,
	}, a.createProjectInvite, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "listInvites", Method: http.MethodGet, Path: "/orgs/{org_id}/invites", Tags: tags,
		Summary: "List the invites of an organization", Description: "Those of its project admins are among them.",
	}, a.listInvites)
	register(a, huma.Operation{
		OperationID: "listProjectInvites", Method: http.MethodGet, Path: "/projects/{project_id}/invites", Tags: tags,
		Summary: "List the invites of a project",
	}, a.listProjectInvites)
	register(a, huma.Operation{
		OperationID: "revokeInvite", Method: http.MethodDelete, Path: "/orgs/{org_id}/invites/{invite_id}", Tags: tags,
		Summary: "Revoke an invite", Description: "Its link stops working at once. 409 when it was accepted.",
	}, a.revokeInvite, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "revokeProjectInvite", Method: http.MethodDelete, Path: "/projects/{project_id}/invites/{invite_id}", Tags: tags,
		Summary: "Revoke an invite of the project", Description: "Its link stops working at once. 409 when it was accepted.",
	}, a.revokeProjectInvite, http.StatusConflict)
	a.registerAcceptance(tags)
}

func (a *api) createInvite(ctx context.Context, in *createInviteInput) (*newInviteOutput, error) {
	invite := store.NewInvite{Email: in.Body.Email, Role: in.Body.Role}
	for _, g := range in.Body.Projects {
		invite.Projects = append(invite.Projects, store.ProjectGrant{ProjectID: g.ProjectID, Role: store.Role(g.Role)})
	}
	return a.invite(ctx, invite)
}

func (a *api) createProjectInvite(ctx context.Context, in *createProjectInviteInput) (*newInviteOutput, error) {
	return a.invite(ctx, store.NewInvite{
		Email: in.Body.Email, Role: store.OrgRoleMember, OfProject: true,
		Projects: []store.ProjectGrant{{ProjectID: in.ProjectID, Role: store.Role(in.Body.Role)}},
	})
}

// invite makes the link under the configured address, whatever host the
// request named. The token stands in the fragment, which browsers keep to
// themselves: no proxy logs it, no referrer carries it on.
func (a *api) invite(ctx context.Context, in store.NewInvite) (*newInviteOutput, error) {
	token, err := newInviteToken(a.Rand)
	if err != nil {
		return nil, err
	}
	in.Hash = hashToken(token)
	made, err := a.Store.CreateInvite(ctx, membership(ctx), in)
	if err != nil {
		return nil, err
	}
	return &newInviteOutput{Body: NewInvite{
		ID: made.ID, Email: made.Email, URL: a.PublicURL + "/invite#" + token, ExpiresAt: made.ExpiresAt.UTC(),
	}}, nil
}

func newInviteToken(rand io.Reader) (string, error) {
	var b [inviteTokenBytes]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", fmt.Errorf("make invite token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

func (a *api) listInvites(ctx context.Context, in *InOrg) (*invitesOutput, error) {
	return a.invites(ctx, in.OrgID, 0)
}

func (a *api) listProjectInvites(ctx context.Context, in *InProject) (*invitesOutput, error) {
	return a.invites(ctx, membership(ctx).OrgID, in.ProjectID)
}

func (a *api) invites(ctx context.Context, orgID, projectID int64) (*invitesOutput, error) {
	invites, err := a.Store.Invites(ctx, orgID, projectID)
	if err != nil {
		return nil, err
	}
	out := &invitesOutput{}
	out.Body.Invites = make([]Invite, len(invites))
	for i, invite := range invites {
		out.Body.Invites[i] = newInvite(invite)
	}
	return out, nil
}

func (a *api) revokeInvite(ctx context.Context, in *onInvite) (*struct{}, error) {
	return nil, a.Store.RevokeInvite(ctx, membership(ctx), in.InviteID)
}

func (a *api) revokeProjectInvite(ctx context.Context, in *onProjectInvite) (*struct{}, error) {
	return nil, a.Store.RevokeInvite(ctx, membership(ctx), in.InviteID)
}
