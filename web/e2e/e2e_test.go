// Package e2e_test drives the web app in Chromium against the real product:
// Postgres, Temporal and S3 of its own, `taskloom serve` and `taskloom worker`
// as processes that a journey may kill. The journeys are in journeys/*.spec.ts;
// this file gives them a product and a hand on it.
package e2e_test

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
)

//go:embed world.yaml
var world []byte

// limit bounds the whole walk; a single step has its own, shorter one.
const limit = 20 * time.Minute

// TestJourneys runs every journey, or those that E2E_ARGS picks:
// E2E_ARGS="keys.spec.ts --repeat-each 3". E2E_SHOTS names a directory that
// keeps pictures of the main pages, E2E_RESULTS what failed journeys left.
func TestJourneys(t *testing.T) {
	chromium := os.Getenv("CHROMIUM_PATH")
	if chromium == "" {
		chromium = "/usr/bin/chromium"
	}
	require.FileExists(t, chromium, "the journeys drive a browser: `make system` installs Chromium, CHROMIUM_PATH names another one")
	project := filepath.Join(stacktest.Root(t), "web")
	require.DirExists(t, filepath.Join(project, "node_modules", "@playwright", "test"), "`make build` installs it; it needs Node 20.19 or newer")
	require.FileExists(t, filepath.Join(project, "dist", "index.html"), "`make build` builds the web app")

	s := stacktest.Start(t, stacktest.Options{
		Document: world,
		// Many people arrive from one address here.
		Env: []string{"RATE_LIMIT_KEY=100000-M", "RATE_LIMIT_ADDRESS=100000-M", "TEMPORAL_UI_URL=http://127.0.0.1:1/temporal"},
	})
	hand := httptest.NewServer(control(t, s))
	t.Cleanup(hand.Close)

	results := cmp.Or(os.Getenv("E2E_RESULTS"), t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	args := append([]string{"playwright", "test", "--config", "e2e/playwright.config.ts"}, strings.Fields(os.Getenv("E2E_ARGS"))...)
	cmd := exec.CommandContext(ctx, "npx", args...)
	cmd.Dir = project
	cmd.Env = append(os.Environ(),
		"BASE_URL="+s.URL, "CONTROL_URL="+hand.URL, "CHROMIUM_PATH="+chromium, "E2E_WORLD="+describe(t, s),
		"E2E_RESULTS="+results, "E2E_SHOTS="+os.Getenv("E2E_SHOTS"), "FORCE_COLOR=0", "CI=true")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		showPages(t, results)
	}
	require.NoError(t, err, "journeys failed")
}

// showPages logs what stood on the pages where journeys failed: the directory
// with the pictures is gone after the test.
func showPages(t *testing.T, results string) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(results, "*", "error-context.md"))
	require.NoError(t, err)
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		require.NoError(t, err)
		t.Logf("%s:\n%s", filepath.Base(filepath.Dir(page)), raw)
	}
}

// describe tells the journeys the ids and keys of the world.
func describe(t *testing.T, s *stacktest.Stack) string {
	t.Helper()
	type org struct {
		ID        int64            `json:"id"`
		Projects  map[string]int64 `json:"projects"`
		Pipelines map[string]int64 `json:"pipelines"`
		Key       string           `json:"key"`
	}
	orgs := map[string]org{}
	for _, o := range s.Applied.Organizations {
		out := org{ID: o.ID, Projects: map[string]int64{}, Pipelines: map[string]int64{}}
		for _, p := range o.Projects {
			out.Projects[p.Name] = p.ID
		}
		for _, p := range o.Pipelines {
			out.Pipelines[p.Name] = p.ID
		}
		for _, k := range o.APIKeys {
			out.Key = k.Value
		}
		orgs[o.Slug] = out
	}
	doc, err := json.Marshal(map[string]any{"orgs": orgs, "storage": s.Value("S3_ENDPOINT")})
	require.NoError(t, err)
	return string(doc)
}

// control is what a journey may do to the product beside using it.
func control(t *testing.T, s *stacktest.Stack) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	on := func(path string, act func(r *http.Request) error) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := act(r); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	on("/serve/halt", func(*http.Request) error { s.Serve.Halt(); return nil })
	on("/serve/start", func(*http.Request) error { s.Serve.Start(); s.WaitReady(); return nil })
	on("/serve/kill", func(*http.Request) error { s.Serve.Kill(); s.WaitReady(); return nil })
	// The lease of whoever holds a node of the task ran out a moment ago.
	on("/tasks/{task}/lapse", func(r *http.Request) error {
		tag, err := s.Store().Pool().Exec(r.Context(), `UPDATE task_nodes SET lease_expires_at = now() - interval '1 second'
			WHERE task_id = $1::bigint AND status = 'claimed'`, r.PathValue("task"))
		if err == nil && tag.RowsAffected() != 1 {
			err = fmt.Errorf("task %s has %d claims", r.PathValue("task"), tag.RowsAffected())
		}
		return err
	})
	// Every session of the person is over.
	on("/sessions/{email}/end", func(r *http.Request) error {
		_, err := s.Store().Pool().Exec(r.Context(), `DELETE FROM sessions s USING users u
			WHERE u.id = s.user_id AND u.email = $1`, r.PathValue("email"))
		return err
	})
	return mux
}
