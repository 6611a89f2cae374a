package chaos

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// stormClients come back at once, each over a new connection.
	stormClients = 500
	// idleConnections must be taken at least, of the connectionsOfAll that this
	// row's Postgres has.
	idleConnections  = 300
	connectionsOfAll = 450
	// poolWait is how long a request may wait for a connection to the database;
	// onTheWay is what its way there and the answer's way back add to that.
	poolWait = 2 * time.Second
	onTheWay = 500 * time.Millisecond
	// slack is what a busy machine adds elsewhere.
	slack = 3 * time.Second
	// lockWait is how long a session of the product waits for a lock, and
	// connectionsOfServe what each server has of them (startRun).
	lockWait           = 10 * time.Second
	connectionsOfServe = 10
)

// TestRow10PoolExhaustionAndConnectionStorm takes all of Postgres's free
// connections, lets 500 clients reconnect at once, blocks every connection of the
// servers, and then all that asks for tasks, in the workers, too, whose steps and
// dispatchers share a pool: who has no connection waits two seconds at most for one
// and is told to come again, who has one no longer than for the lock that it waits
// for; health stays green, and afterwards everything goes on.
func TestRow10PoolExhaustionAndConnectionStorm(t *testing.T) {
	taken := Fault{Name: "all free connections of Postgres taken", Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		heal, err := r.takeConnections(ctx)
		broken := time.Now()
		return func(ctx context.Context) error {
			r.toldSoon(broken)
			return heal(ctx)
		}, err
	}}
	storm := Fault{Name: fmt.Sprintf("%d clients reconnect at once", stormClients), Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		s := r.storm(ctx, stormClients)
		if s.other > 0 || s.slowest > callTimeout || s.later > s.quick {
			r.Violate("I10: of %d clients at once %d were served, %d told to come again, %d of them within %s, %d neither; the slowest waited %s",
				stormClients, s.served, s.later, s.quick, poolWait+onTheWay, s.other, s.slowest)
		}
		return nil, nil //nolint:nilnil // over
	}}
	blocked := Fault{Name: "every connection of the servers blocked", Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		heal, err := r.holdSnapshots(ctx, 1, `BEGIN`, `LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`)
		if err != nil {
			return heal, err
		}
		const others = 80
		r.storm(ctx, others).blocked(r, others)
		return heal, nil
	}}
	locked := Fault{Name: "tasks locked for everybody", Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		heal, err := r.holdSnapshots(ctx, 1, `BEGIN`, `LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE`)
		if err != nil {
			return heal, err
		}
		return heal, r.workersWait(ctx)
	}}
	RunRow(t, Row{
		Number: 10, Name: "pool exhaustion, connection storm",
		Settings: func(s *Settings) { s.Connections = connectionsOfAll },
		Faults:   []Fault{taken, storm, blocked, locked},
		Hold:     holdFor(10 * time.Second),
		During: func(ctx context.Context, r *Run) error {
			r.healthy(ctx)
			return nil
		},
	})
}

// toldSoon looks at the calls of the load since then: who was told to come again heard
// of it soon. Changes of many tasks may wait longer for their place, and of files it is
// the object store that tells.
func (r *Run) toldSoon(since time.Time) {
	for _, op := range r.History.Since(since) {
		took := time.Duration(op.Return - op.Call)
		if op.Server == partS3 || op.Kind == opPriority {
			continue
		}
		if (op.Status == http.StatusServiceUnavailable || op.Status == http.StatusTooManyRequests) && took > poolWait+onTheWay {
			r.Violate("I10: %s of %s was told to come again (%d) after %s", op.Kind, op.Who, op.Status, took)
		}
	}
}

// blocked judges a storm of n while every connection waits for a lock: those
// that hold one are told when the lock is given up, all others long before.
func (s stormed) blocked(r *Run, n int) {
	holders := connectionsOfServe * len(r.bases)
	if s.other > 0 || s.later < n/2 || s.laterSlowest > lockWait+slack {
		r.Violate("I10: with every connection taken, of %d requests %d were told to come again, the slowest after %s, and %d neither", n, s.later, s.laterSlowest, s.other)
	}
	if late := s.later - s.quick; late > holders {
		r.Violate("I10: with every connection taken, %d of %d requests were told so later than %s, and %d at most can have held one", late, n, poolWait+onTheWay, holders)
	}
}

// workersWait returns once a dispatcher waits for a lock: the next step does, too.
func (r *Run) workersWait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	return r.until(ctx, func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%SET leased_until = now()%'`)
		return n > 0, err
	})
}

// healthy asks every server for its health, which needs nothing that may be
// exhausted.
func (r *Run) healthy(ctx context.Context) {
	c := &http.Client{Timeout: callTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, base := range r.bases {
		for _, path := range []string{"/healthz", "/api/v1/health"} {
			began := time.Now()
			status, err := get(ctx, c, base+path, "")
			if took := time.Since(began); err != nil || status != http.StatusOK || took > slack {
				r.Violate("I10: %s%s was answered %d after %s (%v)", base, path, status, took.Round(time.Millisecond), err)
			}
		}
	}
}

// takeConnections opens all the connections that Postgres gives.
func (r *Run) takeConnections(ctx context.Context) (heal func(context.Context) error, err error) {
	var open []*pgx.Conn
	heal = func(ctx context.Context) error {
		for _, c := range open {
			_ = c.Close(ctx)
		}
		open = nil
		return nil
	}
	r.t.Cleanup(func() { _ = heal(context.WithoutCancel(ctx)) })
	for {
		conn, err := pgx.Connect(ctx, r.Value("DATABASE_URL"))
		if err != nil {
			r.Logf("Postgres gave %d connections: %v", len(open), err)
			if len(open) < idleConnections {
				return heal, fmt.Errorf("invalid run: %d connections were free, %d are to be taken", len(open), idleConnections)
			}
			return heal, ctx.Err()
		}
		open = append(open, conn)
	}
}

// stormed is how a storm was answered: later is 503 or 429, other anything
// else, quick those of later that were told within poolWait and onTheWay.
type stormed struct {
	served, later, other, quick         int
	slowest, laterSlowest, quickSlowest time.Duration
}

// storm polls with n clients at once, each over a connection of its own, and
// looks at the servers' health meanwhile.
func (r *Run) storm(ctx context.Context, n int) (s stormed) {
	r.t.Helper()
	o := r.World.Probe
	var mu sync.Mutex
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			c := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			<-start
			began := time.Now()
			status, err := get(ctx, c, fmt.Sprintf("%s/api/v1/workflows/%d/tasks?limit=1", r.bases[i%len(r.bases)], o.Pipeline), o.Key)
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			s.slowest = max(s.slowest, took)
			switch {
			case err == nil && status == http.StatusOK:
				s.served++
			case err == nil && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests):
				s.later++
				s.laterSlowest = max(s.laterSlowest, took)
				if took <= poolWait+onTheWay {
					s.quick++
					s.quickSlowest = max(s.quickSlowest, took)
				}
			default:
				s.other++
				if s.other == 1 {
					r.Logf("a client of the storm got %d: %v", status, err)
				}
			}
		})
	}
	close(start)
	r.healthy(ctx)
	all.Wait()
	r.Logf("%d clients at once: %d served, %d told to come again (%d of them within %s), %d neither, the slowest %s", n, s.served, s.later, s.quick,
		s.quickSlowest.Round(time.Millisecond), s.other, s.slowest.Round(time.Millisecond))
	return s
}

// get answers with the status of a GET under a key, "" for none.
func get(ctx context.Context, c *http.Client, url, key string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}
