package edge

import "net/http"

// apiCSP forbids everything: an API's answers are no documents.
const apiCSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Harden sets the security headers of every answer. secure says that callers
// arrive by HTTPS.
func Harden(secure bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
			h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
			if secure {
				h.Set("Strict-Transport-Security", "max-age=31536000")
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Private marks what only this caller may see: no cache keeps it.
func Private(vary ...string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Security-Policy", apiCSP)
			h.Set("Cache-Control", "no-store")
			for _, name := range vary {
				h.Add("Vary", name)
			}
			next.ServeHTTP(w, r)
		})
	}
}
