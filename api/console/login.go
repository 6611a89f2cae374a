package console

import (
	"context"
	"errors"
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
	user, err := a.checkLogin(ctx, in)
	if err != nil {
		if !errors.Is(err, store.ErrWrongPassword) {
			a.throttle.undecided(ctx, attempt)
		}
		return nil, err
	}
	a.throttle.succeeded(ctx, attempt)
	out, err := a.open(ctx, in.r, user)
	if !errors.Is(err, store.ErrWrongPassword) {
		return out, err
	}
	// The hash is another one by now: of a new password, or of the same one, which
	// a login beside this one has renewed.
	if user, err = a.checkLogin(ctx, in); err != nil {
		return nil, err
	}
	return a.open(ctx, in.r, user)
}

// checkLogin returns the account whose password it is, with the hash that holds from
// now on.
func (a *api) checkLogin(ctx context.Context, in *loginInput) (store.User, error) {
	user, err := a.Store.UserByEmail(ctx, in.Body.Email)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return store.User{}, err
	}
	ok, outdated, err := password.Check(ctx, in.Body.Password, user.PasswordHash)
	if err != nil {
		return store.User{}, err
	}
	if !ok {
		return store.User{}, store.ErrWrongPassword
	}
	if outdated {
		user.PasswordHash, err = a.rehash(ctx, user, in.Body.Password)
	}
	return user, err
}

// open starts a session under a new token: one that was known before the login
// is worth nothing after it. The user has the hash that their password was checked
// against.
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
	if err := a.Store.CreateSession(ctx, user, hashToken(token), agent(r), sessionTTL); err != nil {
		return nil, err
	}
	return &loginOutput{
		SetCookie: a.cookie.set(token, sessionTTL), Body: User{ID: user.ID, Email: user.Email, Name: user.Name},
	}, nil
}

// rehash stores a hash with today's parameters and returns it, or the old one where
// that stays.
func (a *api) rehash(ctx context.Context, user store.User, plain string) (string, error) {
	renewed, err := password.Hash(ctx, plain)
	if fault.Is(err, fault.Validation) || fault.Is(err, fault.Unavailable) {
		// An old password that today's policy would refuse still works, and so does a hash
		// that there is no time to renew now.
		return user.PasswordHash, nil
	}
	if err != nil {
		return "", err
	}
	return renewed, a.Store.RenewPasswordHash(ctx, user.ID, user.PasswordHash, renewed)
}

func (a *api) logout(ctx context.Context, in *struct{ Request }) (*logoutOutput, error) {
	if token := a.cookie.token(in.r); token != "" {
		if err := a.Store.DeleteSession(ctx, hashToken(token)); err != nil {
			return nil, err
		}
	}
	return &logoutOutput{SetCookie: a.cookie.set("", 0), ClearSiteData: `"cache", "cookies", "storage"`}, nil
}
