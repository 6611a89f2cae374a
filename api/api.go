// Package api is the HTTP surface: External API v1 (api/v1) and the console
// API (api/console) on one router, behind the edge that they share (api/edge).
package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/taskloom/taskloom/api/console"
	"github.com/taskloom/taskloom/api/edge"
	v1 "github.com/taskloom/taskloom/api/v1"
	"github.com/taskloom/taskloom/internal/cursor"
	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Store is the database as both APIs need it; *store.Store is one.
type Store interface {
	v1.Store
	console.Store
}

// Deps are what New needs. Store, Logger and SecretKey must be set.
type Deps struct {
	Store  Store
	Logger *slog.Logger
	// SecretKey authenticates cursors; all processes of a deployment share it.
	SecretKey []byte
	// PublicURL is the address at which callers see the deployment, without a
	// final slash.
	PublicURL string
	// TrustedProxies are the networks of the proxies in front of the service,
	// whose X-Forwarded-For tells where a request comes from, and whose traces
	// requests belong to.
	TrustedProxies []netip.Prefix
	// Limits counts requests against the rates of the External API, and failed
	// logins for all processes; nil means that nothing is limited but the logins
	// of this process.
	Limits *limit.Limiter
	// InFlight is how many requests of known callers are worked on at a time; 0
	// means any number.
	InFlight int
	// Now and Rand are the clock and the randomness; nil means the system's.
	Now  func() time.Time
	Rand io.Reader
	// Ready reports the parts that the deployment needs, by name: nil for one
	// that answers. Nil means that there is nothing to ask.
	Ready func(ctx context.Context) map[string]error
	// Ending reports that the process takes no more requests soon, so that load
	// balancers look elsewhere; nil means never.
	Ending func() bool
	// Metrics takes the HTTP metrics; nil drops them.
	Metrics prometheus.Registerer
	// Uploads is what ZIP ingestion needs beside the database.
	Uploads v1.Uploads
	// Links gives out links to files; nil when the deployment has no object
	// store.
	Links console.Objects
	// Publish tells what the deployment offers to pipelines.
	Publish pipeline.Options
	// About is what the web app wants to know of the deployment.
	About console.About
	// App answers outside of /api: the web app, of NewApp; nil means a page at /
	// that says what is there instead.
	App http.Handler
}

// API is the HTTP surface with the documents that describe it.
type API struct {
	http.Handler
	// External and Console are the OpenAPI documents.
	External, Console *huma.OpenAPI
}

// New makes the handler of the whole service.
func New(d Deps) *API {
	d = d.withDefaults()
	bodies, cursors := edge.NewReader(), cursor.New(d.SecretKey)
	r := chi.NewRouter()
	observer, gate := edge.NewObserver(d.Logger, d.Now, d.Metrics), edge.NewGate(d.InFlight, console.Prefix, d.Now, d.Metrics)
	r.Use(edge.Identify, observer.Middleware, edge.Harden(strings.HasPrefix(d.PublicURL, "https://")), edge.AnyMethod, middleware.GetHead)
	r.NotFound(edge.NotFound)
	r.MethodNotAllowed(edge.MethodNotAllowed(r))
	r.Get("/healthz", healthy(d.Ending))
	r.Get("/readyz", ready(d.Ready))
	external := v1.Mount(r, v1.Deps{
		Store: d.Store, Cursors: cursors, Bodies: bodies, Gate: gate, BaseURL: d.PublicURL + v1.Prefix, Uploads: d.Uploads,
		Limits: edge.NewLimits(d.Limits, d.Metrics), Proxies: d.TrustedProxies,
	})
	web := console.Mount(r, console.Deps{
		Store: d.Store, Cursors: cursors, Bodies: bodies, Gate: gate, Now: d.Now, Rand: d.Rand,
		PublicURL: d.PublicURL, Proxies: d.TrustedProxies, Limits: d.Limits, Publish: d.Publish, Objects: d.Links, About: d.About,
	})
	observer.Expect(r) // the web app fails with nothing of its own, and what follows here is not found
	if d.App == nil {
		r.Get("/", landing())
	} else {
		nothing := edge.Private()(http.HandlerFunc(edge.NotFound))
		r.Handle("/api", nothing)
		r.Handle("/api/*", nothing)
		r.Handle("/metrics", nothing) // on a listener of their own; a page in their place would fool a scraper
		r.Method(http.MethodGet, "/*", d.App)
	}
	return &API{
		Handler:  gate.Shed("/api/", edge.Traced(d.TrustedProxies, r)),
		External: external.OpenAPI(), Console: web.OpenAPI(),
	}
}

func (d Deps) withDefaults() Deps {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Rand == nil {
		d.Rand = rand.Reader
	}
	if d.Ready == nil {
		d.Ready = func(context.Context) map[string]error { return nil }
	}
	if d.Ending == nil {
		d.Ending = func() bool { return false }
	}
	return d
}

// healthy says that the process answers, whatever stands behind it, until it is
// about to end.
func healthy(ending func() bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if ending() {
			writeState(w, http.StatusServiceUnavailable, map[string]any{"status": "ending"})
			return
		}
		writeState(w, http.StatusOK, map[string]any{"status": "ok"})
	}
}

// ready says whether every part answers. Which one does not is named, why is
// in the log.
func ready(check func(context.Context) map[string]error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, word := http.StatusOK, "ok"
		parts := map[string]string{}
		for name, err := range check(r.Context()) {
			parts[name] = "ok"
			if err != nil {
				parts[name], status, word = "unavailable", http.StatusServiceUnavailable, "unavailable"
				edge.From(r.Context()).Note(slog.String("unready_"+name, err.Error()))
			}
		}
		writeState(w, status, map[string]any{"status": word, "parts": parts})
	}
}

func writeState(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a prober who left misses the answer
}
