package edge

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/taskloom/taskloom/internal/fault"
)

// Gate bounds how many requests are worked on at a time, so that more of them
// than the process can answer do not make all of them slow: those beyond it
// wait in line for a moment and are refused then. Nobody holds a place while
// they send a body or read an answer, so slow callers keep nobody out. People,
// programs, and what takes long by its nature have places of their own, so that
// none of them keeps the others out: programs that flood leave people at work.
type Gate struct {
	programs, people, slow *line
	peoplePrefix           string // of the paths that people call
	// shed counts who is refused at the door, and is in no other count; vain who stood
	// in line first, and is among the requests as well.
	shed, vain prometheus.Counter
}

// slowShare is how many places for programs there are for each of slow work.
const slowShare = 4

// slowPlaces is how many places slow work has beside that many for programs: two
// where there are four, so that an admin's search waits for no creation, and a
// creation not for three others that a load balancer brought to the same process.
func slowPlaces(places int) int { return max(1, places/slowShare, min(2, places/2)) }

// slowBody is the size, in bytes, from which on a request takes long because of
// its body, whatever it asks for: several hundred tasks, for example.
const slowBody = 256 << 10

// slowOperation marks operations in huma.Operation.Metadata.
const slowOperation = "slow"

// Slow marks an operation, as its Metadata, that reads or writes so much that
// its objective is seconds instead of milliseconds.
func Slow() map[string]any { return map[string]any{slowOperation: true} }

// NewGate makes a Gate with that many places for programs, as many for people,
// whose paths begin with people, and a quarter as many for what takes long, or two;
// 0 or less is no gate at all. reg may be nil.
func NewGate(places int, people string, now func() time.Time, reg prometheus.Registerer) *Gate {
	if places <= 0 {
		return nil
	}
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "taskloom_http_overload_refused_total",
		Help: "Requests that were refused because too many others were being answered, in requests: at the door, " +
			"where they are in no other count, or in line, where taskloom_http_requests_total has them, too.",
	}, []string{"at"})
	g := &Gate{
		programs: newLine(places, quickPatience, now), people: newLine(places, quickPatience, now),
		slow: newLine(slowPlaces(places), slowPatience, now), peoplePrefix: people,
		shed: refused.WithLabelValues("door"), vain: refused.WithLabelValues("line"), // from zero on, for rates
	}
	if reg != nil {
		reg.MustRegister(refused)
	}
	return g
}

// line is where a request stands by what it says of itself: its path, and how
// many bytes it announces (-1 when it does not), whatever comes then.
func (g *Gate) line(path string, announced int64) *line {
	switch {
	case announced > slowBody:
		return g.slow
	case strings.HasPrefix(path, g.peoplePrefix):
		return g.people
	}
	return g.programs
}

// refuse counts a request that got no place, and says so.
func (g *Gate) refuse() error {
	g.vain.Inc()
	return fault.New(fault.Unavailable, turnedAway).After(time.Second)
}

const turnedAway = "too many requests at a time; try again in a moment"

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
		if open || !strings.HasPrefix(r.URL.Path, prefix) || !g.line(r.URL.Path, r.ContentLength).full() {
			next.ServeHTTP(w, r)
			return
		}
		g.shed.Inc()
		h := w.Header()
		h.Set(RequestIDHeader, requestID(r))
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
		r, _ := humachi.Unwrap(ctx)
		ex.gate, ex.line = g, g.line(r.URL.Path, r.ContentLength)
		if ctx.Operation().Metadata[slowOperation] == true {
			ex.line = g.slow
		}
		if err := ex.enter(ctx.Context()); err != nil {
			WriteHumaError(api, ctx, err)
			return
		}
		defer ex.Leave()
		next(&gatedContext{humaContext: ctx, leave: ex.Leave})
	}
}

// enter takes a place for the request, where there is a gate. The error refuses
// the request.
func (ex *Exchange) enter(ctx context.Context) error {
	// The door knows neither the operation nor the size of what is not announced.
	if ex.gate != nil && !ex.inside && ex.line == ex.gate.slow && ex.line.full() {
		return ex.gate.refuse()
	}
	return ex.take(ctx, (*line).enter)
}

// enterWith is enter for a request that left to read its body, of that many
// bytes. What takes long is not let in sooner for that: everybody else works less
// while it does.
func (ex *Exchange) enterWith(ctx context.Context, body int) error {
	if ex.gate == nil {
		return nil
	}
	if body > slowBody {
		ex.line = ex.gate.slow
	}
	if ex.line == ex.gate.slow {
		return ex.enter(ctx)
	}
	return ex.take(ctx, (*line).reenter)
}

func (ex *Exchange) take(ctx context.Context, enter func(*line, context.Context) bool) error {
	if ex.gate == nil || ex.inside {
		return nil
	}
	if ex.inside = enter(ex.line, ctx); !ex.inside {
		return ex.gate.refuse()
	}
	return nil
}

// Leave gives the request's place to others, for the time of what takes long
// and has a bound of its own. It is not taken again, except after a body has
// been read.
func (ex *Exchange) Leave() {
	if ex.inside {
		ex.inside = false
		ex.line.places.release()
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
