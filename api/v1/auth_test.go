package v1

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/store"
)

// keyring is a database that knows some keys.
type keyring struct {
	failing
	keys map[[32]byte]store.APIKey
}

func (k keyring) AuthenticateKey(_ context.Context, hash [32]byte) (store.APIKey, error) {
	return k.keys[hash], nil
}

// spaces never end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Bodies that two keys of an organization begin and never end take the room of its other
// keys, and of nobody else.
func TestTheKeysOfAnOrganizationShareItsRoomForBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ring := keyring{keys: map[[32]byte]store.APIKey{}}
		router := chi.NewRouter()
		Mount(router, Deps{Store: ring, Bodies: edge.NewReader(), Limits: edge.NewLimits(nil, nil), BaseURL: "http://test"})
		// post sends so many bytes, which are no JSON, with a new key, and then the rest.
		post := func(org, size int64, rest io.Reader) func() (status int) {
			secret, err := apikey.Generate(rand.Reader)
			require.NoError(t, err)
			ring.keys[apikey.Hash(secret)] = store.APIKey{ID: int64(len(ring.keys) + 1), OrgID: org}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Prefix+"/workflows/1/tasks",
				io.MultiReader(io.LimitReader(spaces{}, size), rest))
			r.ContentLength = edge.MaxBody
			r.Header.Set(edge.KeyHeader, secret)
			return func() int {
				w := httptest.NewRecorder()
				edge.Identify(router).ServeHTTP(w, r)
				return w.Code
			}
		}
		never, w := io.Pipe()
		defer func() { _ = w.Close() }()
		for range 2 {
			stalled := post(1, edge.MaxBody-1, never)
			go stalled()
			synctest.Wait()
		}
		require.Equal(t, http.StatusBadRequest, post(2, 1<<20, http.NoBody)(), "another organization is read")
		require.Equal(t, http.StatusServiceUnavailable, post(1, 1<<20, http.NoBody)(), "a third key has no room of its own")
	})
}
