package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/taskloom/taskloom/api/edge"
)

// maxTagged bounds the answers that get an entity tag: to make one, an answer
// is held back until it is whole. Nothing that is polled comes near.
const maxTagged = 8 << 20

// unchanged answers a GET with 304 when the caller has that very answer: it
// names the tag of the earlier one in If-None-Match. The tag covers the
// session as well as the body, so what one person was told says nothing to
// another, and a new session begins anew. The operation runs either way: who
// may no longer see something hears that, and not that nothing changed.
func unchanged(sessionCookie string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				next.ServeHTTP(w, r)
				return
			}
			t := &tagged{ResponseWriter: w}
			next.ServeHTTP(t, r)
			t.finish(r, sessionCookie)
		})
	}
}

// tagged holds an answer back, as long as it may get a tag.
type tagged struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
	// passing is set once the answer goes out as it comes.
	passing bool
}

// WriteHeader notes the status of an answer that may get a tag and passes on
// that of any other.
func (t *tagged) WriteHeader(status int) {
	if t.status != 0 {
		return
	}
	t.status = status
	h := t.Header()
	if status != http.StatusOK || h.Get("ETag") != "" || !strings.HasPrefix(h.Get("Content-Type"), "application/json") {
		t.pass()
	}
}

func (t *tagged) Write(b []byte) (int, error) {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	if !t.passing && t.body.Len()+len(b) > maxTagged {
		t.pass()
	}
	if t.passing {
		return t.ResponseWriter.Write(b)
	}
	return t.body.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (t *tagged) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// pass sends what was held back, and all that follows at once.
func (t *tagged) pass() {
	t.passing = true
	t.ResponseWriter.WriteHeader(t.status)
	_, _ = t.ResponseWriter.Write(t.body.Bytes()) // a caller who left misses it
	t.body = bytes.Buffer{}
}

func (t *tagged) finish(r *http.Request, sessionCookie string) {
	if t.passing || t.status == 0 {
		return
	}
	tag := entityTag(r, sessionCookie, t.body.Bytes())
	h := t.Header()
	h.Set("ETag", tag)
	if edge.Matches(r.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Type")
		h.Del("Content-Length")
		t.ResponseWriter.WriteHeader(http.StatusNotModified)
		return
	}
	t.pass()
}

// entityTag is weak: the same content may be encoded in other ways.
func entityTag(r *http.Request, sessionCookie string, body []byte) string {
	sum := sha256.New()
	if c, err := r.Cookie(sessionCookie); err == nil {
		session := sha256.Sum256([]byte(c.Value))
		sum.Write(session[:])
	}
	sum.Write(body)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12]) + `"`
}
