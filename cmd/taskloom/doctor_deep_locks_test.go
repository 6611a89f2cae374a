package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

// tables names every table of the product.
func (w *ward) tables() []string {
	w.t.Helper()
	rows, _ := w.Store.Pool().Query(w.t.Context(), `SELECT relname FROM pg_class
		WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY relname`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w.t, err)
	require.Contains(w.t, names, "task_nodes")
	return names
}

// doctor asks this database by connections of its own, an object store that is
// empty, and a Temporal that runs nothing.
func (w *ward) doctor() *doctor {
	w.t.Helper()
	st, err := store.Open(w.t.Context(), strings.TrimPrefix(w.environ[0], "DATABASE_URL="), store.Options{MaxConns: 2})
	require.NoError(w.t, err)
	w.t.Cleanup(st.Close)
	empty := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(rw, `<ListBucketResult></ListBucketResult>`)
	}))
	w.t.Cleanup(empty.Close)
	return &doctor{
		store: st, config: config.Config{S3: config.S3{Bucket: "b"}},
		objects:    blob.Open(blob.Config{Endpoint: empty.URL, Region: "r", Bucket: "b", AccessKeyID: "k", SecretAccessKey: "s"}),
		temporalUp: true, temporal: faultyTemporal{unknown: "nothing"},
	}
}

// TestTheDoctorNeedsNoLockButToRead lets another session hold every table in
// EXCLUSIVE mode: only who does nothing but read gets past it. What locks a row, or
// writes one, waits.
func TestTheDoctorNeedsNoLockButToRead(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.lock(strings.Join(w.tables(), ", ") + " IN EXCLUSIVE MODE")
	var out bytes.Buffer
	sick, err := w.doctor().deep(t.Context(), &app{out: &out, err: &out}, deepOptions{patience: lockedFor, drained: true, files: -1}, nil)
	require.NoError(t, err)
	require.False(t, sick, out.String())
	require.Equal(t, len(store.InvariantList())+6, strings.Count("\n"+out.String(), "\nok "), out.String())
}

// TestTheDoctorKeepsNobodyWaiting stops the doctor at each table that it reads, and
// looks at all that it holds then: locks of readers, in no transaction that has a
// number, which is what it takes to change anything. Stopped in the snapshot of most
// of its questions, it lets people claim and hand in.
func TestTheDoctorKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	d := w.doctor()
	read := map[string]bool{}
	for _, table := range w.tables() {
		release := w.lock(table)
		ended := make(chan error, 1)
		go func() {
			var out bytes.Buffer
			_, err := d.deep(t.Context(), &app{out: &out, err: &out}, deepOptions{drained: true}, nil)
			ended <- err
		}()
		over := false
		for !over && !read[table] {
			select {
			case err := <-ended:
				require.NoError(t, err)
				over = true
			case <-time.After(5 * time.Millisecond):
				read[table] = w.heldAtStand(table)
			}
		}
		if table == "task_files" {
			require.True(t, read[table])
			c := w.claim(1)
			_, err := w.Store.Submit(t.Context(), w.Contributors[1], c.ID, form.Values{"answer": json.RawMessage(`"43"`)})
			require.NoError(t, err)
			require.True(t, w.heldAtStand(table), "the doctor went on meanwhile")
		}
		release()
		if !over {
			require.NoError(t, <-ended)
		}
	}
	for _, table := range []string{"tasks", "task_nodes", "task_events", "submissions", "drafts", "outbox", "files", "uploads", "audit_log"} {
		require.True(t, read[table], "the doctor was not seen at %s", table)
	}
}

// heldAtStand reports whether somebody waits for a table, and fails the test for any
// lock of theirs that is not a reader's.
func (w *ward) heldAtStand(table string) bool {
	rows, _ := w.Store.Pool().Query(w.t.Context(), `SELECT coalesce(l.relation::regclass::text, ''), l.locktype, l.mode FROM pg_locks l
		WHERE l.pid IN (SELECT pid FROM pg_locks WHERE NOT granted AND relation = to_regclass($1))`, table)
	var what, kind, mode string
	waits := false
	_, err := pgx.ForEachRow(rows, []any{&what, &kind, &mode}, func() error {
		waits = true
		if own := kind == "virtualxid" && mode == "ExclusiveLock"; !own {
			require.Equal(w.t, "relation AccessShareLock", kind+" "+mode, "at %s the doctor holds a lock on %q", table, what)
		}
		return nil
	})
	require.NoError(w.t, err)
	return waits
}

// TestTheDoctorDoesNotHang locks everything for good: each question ends when its
// time is over, and each check says so.
func TestTheDoctorDoesNotHang(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	d := w.doctor()
	w.lock(strings.Join(w.tables(), ", "))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, look := range map[string]func(context.Context, *app, deepOptions) ([]deepFinding, error){
		"data": d.deepData, "runs": d.deepRuns, "files": d.deepFiles,
	} {
		found, err := look(ctx, &app{}, deepOptions{patience: lockedFor / 30, drained: true, files: -1})
		require.NoError(t, err, name)
		require.NotEmpty(t, found, name)
		for _, f := range found {
			if f.Name == "runs-work" || f.Name == "no-orphans" {
				continue // they ask Temporal, and the object store, which has nothing to ask about
			}
			require.Equal(t, skipped, f.Verdict, "%s: %s", f.Name, f.Advice)
			require.Equal(t, adviceLate, f.Advice, f.Name)
		}
	}
}
