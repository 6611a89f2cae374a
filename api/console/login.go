package console

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/password"
	"github.com/taskloom/taskloom/internal/store"
)

// User is a person.
type User struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

type loginInput struct {
	Request
	Body struct {
		Email    string `json:"email" minLength:"1" maxLength:"320"`
		Password string `json:"password" minLength:"1" maxLength:"1000"`
	} `nameHint:"Login"`
}

type loginOutput struct {
	SetCookie string `header:"Set-Cookie"`
	Body      User
}

type logoutOutput struct {
	SetCookie     string `header:"Set-Cookie"`
	ClearSiteData string `header:"Clear-Site-Data"`
}

func (a *api) registerSession() {
	register(a, huma.Operation{
		OperationID: "login", MaxBodyBytes: loginBody, Method: http.MethodPost, Path: "/login", Tags: []string{"Session"},
		Summary: "Log in", Description: "Answers with the session cookie.",
	}, a.login, http.StatusUnauthorized, http.StatusTooManyRequests)
	register(a, huma.Operation{
		OperationID: "logout", Method: http.MethodPost, Path: "/logout", Tags: []string{"Session"},
		Summary: "Log out", Description: "Ends the session, if there is one.",
	}, a.logout)
}

// login answers the same, and takes as long, whether the account or the
// password is wrong.
func (a *api) login(ctx context.Context, in *loginInput) (*loginOutput, error) {
	attempt := newAttempt(in.Body.Email, a.Proxies.Client(in.r))
	if err := a.throttle.allow(ctx, attempt); err != nil {
		return nil, err
	}
	user, err := a.Store.UserByEmail(ctx, in.Body.Email)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	ok, outdated, err := password.Check(ctx, in.Body.Password, user.PasswordHash)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.Unauthorized, "email or password is wrong")
	}
	a.throttle.succeeded(ctx, attempt)
	if outdated {
		if err := a.rehash(ctx, user, in.Body.Password); err != nil {
			return nil, err
		}
	}
	return a.open(ctx, in.r, user)
}

// open starts a session under a new token: one that was known before the login
// is worth nothing after it.
func (a *api) open(ctx context.Context, r *http.Request, user store.User) (*loginOutput, error) {
	if old := a.cookie.token(r); old != "" {
		if err := a.Store.DeleteSession(ctx, hashToken(old)); err != nil {
			return nil, err
		}
	}
	token, err := newToken(a.Rand)
	if err != nil {
		return nil, err
	}
	if err := a.Store.CreateSession(ctx, user.ID, hashToken(token), agent(r), sessionTTL); err != nil {
		return nil, err
	}
	return &loginOutput{
		SetCookie: a.cookie.set(token, sessionTTL), Body: User{ID: user.ID, Email: user.Email, Name: user.Name},
	}, nil
}

func (a *api) rehash(ctx context.Context, user store.User, plain string) error {
	renewed, err := password.Hash(ctx, plain)
	if fault.Is(err, fault.Validation) {
		return nil // an old password that today's policy would refuse still works
	}
	if err != nil {
		return err
	}
	return a.Store.RenewPasswordHash(ctx, user.ID, user.PasswordHash, renewed)
}

func (a *api) logout(ctx context.Context, in *struct{ Request }) (*logoutOutput, error) {
	if token := a.cookie.token(in.r); token != "" {
		if err := a.Store.DeleteSession(ctx, hashToken(token)); err != nil {
			return nil, err
		}
	}
	return &logoutOutput{SetCookie: a.cookie.set("", 0), ClearSiteData: `"cache", "cookies", "storage"`}, nil
}
