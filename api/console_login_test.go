package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// forgetful is a store that cannot say who somebody is, for so many times.
type forgetful struct {
	*store.Store
	times int
}

func (s *forgetful) UserByEmail(ctx context.Context, email string) (store.User, error) {
	if s.times > 0 {
		s.times--
		return store.User{}, fault.New(fault.Unavailable, "the database is away")
	}
	return s.Store.UserByEmail(ctx, email)
}

// Whoever tried while the service could not tell whether a password is right gets in
// once it can.
func TestAnOutageIsNoFailedLogin(t *testing.T) {
	t.Parallel()
	const tries = 20 // more than may fail
	w := dbtest.NewWorld(t)
	s := &forgetful{Store: w.Store}
	b := serve(t, w, func(d *api.Deps) { d.Store = s })
	other := dbtest.Org(t, w.Store, dbtest.WithSlug("other"))
	token := b.inviteToken(t, other.Email("reviewer1"), "member")
	anyone := person{b: b}
	login := map[string]any{"email": b.Email("admin1"), "password": dbtest.Password}
	s.times = tries
	for range tries {
		anyone.refused(t, 503, "service_unavailable", http.MethodPost, "/login", login)
	}
	anyone.ok(t, 200, http.MethodPost, "/login", login)

	admin := b.login(t, "admin1")
	change := map[string]any{"current": dbtest.Password, "password": newPassword}
	s.times = tries
	for range tries {
		admin.refused(t, 503, "service_unavailable", http.MethodPost, "/me/password", change)
	}
	admin.ok(t, 204, http.MethodPost, "/me/password", change)

	var hash string
	guest := other.Reviewers[0]
	require.NoError(t, w.Store.Pool().QueryRow(t.Context(), `SELECT password_hash FROM users WHERE id = $1`, guest).Scan(&hash))
	accept := map[string]any{"token": token, "password": dbtest.Password}
	b.exec(t, `UPDATE users SET password_hash = 'broken' WHERE id = $1`, guest)
	for range tries {
		anyone.refused(t, 500, "internal_server_error", http.MethodPost, "/invites/accept", accept)
	}
	b.exec(t, `UPDATE users SET password_hash = $2 WHERE id = $1`, guest, hash)
	anyone.ok(t, 200, http.MethodPost, "/invites/accept", accept)
}
