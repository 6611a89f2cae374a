package edge

import (
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
)

// Traced puts a span around each request. It belongs to the trace that a trusted
// proxy names. Whatever others name is only linked: else anybody would decide what is
// kept, which costs us, and in which of our traces it stands.
func Traced(p Proxies, next http.Handler) http.Handler {
	public := func(r *http.Request) bool { return !p.trust(parseAddr(r.RemoteAddr)) }
	return otelhttp.NewHandler(next, "http", otelhttp.WithPublicEndpointFn(public))
}
