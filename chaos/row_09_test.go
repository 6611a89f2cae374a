package chaos

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

// TestRow09AmbiguousCommit cuts connections before and after the commit: one
// commit in a hundred all the time, and bursts of the API's and the worker's, each of
// which must be met to its last cut.
func TestRow09AmbiguousCommit(t *testing.T) {
	const burst = 30
	RunRow(t, Row{
		Number: 9, Name: "ambiguous commit", Hold: 10 * time.Second,
		Settings: func(s *Settings) { s.Load.CutShare = 0.01 },
		Faults: []Fault{
			CommitsCut(ofServe, pgproxy.Before, burst, true), CommitsCut(ofServe, pgproxy.After, burst, true),
			CommitsCut(ofWorker, pgproxy.Before, burst, true), CommitsCut(ofWorker, pgproxy.After, burst, true),
		},
		After: func(_ context.Context, r *Run) error {
			for _, p := range r.proxies() {
				if s := p.Stats(); s.Before < burst || s.After < burst {
					r.Violate("the proxy cut only %d commits before and %d after: the row shows nothing", s.Before, s.After)
				}
			}
			return nil
		},
	})
}

func TestABurstIsMissedUnlessAllOfItIsMet(t *testing.T) {
	t.Parallel()
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = upstream.Close() })
	go func() { // a Postgres that takes what comes, and says nothing
		for {
			c, err := upstream.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
	}()
	p, err := pgproxy.Listen(t.Context(), upstream.Addr().String(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	commit := func() {
		c, err := net.Dial("tcp", p.Addr())
		require.NoError(t, err)
		defer c.Close()
		f := pgproto3.NewFrontend(c, c)
		f.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersionNumber, Parameters: map[string]string{"user": "ada"}})
		f.Send(&pgproto3.Query{String: "INSERT INTO things VALUES (1)"})
		require.NoError(t, f.Flush())
		_, err = c.Read(make([]byte, 1))
		require.Error(t, err, "it is cut")
	}
	r := &Run{t: t, ServeProxy: p}
	heals := func(all bool, commits int) error {
		heal, err := CommitsCut(ofServe, pgproxy.Before, 3, all).Inject(t.Context(), r)
		require.NoError(t, err)
		for range commits {
			commit()
		}
		defer func() { require.Zero(t, p.Pending(), "what is left is forgotten") }()
		return heal(t.Context())
	}
	require.ErrorIs(t, heals(false, 0), errMissed)
	require.NoError(t, heals(false, 1))
	require.ErrorIs(t, heals(true, 2), errMissed)
	require.NoError(t, heals(true, 3))
}
