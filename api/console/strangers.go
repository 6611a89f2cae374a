package console

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/limit"
)

const (
	// strangersCalls is how many calls without a session may come from a network in a
	// minute before it is suspected. A tab whose session is over makes a few, then waits
	// for its person to log in.
	strangersCalls = 600
	// knownSessions bounds the sessions that are remembered, to about 1 MB.
	knownSessions = 10_000

	strangersBucket limit.Bucket = "strangers"
)

// strangers tell who floods without a session, or with one that is made up: nobody
// knows that of a call before it has had a place and a look into the database, and so
// they would take the places of people. This process counts what it sees by itself.
type strangers struct {
	calls *limit.Limiter
	// known are sessions that were good lately: these people are no strangers, whoever
	// floods from where they are.
	known *lru.Cache[[32]byte, struct{}]
}

func newStrangers() *strangers {
	known, err := lru.New[[32]byte, struct{}](knownSessions)
	if err != nil {
		panic(err) // only for a size below one
	}
	rates := limit.Rates{strangersBucket: {Limit: strangersCalls, Period: time.Minute}}
	return &strangers{calls: limit.Memory(rates), known: known}
}

// suspects reports whether a call is one more of a flood, as far as can be told before
// anybody looks up its session.
func (s *strangers) suspects(ctx context.Context, session [32]byte, from netip.Addr) bool {
	return s.calls.Peek(ctx, strangersBucket, networkOf(from)).Reached && !s.known.Contains(session)
}

// learn notes what came of looking up a session.
func (s *strangers) learn(ctx context.Context, session [32]byte, from netip.Addr, err error) {
	switch {
	case err == nil:
		s.known.Add(session, struct{}{})
	case fault.Is(err, fault.Unauthorized):
		s.known.Remove(session)
		s.calls.Take(ctx, strangersBucket, networkOf(from), 1)
	}
}

// networkOf is whom a stranger counts for: over IPv6 a whole site, for there is nothing
// that being suspected takes from others there but time.
func networkOf(from netip.Addr) string { return cmp.Or(edge.Site(from), edge.Network(from)) }

// suspect stands before the gate and lets those whom it suspects stand apart.
func (a *api) suspect(ctx huma.Context, next func(huma.Context)) {
	if r, _ := humachi.Unwrap(ctx); a.strangers.suspects(ctx.Context(), a.session(r), a.Proxies.Client(r)) {
		edge.From(ctx.Context()).StandApart()
	}
	next(ctx)
}

// session is what the store knows the request's session by.
func (a *api) session(r *http.Request) [32]byte { return hashToken(a.cookie.token(r)) }
