package edge

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
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
// none of them keeps the others out: programs that flood leave people at work. What takes
// long has one line, for more of it at once than its places is more than a machine bears:
// there people go before programs. Who floods as a person and is none stands apart, at
// one place.
type Gate struct {
	programs, people, slow, apart *line
	peoplePrefix                  string // of the paths that people call
	// shed counts who is refused at the door, and is in no other count; vain who stood
	// in line first, and is among the requests as well.
	shed, vain prometheus.Counter
	held       atomic.Int64 // how many hear later that they are refused
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
// whose paths begin with people, a quarter as many for what takes long, or two, and
// one for who stands apart; 0 or less is no gate at all. reg may be nil.
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
		slow: newLine(slowPlaces(places), slowPatience, now), apart: newLine(1, quickPatience, now), peoplePrefix: people,
		shed: refused.WithLabelValues("door"), vain: refused.WithLabelValues("line"), // from zero on, for rates
	}
	// Only among programs: who asks again at once is one, and of people those who work
	// have places for longer than those who look whether there is work.
	g.programs.places.had, g.slow.places.had = newShares(), newShares()
	g.slow.places.mixed = true
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
	case g.byPerson(path):
		return g.people
	}
	return g.programs
}

// byPerson reports whether it is people who call a path.
func (g *Gate) byPerson(path string) bool { return strings.HasPrefix(path, g.peoplePrefix) }

// caller is who a request says that it is from. Keys that people send tell nothing.
func (g *Gate) caller(r *http.Request) caller {
	if g.byPerson(r.URL.Path) {
		return person
	}
	return callerOf(r.Header)
}

// toldAfter is how long after they came a program hears at the soonest that it is refused
// which asks again at once. In an overload most of what comes may be such programs, and
// refusing them so often takes both sides more of the processors than serving the others.
const toldAfter = 12 * time.Millisecond

// hold waits until somebody who came at a time hears that they are refused, which is at
// once but for who asks again at once; and for these, too, where very many wait for it.
func (g *Gate) hold(ctx context.Context, l *line, who caller, came time.Duration) {
	p := l.places
	defer func() { p.had.tell(who, p.now()) }()
	wait := toldAfter - (p.now() - came)
	if wait <= 0 || !p.had.again(who, came) {
		return
	}
	defer g.held.Add(-1)
	if g.held.Add(1) > longestLine {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	<-ctx.Done()
}

const turnedAway = "too many requests at a time; try again in a moment"

// Shed stands before everything else and answers those who have no chance, at a
// fraction of what any other answer costs: when most of what comes must be
// refused, refusing is most of the work. Such a request leaves no log line and no
// trace, only the count.
func (g *Gate) Shed(prefix string, next http.Handler) http.Handler {
	if g == nil {
		return next
	}
	body := []byte(`{"error":"` + string(fault.Unavailable) + `","message":"` + turnedAway + `"}` + "\n")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open := r.URL.Path == prefix+"v1/health" || r.URL.Path == prefix+"console/login" // they take no place
		if open || !strings.HasPrefix(r.URL.Path, prefix) {
			next.ServeHTTP(w, r)
			return
		}
		l, who := g.line(r.URL.Path, r.ContentLength), g.caller(r)
		if !l.full(who) {
			next.ServeHTTP(w, r)
			return
		}
		g.shed.Inc()
		g.hold(r.Context(), l, who, l.places.now())
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
		ex.gate, ex.line, ex.caller = g, g.line(r.URL.Path, r.ContentLength), g.caller(r)
		switch {
		case ex.apart:
			ex.line = g.apart
		case ctx.Operation().Metadata[slowOperation] == true:
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

// StandApart lets the request wait with those who flood, at a place of their own.
// Middleware that stands before the gate calls it.
func (ex *Exchange) StandApart() { ex.apart = true }

// enter takes a place for the request, where there is a gate. The error refuses
// the request.
func (ex *Exchange) enter(ctx context.Context) error {
	// The door knows neither the operation nor the size of what is not announced, nor
	// who stands apart.
	if ex.gate != nil && !ex.inside && (ex.line == ex.gate.slow || ex.line == ex.gate.apart) && ex.line.full(ex.caller) {
		return ex.refuse(ctx, ex.line.places.now())
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

func (ex *Exchange) take(ctx context.Context, enter func(*line, context.Context, caller) bool) error {
	if ex.gate == nil || ex.inside {
		return nil
	}
	came := ex.line.places.now()
	ex.inside = enter(ex.line, ctx, ex.caller)
	ex.since = ex.line.places.now()
	if !ex.inside {
		return ex.refuse(ctx, came)
	}
	return nil
}

// refuse counts a request that came at a time and got no place, and says so.
func (ex *Exchange) refuse(ctx context.Context, came time.Duration) error {
	ex.gate.vain.Inc()
	ex.gate.hold(ctx, ex.line, ex.caller, came)
	return fault.New(fault.Unavailable, turnedAway).After(time.Second)
}

// Leave gives the request's place to others, for the time of what takes long
// and has a bound of its own. It is not taken again, except after a body has
// been read.
func (ex *Exchange) Leave() {
	if ex.inside {
		ex.inside = false
		ex.line.places.had.charge(ex.caller, ex.owner != "", ex.since, ex.line.places.now())
		ex.line.release()
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
