package edge

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"github.com/taskloom/taskloom/internal/fault"
)

// How long a request waits for its turn. A burst is let in as work gets done.
// Who comes while requests have been waiting without a pause for lasting is told
// to come again at once: a line that does not get shorter only makes everybody
// late (controlled delay, as in Maurer, "Fail at Scale", ACM Queue 2015).
const (
	burstWait   = 100 * time.Millisecond
	lasting     = 500 * time.Millisecond
	lastingWait = 20 * time.Millisecond
	// longestLine is how many wait at a time at most. While a line lasts, it is as
	// many as are let in.
	longestLine = 1024
)

// Gate bounds how many requests are worked on at a time, so that more of them
// than the process can answer do not make all of them slow: those beyond it
// wait in line for a moment and are refused then. Nobody holds a place while
// they send a body or read an answer, so slow callers keep nobody out.
type Gate struct {
	places *semaphore.Weighted
	size   int64
	now    func() time.Time
	// waiting is how many stand in line.
	waiting atomic.Int64
	// free is when somebody last found a place without waiting, in nanoseconds
	// since 1970.
	free    atomic.Int64
	refused prometheus.Counter
}

// NewGate makes a Gate with that many places; 0 or less is no gate at all. reg
// may be nil.
func NewGate(places int, now func() time.Time, reg prometheus.Registerer) *Gate {
	if places <= 0 {
		return nil
	}
	g := &Gate{places: semaphore.NewWeighted(int64(places)), size: int64(places), now: now, refused: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "taskloom_http_overload_refused_total",
		Help: "Requests that were refused because too many others were being answered, in requests.",
	})}
	g.free.Store(now().UnixNano())
	if reg != nil {
		reg.MustRegister(g.refused)
	}
	return g
}

// enter takes a place. The error refuses the request.
func (g *Gate) enter(ctx context.Context) error {
	if g.places.TryAcquire(1) { // fails while others wait, too
		g.free.Store(g.now().UnixNano())
		return nil
	}
	wait := burstWait
	if g.lasts() {
		wait = lastingWait
	}
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if g.places.Acquire(waiting, 1) == nil {
		return nil
	}
	g.refused.Inc()
	return fault.New(fault.Unavailable, turnedAway).After(time.Second)
}

const turnedAway = "too many requests at a time; try again in a moment"

// lasts reports whether requests have been waiting without a pause for a while.
func (g *Gate) lasts() bool { return g.now().UnixNano()-g.free.Load() > lasting.Nanoseconds() }

// full reports whether the line is so long that nobody new has a chance.
func (g *Gate) full() bool {
	n := g.waiting.Load()
	return n >= longestLine || n >= g.size && g.lasts()
}

// Shed stands before everything else and answers those who have no chance at
// once, at a fraction of what any other answer costs: when most of what comes
// must be refused, refusing is most of the work. Such a request leaves no log
// line and no trace, only the count.
func (g *Gate) Shed(prefix string, next http.Handler) http.Handler {
	if g == nil {
		return next
	}
	body := []byte(`{"error":"` + string(fault.Unavailable) + `","message":"` + turnedAway + `"}` + "\n")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open := r.URL.Path == prefix+"v1/health" || r.URL.Path == prefix+"console/login" // they take no place
		if open || !strings.HasPrefix(r.URL.Path, prefix) || !g.full() {
			next.ServeHTTP(w, r)
			return
		}
		g.refused.Inc()
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		h.Set("Retry-After", "1")
		h.Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write(body) // who left misses the answer
	})
}

// Middleware lets requests of operations that know their callers in one by one.
// The others have limits of their own, and must answer when nothing else does.
func (g *Gate) Middleware(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if g == nil || len(ctx.Operation().Security) == 0 {
			next(ctx)
			return
		}
		ex := From(ctx.Context())
		ex.gate = g
		if err := ex.enter(ctx.Context()); err != nil {
			WriteHumaError(api, ctx, err)
			return
		}
		defer ex.Leave()
		next(&gatedContext{humaContext: ctx, leave: ex.Leave})
	}
}

// enter takes a place for the request, where there is a gate.
func (ex *Exchange) enter(ctx context.Context) error {
	if ex.gate == nil || ex.inside {
		return nil
	}
	err := ex.gate.enter(ctx)
	ex.inside = err == nil
	return err
}

// Leave gives the request's place to others, for the time of what takes long
// and has a bound of its own. It is not taken again, except after a body has
// been read.
func (ex *Exchange) Leave() {
	if ex.inside {
		ex.inside = false
		ex.gate.places.Release(1)
	}
}

// gatedContext leaves when the answer begins: all work is done by then.
type gatedContext struct {
	humaContext
	leave func()
}

// BodyWriter returns where the answer goes.
func (c *gatedContext) BodyWriter() io.Writer {
	c.leave()
	return c.humaContext.BodyWriter()
}

// Unwrap returns the context that it stands for.
func (c *gatedContext) Unwrap() huma.Context { return c.humaContext }
