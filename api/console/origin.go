package console

import (
	"mime"
	"net/http"
	"net/url"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
)

// sameOrigin refuses what a browser sends on behalf of another site. No path
// is exempt.
func sameOrigin(publicURL string) func(http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		// Behind a proxy the Host may be an inner one; browsers still name
		// this origin. It cannot be invalid, for it was just taken apart.
		if err := guard.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			panic(err)
		}
	}
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		edge.WriteError(w, r, fault.New(fault.Forbidden, "this request came from another site"))
	}))
	return guard.Handler
}

// requireJSON refuses bodies that an HTML form could have made.
func requireJSON(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
			if err != nil || media != "application/json" {
				edge.WriteError(w, r, edge.UnsupportedMedia("send JSON with Content-Type: application/json"))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
