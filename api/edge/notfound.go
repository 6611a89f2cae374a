package edge

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// NotFound answers for a path that no route has.
func NotFound(w http.ResponseWriter, r *http.Request) {
	WriteError(w, r, fault.New(fault.NotFound, "there is nothing at this path"))
}

// methods are those that routes have.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// noMethod is one that chi knows and no operation has.
const noMethod = http.MethodTrace

// AnyMethod routes requests with all other methods alike, as if with noMethod.
// chi answers one that it does not know before it comes to the part of the router
// that the path belongs to: without that part's limits and headers. The request
// itself keeps its method.
func AnyMethod(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(methods, r.Method) {
			chi.RouteContext(r.Context()).RouteMethod = noMethod
		}
		next.ServeHTTP(w, r)
	})
}

// MethodNotAllowed answers for a path that has routes, but none for the
// method, and says in Allow which it has. root is the outermost router.
func MethodNotAllowed(root chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allow []string
		for _, m := range methods {
			if root.Match(chi.NewRouteContext(), m, r.URL.Path) {
				allow = append(allow, m)
				if m == http.MethodGet {
					allow = append(allow, http.MethodHead)
				}
			}
		}
		if len(allow) == 0 { // a method that nobody knows, at a path that is none
			NotFound(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allow, ", "))
		WriteError(w, r, withStatus(http.StatusMethodNotAllowed,
			fault.New(fault.Conflict, "%s is not possible here; use %s", knownMethod(r.Method), strings.Join(allow, " or "))))
	}
}
