package edge

import (
	"net/http"
	"regexp"

	"github.com/google/uuid"
)

// RequestIDHeader names a request in answers and logs.
const RequestIDHeader = "X-Request-Id"

var validRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// Identify gives every request an id: the caller's own when it is a harmless
// one, so that a chain of services shares it, else a new one. It opens the
// exchange that the other middlewares use.
func Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := requestID(r)
		w.Header().Set(RequestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(withExchange(r.Context(), &Exchange{ID: id})))
	})
}

func requestID(r *http.Request) string {
	if id := r.Header.Get(RequestIDHeader); validRequestID.MatchString(id) {
		return id
	}
	return uuid.NewString()
}

// ShowProblems lets the error answers of a surface list single problems.
func ShowProblems(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		From(r.Context()).problems = true
		next.ServeHTTP(w, r)
	})
}
