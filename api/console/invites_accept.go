package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/password"
	"github.com/taskloom/taskloom/internal/store"
)

// Invitation is an invite as the invited person sees it.
type Invitation struct {
	Email         string              `json:"email"`
	Organization  string              `json:"organization"`
	Role          string              `json:"role" enum:"org_admin,member" doc:"In the organization."`
	Projects      []InvitationProject `json:"projects"`
	InvitedBy     string              `json:"invited_by" doc:"Their name."`
	ExpiresAt     time.Time           `json:"expires_at"`
	AccountExists bool                `json:"account_exists" doc:"The address has an account: accepting takes its password. Otherwise it takes a name and a new password."`
}

// InvitationProject names a project and what the invited person is to be there.
type InvitationProject struct {
	Name string `json:"name"`
	Role string `json:"role" enum:"project_admin,contributor,reviewer"`
}

type lookupInviteInput struct {
	Request
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"100" doc:"What follows # in the link."`
	} `nameHint:"LookupInviteRequest"`
}

type invitationOutput struct{ Body Invitation }

type acceptInviteInput struct {
	Request
	Body struct {
		Token    string `json:"token" minLength:"1" maxLength:"100" doc:"What follows # in the link."`
		Name     string `json:"name,omitempty" maxLength:"200" doc:"For a new account only."`
		Password string `json:"password" minLength:"1" maxLength:"1000" doc:"Of the account; for a new one at least 12 characters."`
	} `nameHint:"AcceptInviteRequest"`
}

func (a *api) registerAcceptance(tags []string) {
	register(a, huma.Operation{
		OperationID: "lookupInvite", MaxBodyBytes: loginBody, Method: http.MethodPost, Path: "/invites/lookup", Tags: tags,
		Summary: "Look at an invite", Description: "404 when there is none with this token, 409 when it is over.",
	}, a.lookupInvite, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests)
	register(a, huma.Operation{
		OperationID: "acceptInvite", MaxBodyBytes: loginBody, Method: http.MethodPost, Path: "/invites/accept", Tags: tags,
		Summary: "Accept an invite",
		Description: "Answers with the session cookie, like a login. 404 when there is no invite with this token, 409 when it " +
			"is over, 422 naming `name` or `password`.",
	}, a.acceptInvite, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests)
}

func (a *api) lookupInvite(ctx context.Context, in *lookupInviteInput) (*invitationOutput, error) {
	i, err := a.invitation(ctx, in.r, in.Body.Token)
	if err != nil {
		return nil, err
	}
	out := &invitationOutput{Body: Invitation{
		Email: i.Email, Organization: i.OrgName, Role: i.Role, Projects: make([]InvitationProject, len(i.Projects)),
		InvitedBy: i.InvitedBy.Name, ExpiresAt: i.ExpiresAt.UTC(), AccountExists: i.UserID != 0,
	}}
	for n, p := range i.Projects {
		out.Body.Projects[n] = InvitationProject{Name: p.Name, Role: string(p.Role)}
	}
	return out, nil
}

// invitation finds the open invite behind a token. Tokens that are none count
// as failed logins of their address.
func (a *api) invitation(ctx context.Context, r *http.Request, token string) (store.Invitation, error) {
	attempt := newAttempt("invite "+token, a.Proxies.Client(r))
	if err := a.throttle.allow(ctx, attempt); err != nil {
		return store.Invitation{}, err
	}
	i, err := a.Store.InviteByToken(ctx, hashToken(token))
	if !fault.Is(err, fault.NotFound) {
		a.throttle.succeeded(ctx, attempt)
	}
	return i, err
}

// acceptInvite lets the invited person in, under their account or a new one,
// and starts a session as a login does.
func (a *api) acceptInvite(ctx context.Context, in *acceptInviteInput) (*loginOutput, error) {
	i, err := a.invitation(ctx, in.r, in.Body.Token)
	if err != nil {
		return nil, err
	}
	who := store.Invitee{UserID: i.UserID, PasswordHash: i.PasswordHash}
	if i.UserID == 0 {
		who, err = newcomer(ctx, in.Body.Name, in.Body.Password)
	} else {
		err = a.checkInvitee(ctx, in, i)
	}
	if err != nil {
		return nil, err
	}
	user, err := a.Store.AcceptInvite(ctx, hashToken(in.Body.Token), who)
	if err != nil {
		return nil, err
	}
	user.PasswordHash = who.PasswordHash
	out, err := a.open(ctx, in.r, user)
	if errors.Is(err, store.ErrWrongPassword) {
		// The invite is used up, so this is no failed login.
		err = fault.New(fault.Conflict, "the invite is accepted, but your account was changed a moment ago; log in")
	}
	return out, err
}

func newcomer(ctx context.Context, name, plain string) (store.Invitee, error) {
	name, problem := store.PersonName(name)
	if problem != "" {
		return store.Invitee{}, wrongInBody("name", problem)
	}
	hash, err := newPassword(ctx, plain)
	return store.Invitee{Name: name, PasswordHash: hash}, err
}

// checkInvitee asks for the password of the account: who found a link in
// somebody's mail is not yet that somebody.
func (a *api) checkInvitee(ctx context.Context, in *acceptInviteInput, i store.Invitation) error {
	attempt := newAttempt(i.Email, a.Proxies.Client(in.r))
	if err := a.throttle.allow(ctx, attempt); err != nil {
		return err
	}
	ok, _, err := password.Check(ctx, in.Body.Password, i.PasswordHash)
	if err != nil {
		a.throttle.undecided(ctx, attempt)
		return err
	}
	if !ok {
		return wrongInBody("password", "this is not the password of your account")
	}
	a.throttle.succeeded(ctx, attempt)
	return nil
}
