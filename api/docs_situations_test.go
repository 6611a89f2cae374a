package api_test

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// situations by the name of their example, or by the operation's id and the
// name where an operation has its own.
func situations() map[string]situation {
	all := map[string]situation{
		"up": asItIs, "active": asItIs, "one_field": asItIs, "waiting": asItIs,

		"no_key":         sent(without("X-API-Key")),
		"malformed_key":  sent(with("X-API-Key", "pk_test_1")),
		"unknown_key":    sent(with("X-API-Key", apikey.Prefix+strings.Repeat("0", 40))),
		"different_keys": sent(with("Authorization", "Bearer "+apikey.Prefix+strings.Repeat("0", 40))),
		"revoked_key":    endedBy("revoked_at"),
		"expired_key":    endedBy("expires_at"),

		"no_such_workflow":     at("workflow_id", 987654321),
		"workflow_id_is_no_id": at("workflow_id", "abc"),
		"no_such_task":         at("task_id", 987654321),
		"task_id_is_no_id":     at("task_id", "abc"),

		"too_many_requests": tooOften(),
		"too_many_failures": tooOften(with("X-API-Key", "pk_live_1")),
		"internal_error":    failing(errors.New("canary")),
		"database_away":     databaseAway,

		"draft_not_complete": after(`UPDATE pipelines SET status = 'DRAFT', version_id = NULL, draft = '{"nodes": 7}'`),
	}
	maps.Copy(all, creations())
	maps.Copy(all, lists())
	maps.Copy(all, uploads())
	return all
}

// asItIs sends the good request.
func asItIs(t *testing.T, b *bench, op *huma.Operation) answer {
	t.Helper()
	return b.call(t, op).send(t, b)
}

func sent(headers ...header) situation {
	return func(t *testing.T, b *bench, op *huma.Operation) answer {
		t.Helper()
		return b.call(t, op).send(t, b, headers...)
	}
}

// at replaces an id of the path.
func at(parameter string, value any) situation {
	return func(t *testing.T, b *bench, op *huma.Operation) answer {
		t.Helper()
		c := b.call(t, op)
		c.path[parameter] = value
		return c.send(t, b)
	}
}

// after changes a world of its own before the request is sent.
func after(sql string) situation {
	return func(t *testing.T, _ *bench, op *huma.Operation) answer {
		t.Helper()
		b := worldFor(t, op)
		c := b.call(t, op)
		b.exec(t, sql)
		return c.send(t, b)
	}
}

// endedBy sends a key that was good once.
func endedBy(column string) situation {
	return func(t *testing.T, b *bench, op *huma.Operation) answer {
		t.Helper()
		value, err := apikey.Generate(rand.Reader)
		require.NoError(t, err)
		hash := apikey.Hash(value)
		b.exec(t, `INSERT INTO api_keys (org_id, name, hash, last4, created_by, created_at, `+column+`)
			VALUES ($1, $2, $3, $4, $5, now() - interval '1 hour', now())`, b.OrgID, value, hash[:], apikey.Last4(value), b.Admin)
		return b.call(t, op).send(t, b, with("X-API-Key", value))
	}
}

// tooOften sends a request twice where one is the most.
func tooOften(headers ...header) situation {
	return func(t *testing.T, b *bench, op *huma.Operation) answer {
		t.Helper()
		c := b.call(t, op)
		strict := metered(t, b.World, 1)
		c.send(t, strict, headers...)
		return c.send(t, strict, headers...)
	}
}

// locked is a store that cannot even look up a key.
type locked struct {
	*store.Store
	err error
}

func (s locked) AuthenticateKey(context.Context, [32]byte) (store.APIKey, error) {
	return store.APIKey{}, s.err
}

// failing answers with a store that fails as told.
func failing(err error) situation {
	return func(t *testing.T, b *bench, op *huma.Operation) answer {
		t.Helper()
		c := b.call(t, op)
		return c.send(t, serve(t, b.World, func(d *api.Deps) { d.Store = locked{b.Store, err} }))
	}
}

// databaseAway asks a server whose database does not listen.
func databaseAway(t *testing.T, b *bench, op *huma.Operation) answer {
	t.Helper()
	away, err := store.Open(t.Context(), "postgres://taskloom@127.0.0.1:1/taskloom?sslmode=disable", store.Options{})
	require.NoError(t, err)
	t.Cleanup(away.Close)
	return b.call(t, op).send(t, serve(t, b.World, func(d *api.Deps) { d.Store = away }))
}

