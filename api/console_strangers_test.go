package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// pensive is a store that thinks about sessions that it does not know, once it is
// told to, until it may go on.
type pensive struct {
	*store.Store
	thinks atomic.Bool
	begun  chan struct{}
	goOn   chan struct{}
}

func (s *pensive) SessionUser(ctx context.Context, hash [32]byte) (store.User, error) {
	user, err := s.Store.SessionUser(ctx, hash)
	if err != nil && s.thinks.Load() {
		s.begun <- struct{}{}
		<-s.goOn
	}
	return user, err
}

// Who calls very often without a session takes no place from people, also from those
// behind the same address, and newcomers there get in as well.
func TestAFloodWithoutASessionLeavesPeopleTheirPlaces(t *testing.T) {
	t.Parallel()
	const suspicious = 600
	w := dbtest.NewWorld(t)
	s := &pensive{Store: w.Store, begun: make(chan struct{}, 1), goOn: make(chan struct{})}
	b := serve(t, w, func(d *api.Deps) { d.Store, d.InFlight = s, 1 })
	ada := b.login(t, "contributor1")
	ada.ok(t, 200, http.MethodGet, "/me", nil)
	for range suspicious + 1 {
		a := b.console(t, http.MethodGet, "/me", nil, with("Cookie", "sid=made-up"))
		require.Equal(t, http.StatusUnauthorized, a.Status, "%s", a.Raw)
	}
	s.thinks.Store(true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, publicURL+"/api/console/me", http.NoBody)
		r.Header.Set("Cookie", "sid=another")
		b.handler.ServeHTTP(httptest.NewRecorder(), r)
	}()
	<-s.begun
	a := ada.do(t, http.MethodGet, "/me", nil)
	s.thinks.Store(false)
	close(s.goOn)
	<-ended
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	b.login(t, "contributor2").ok(t, 200, http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusUnauthorized, b.console(t, http.MethodGet, "/me", nil).Status)
}
