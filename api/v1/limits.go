package v1

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/limit"
)

// costs are what calls take from their bucket, by operation; one where nothing
// is said. A large body costs more on top: see edge.BodyCost.
var costs = map[string]int64{
	"initUpload":    2,
	"confirmUpload": 2,
}

func cost(operation string) int64 {
	if c, ok := costs[operation]; ok {
		return c
	}
	return 1
}

// limitOpen puts a limit on whatever is answered without a key: the health
// check, the documentation, paths and methods that are none. It counts for the
// key that is sent nevertheless, as long as it looks like one, else for the
// client's address (spec section 8). Operations that need a key are counted
// once the key is known to be good: see authenticate.
func (a *api) limitOpen(routes chi.Routes) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at := chi.RouteContext(r.Context())
			operation := a.operations[at.RouteMethod+" "+routes.Find(chi.NewRouteContext(), at.RouteMethod, at.RoutePath)]
			if !operation.protected {
				if err := a.admitOpen(w, r, cost(operation.id)); err != nil {
					edge.WriteError(w, r, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

func (a *api) admitOpen(w http.ResponseWriter, r *http.Request, cost int64) error {
	client := a.Proxies.Client(r)
	if key, err := edge.KeyOf(r.Header); err == nil {
		return a.Limits.AdmitUnproven(r.Context(), w.Header(), edge.KeyID(apikey.Hash(key)), client, cost)
	}
	return a.Limits.Admit(r.Context(), w.Header(), limit.Address, edge.Network(client), cost)
}

// known is what limits need to know of an operation.
type known struct {
	id        string
	protected bool
}

// learn notes all operations, once they are registered, by method and path.
func (a *api) learn() {
	for path, item := range a.huma.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
		} {
			if op != nil {
				a.operations[method+" "+path] = known{id: op.OperationID, protected: len(op.Security) > 0}
			}
		}
	}
}
