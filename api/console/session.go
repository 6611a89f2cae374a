package console

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// sessionTTL ends a session however busy it is; the store ends idle ones
// earlier.
const sessionTTL = 30 * 24 * time.Hour

// tokenBytes is the randomness of a session cookie.
const tokenBytes = 32

// cookie is how the session travels.
type cookie struct {
	name   string
	secure bool
}

// newCookie uses the __Host- prefix where callers arrive by HTTPS: such a
// cookie cannot be planted from a sibling domain.
func newCookie(publicURL string) cookie {
	if strings.HasPrefix(publicURL, "https://") {
		return cookie{name: "__Host-sid", secure: true}
	}
	return cookie{name: "sid"}
}

func (c cookie) set(value string, ttl time.Duration) string {
	// Secure follows the deployment: a browser drops such a cookie on plain HTTP.
	hc := http.Cookie{ //nolint:gosec // see above
		Name: c.name, Value: value, Path: "/", MaxAge: int(ttl.Seconds()),
		Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		hc.MaxAge = -1
	}
	return hc.String()
}

// token returns what the request's cookie holds, "" without one.
func (c cookie) token(r *http.Request) string {
	hc, err := r.Cookie(c.name)
	if err != nil {
		return ""
	}
	return hc.Value
}

// newToken makes the value of a session cookie. Only its hash is stored, so a
// copy of the database opens no session.
func newToken(rand io.Reader) (string, error) {
	var b [tokenBytes]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", fmt.Errorf("make session token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// maxAgent bounds what is kept of a User-Agent, in bytes.
const maxAgent = 300

// agent is what a browser says it is, so that people can tell their sessions
// apart.
func agent(r *http.Request) string {
	name := strings.ToValidUTF8(r.UserAgent(), "\uFFFD")
	if len(name) > maxAgent {
		name = strings.ToValidUTF8(name[:maxAgent], "")
	}
	return strings.ReplaceAll(name, "\x00", "")
}

func hashToken(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// sessionUser returns who the request's session belongs to.
func (a *api) sessionUser(r *http.Request) (store.User, error) {
	token := a.cookie.token(r)
	if token == "" {
		return store.User{}, fault.New(fault.Unauthorized, "log in first")
	}
	return a.Store.SessionUser(r.Context(), hashToken(token))
}

// Request gives a handler the request itself.
type Request struct{ r *http.Request }

// Resolve is called by huma before the handler.
func (q *Request) Resolve(ctx huma.Context) []error {
	q.r, _ = humachi.Unwrap(ctx)
	return nil
}
