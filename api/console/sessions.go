package console

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/password"
)

// Session is one login of the caller.
type Session struct {
	ID        int64     `json:"id"`
	Agent     string    `json:"agent" doc:"User-Agent of the login, cut to 300 characters; empty when it sent none."`
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at" doc:"Last use, to the minute. After 12 hours without one it is over."`
	ExpiresAt time.Time `json:"expires_at" doc:"Over by then, however busy."`
	Current   bool      `json:"current" doc:"This request's own."`
}

type sessionsOutput struct {
	Body struct {
		Sessions []Session `json:"sessions" doc:"Last used first."`
	} `nameHint:"SessionList"`
}

type endSessionInput struct {
	SessionID int64 `path:"session_id" minimum:"1"`
}

type endedOutput struct {
	Body struct {
		Ended int64 `json:"ended" doc:"How many there were."`
	} `nameHint:"EndedSessions"`
}

type changePasswordInput struct {
	Request
	Body struct {
		Current  string `json:"current" minLength:"1" maxLength:"1000"`
		Password string `json:"password" minLength:"1" maxLength:"1000" doc:"The new one: at least 12 characters."`
	} `nameHint:"ChangePasswordRequest"`
}

func (a *api) registerSessions() {
	tags := []string{"Session"}
	register(a, huma.Operation{
		OperationID: "listSessions", Method: http.MethodGet, Path: "/sessions", Tags: tags, Summary: "List my sessions",
	}, a.listSessions)
	register(a, huma.Operation{
		OperationID: "endSession", Method: http.MethodDelete, Path: "/sessions/{session_id}", Tags: tags,
		Summary: "End one of my sessions",
	}, a.endSession, http.StatusNotFound)
	register(a, huma.Operation{
		OperationID: "endOtherSessions", Method: http.MethodPost, Path: "/sessions/end-others", Tags: tags,
		Summary: "End all my sessions but this one",
	}, a.endOtherSessions)
	register(a, huma.Operation{
		OperationID: "changePassword", MaxBodyBytes: loginBody, Method: http.MethodPost, Path: "/me/password", Tags: tags,
		Summary: "Change my password", Description: "Ends all other sessions. 422 names `current` when that is wrong.",
	}, a.changePassword, http.StatusConflict, http.StatusTooManyRequests)
}

func (a *api) listSessions(ctx context.Context, in *struct{ Request }) (*sessionsOutput, error) {
	sessions, err := a.Store.Sessions(ctx, caller(ctx).ID)
	if err != nil {
		return nil, err
	}
	current := hashToken(a.cookie.token(in.r))
	out := &sessionsOutput{}
	out.Body.Sessions = make([]Session, len(sessions))
	for i, s := range sessions {
		out.Body.Sessions[i] = Session{
			ID: s.ID, Agent: s.Agent, CreatedAt: s.CreatedAt.UTC(), SeenAt: s.SeenAt.UTC(), ExpiresAt: s.ExpiresAt.UTC(),
			Current: s.Hash == current,
		}
	}
	return out, nil
}

func (a *api) endSession(ctx context.Context, in *endSessionInput) (*struct{}, error) {
	return nil, a.Store.EndSession(ctx, caller(ctx).ID, in.SessionID)
}

func (a *api) endOtherSessions(ctx context.Context, in *struct{ Request }) (*endedOutput, error) {
	n, err := a.Store.EndOtherSessions(ctx, caller(ctx).ID, hashToken(a.cookie.token(in.r)))
	out := &endedOutput{}
	out.Body.Ended = n
	return out, err
}

// changePassword counts wrong tries like failed logins, for a stolen session
// must not become a place to guess at.
func (a *api) changePassword(ctx context.Context, in *changePasswordInput) (*struct{}, error) {
	attempt := newAttempt(caller(ctx).Email, a.Proxies.Client(in.r))
	if err := a.throttle.allow(ctx, attempt); err != nil {
		return nil, err
	}
	user, err := a.Store.UserByEmail(ctx, caller(ctx).Email)
	if err != nil {
		a.throttle.undecided(ctx, attempt)
		return nil, err
	}
	edge.From(ctx).Leave() // passwords have a line of their own
	ok, _, err := password.Check(ctx, in.Body.Current, user.PasswordHash)
	if err != nil {
		a.throttle.undecided(ctx, attempt)
		return nil, err
	}
	if !ok {
		return nil, wrongInBody("current", "this is not your password")
	}
	a.throttle.succeeded(ctx, attempt)
	renewed, err := newPassword(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	return nil, a.Store.ChangePassword(ctx, user.ID, user.PasswordHash, renewed, hashToken(a.cookie.token(in.r)))
}

// newPassword hashes a password that somebody chose, if it fits the policy.
func newPassword(ctx context.Context, plain string) (string, error) {
	if p := password.Problem(plain); p != "" {
		return "", wrongInBody("password", p)
	}
	return password.Hash(ctx, plain)
}

// wrongInBody refuses one member of a body, so that a form can say it there.
func wrongInBody(member, message string) error {
	return fault.New(fault.Validation, "%s", message).With([]fault.Problem{{Path: member, Message: message}})
}
