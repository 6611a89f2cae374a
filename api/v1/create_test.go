package v1

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// failing is a database whose creations end in err.
type failing struct {
	Store
	version *pipeline.Pipeline
	err     error
}

func (failing) AuthenticateKey(context.Context, [32]byte) (store.APIKey, error) {
	return store.APIKey{ID: 1, OrgID: 1}, nil
}

func (failing) Pipeline(context.Context, int64, int64) (store.PipelineRow, error) {
	return store.PipelineRow{ID: 1, OrgID: 1, Status: "ACTIVE", VersionID: new(int64(1))}, nil
}

func (f failing) Version(context.Context, int64) (*pipeline.Pipeline, error) { return f.version, nil }

func (failing) FindAnswer(context.Context, store.IdempotencyKey) (*store.Answer, error) {
	return nil, nil //nolint:nilnil // as the database says that there is none
}

func (f failing) CreateTasks(context.Context, store.CreateTasks) (store.Created, error) {
	return store.Created{}, f.err
}

// Where the answer to COMMIT is lost, a repetition is safe with a key alone.
func TestACreationThatMayHaveHappenedIsNotToldToBeRepeated(t *testing.T) {
	t.Parallel()
	d, err := pipeline.Parse([]byte(`{"name": "One", "nodes": [{"key": "start", "kind": "start"},
		{"key": "work", "kind": "subtask", "fields": [{"name": "question", "type": "short_text", "input": "seeded"}]},
		{"key": "end", "kind": "end"}], "edges": [{"from": "start", "to": "work"}, {"from": "work", "to": "end"}]}`))
	require.NoError(t, err)
	away := fault.New(fault.Unavailable, "the database is not available right now; try again")
	lost := away.Because(fmt.Errorf("%w: %w", store.ErrUncertain, io.ErrUnexpectedEOF))
	secret, err := apikey.Generate(rand.Reader)
	require.NoError(t, err)
	for name, row := range map[string]struct {
		err    error
		key    string
		status int
		code   fault.Kind
	}{
		"lost, without a key": {lost, "", 500, fault.Internal},
		"lost, with a key":    {lost, "once", 503, fault.Unavailable},
		"away, without a key": {away.Because(io.ErrUnexpectedEOF), "", 503, fault.Unavailable},
	} {
		router := chi.NewRouter()
		Mount(router, Deps{
			Store: failing{version: pipeline.Compile(d), err: row.err}, Bodies: edge.NewReader(), Limits: edge.NewLimits(nil, nil), BaseURL: "http://test",
		})
		r := httptest.NewRequest(http.MethodPost, Prefix+"/workflows/1/tasks", strings.NewReader(`{"tasks": [{"fields": {"question": "q"}}]}`))
		r.Header.Set("Authorization", "Bearer "+secret)
		if row.key != "" {
			r.Header.Set(idempotencyHeader, row.key)
		}
		w := httptest.NewRecorder()
		edge.Identify(router).ServeHTTP(w, r)
		require.Equal(t, row.status, w.Code, "%s: %s", name, w.Body)
		var body Error
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
		require.Equal(t, string(row.code), body.Error, name)
		require.Equal(t, row.status == 503, w.Header().Get("Retry-After") != "", name)
		require.Equal(t, row.status == 500, strings.Contains(body.Message, "List the newest tasks before you repeat this"), name)
		require.NotContains(t, body.Message, "unexpected EOF")
	}
}