// creations are the situations of createTasks.
func creations() map[string]situation {
	const key = "4b0f9a5e-6f0d-4c8e-9d2a-7c1e5b3a8f60"
	return map[string]situation{
		"all_created":  posting("two_tasks", nil),
		"some_created": posting("with_a_mistake", nil),
		"every_task_failed": posting("", map[string]any{
			"tasks": []any{map[string]any{"fields": map[string]any{"qestion": "What is 7 times 8?"}}},
		}),
		"malformed_json":            posting("", `{"tasks": [}`),
		"body_too_late":             posting("", iotest.ErrReader(os.ErrDeadlineExceeded)), // as a connection's read says
		"malformed_idempotency_key": sent(with("Idempotency-Key", `"open`)),
		"still_running":             stillRunning(key),
		"body_too_large":            posting("", strings.Repeat(" ", 32<<20+1)),
		"not_json":                  sent(with("Content-Type", "text/csv")),
		"body_does_not_fit":         posting("", `{}`),
		"too_many_tasks":            posting("", questions(5001)),
		"workflow_takes_no_tasks":   after(`UPDATE pipelines SET status = 'COMPLETED'`),
		"needs_zip_upload":          needsZIP,
		"other_body": func(t *testing.T, b *bench, op *huma.Operation) answer {
			t.Helper()
			c := b.call(t, op)
			c.headers = append(c.headers, with("Idempotency-Key", key))
			require.Less(t, c.send(t, b).Status, http.StatusBadRequest)
			c.body = questions(1)
			return c.send(t, b)
		},
		"created_perhaps": func(t *testing.T, b *bench, op *huma.Operation) answer {
			t.Helper()
			return b.call(t, op).send(t, serve(t, b.World, func(d *api.Deps) { d.Store = uncertain{b.Store} }))
		},
		"published_meanwhile": func(t *testing.T, b *bench, op *huma.Operation) answer {
			t.Helper()
			return b.call(t, op).send(t, serve(t, b.World, func(d *api.Deps) {
				d.Store = &publishing{Store: b.Store, times: 99}
			}))
		},
	}
}

// uncertain is a store whose database does not answer to COMMIT.
type uncertain struct{ *store.Store }

func (uncertain) CreateTasks(context.Context, store.CreateTasks) (store.Created, error) {
	return store.Created{}, store.ErrUncertain
}

// posting sends another body: one of the document, or the one given.
func posting(name string, body any) situation {
	return func(t *testing.T, b *bench, op *huma.Operation) answer {
		t.Helper()
		c := b.call(t, op)
		if c.body = body; name != "" {
			c.body = requestExample(t, op, name)
		}
		return c.send(t, b)
	}
}

func needsZIP(t *testing.T, _ *bench, op *huma.Operation) answer {
	t.Helper()
	b := setup(t, dbtest.WithDefinition(withScan()))
	return b.call(t, op).send(t, b)
}

// entering is a store that tells when a creation begins, and holds it.
type entering struct {
	*store.Store
	entered, leave chan struct{}
}

// hold waits within the transaction.
func (s entering) hold() {
	close(s.entered)
	<-s.leave
}

func (s entering) CreateTasks(ctx context.Context, in store.CreateTasks) (store.Created, error) {
	answer := in.Answer
	in.Answer = func(ids []int64) (int, []byte) { s.hold(); return answer(ids) }
	return s.Store.CreateTasks(ctx, in)
}

func (s entering) CreateUpload(ctx context.Context, in store.NewUpload) (store.Upload, *store.Answer, error) {
	answer := in.Answer
	in.Answer = func(u store.Upload) (int, []byte) { s.hold(); return answer(u) }
	return s.Store.CreateUpload(ctx, in)
}

func (s entering) ConfirmUpload(ctx context.Context, in store.ConfirmUpload) (store.Upload, *store.Answer, error) {
	answer := in.Answer
	in.Answer = func(u store.Upload) (int, []byte) { s.hold(); return answer(u) }
	return s.Store.ConfirmUpload(ctx, in)
}

// stillRunning sends a request a second time while the first is in the middle
// of its transaction.
func stillRunning(key string) situation {
	return func(t *testing.T, _ *bench, op *huma.Operation) answer {
		t.Helper()
		b := worldFor(t, op)
		c := b.call(t, op)
		c.headers = append(c.headers, with("Idempotency-Key", key))
		s := entering{b.Store, make(chan struct{}), make(chan struct{})}
		first := make(chan answer)
		slow := serve(t, b.World, func(d *api.Deps) { d.Store, d.Uploads = s, ready })
		go func() { first <- c.send(t, slow) }()
		<-s.entered
		second := c.send(t, b)
		close(s.leave)
		require.Less(t, (<-first).Status, http.StatusBadRequest)
		return second
	}
}

// lists are the situations of listTasks.
func lists() map[string]situation {
	query := func(tasks int, q string) situation {
		return func(t *testing.T, _ *bench, op *huma.Operation) answer {
			t.Helper()
			b := setup(t)
			if tasks > 0 {
				b.created(t, tasks)
			}
			c := b.call(t, op)
			c.query = q
			return c.send(t, b)
		}
	}
	return map[string]situation{
		"first_page":  query(2, "?limit=1"),
		"last_page":   query(1, ""),
		"bad_limit":   query(0, "?limit=500"),
		"bad_status":  query(0, "?status=done"),
		"bad_cursor":  query(0, "?cursor=garbage"),
		"given_twice": query(0, "?limit=10&limit=20"),
	}
}
