package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// Every file that a row names is looked for, with its size and its bytes, and
// what nothing refers to is found once it is old enough.
func TestDeepFiles(t *testing.T) {
	t.Parallel()
	if os.Getenv("S3_BUCKET") == "" {
		t.Skip("needs the object store of `make test`")
	}
	w := newWard(t)
	a := &app{environ: append(os.Environ(), w.environ...)}
	c, err := a.config("DATABASE_URL")
	require.NoError(t, err)
	d := &doctor{config: c, store: w.Store, objects: newObjects(c.S3)}
	ctx := t.Context()
	names := map[string]string{} // what → key
	for what, sum := range map[string]string{
		"fine":   "b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78", // of ABC
		"longer": "b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78",
		"other":  strings.Repeat("0", 64),
		"lost":   strings.Repeat("0", 64),
	} {
		key := fmt.Sprintf("org/%d/files/%s/%s", w.OrgID, uuid.New(), uuid.New())
		names[what] = key
		w.exec(`INSERT INTO files (id, org_id, object_key, name, size, sha256, content_type) VALUES ($1, $2, $3, $4, 3, $5, 'text/plain')`,
			key[len(key)-36:], w.OrgID, key, what, sum)
		body := map[string]string{"longer": "ABCD", "lost": ""}[what]
		if body == "" {
			body = "ABC"
		}
		if what != "lost" {
			_, err := d.objects.Put(ctx, key, "text/plain", int64(len(body)), strings.NewReader(body))
			require.NoError(t, err)
			t.Cleanup(func() { _ = d.objects.Delete(context.WithoutCancel(ctx), key) })
		}
	}
	found, err := d.deepFiles(ctx, nil, deepOptions{files: -1, orphanAge: orphanAge})
	require.NoError(t, err)
	require.Len(t, found, 3, "nobody breaks the others on purpose")
	there, whole, orphans := found[0], found[1], found[2]
	require.EqualValues(t, 2, there.Total, there.Violations)
	require.Contains(t, strings.Join(there.Violations, "\n"), "nothing is at "+names["lost"])
	require.Contains(t, strings.Join(there.Violations, "\n"), names["longer"]+" has 4 bytes, not 3")
	require.Equal(t, failure, whole.Verdict)
	require.Len(t, whole.Violations, 1)
	require.Contains(t, whole.Violations[0], names["other"])
	require.NotContains(t, strings.Join(orphans.Violations, "\n"), fmt.Sprintf("org/%d/files/", w.OrgID), "they are young, and they have rows")

	stray := fmt.Sprintf("org/%d/files/%s/%s", w.OrgID, uuid.New(), uuid.New())
	_, err = d.objects.Put(ctx, stray, "text/plain", 3, strings.NewReader("ABC"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.objects.Delete(context.WithoutCancel(ctx), stray) })
	left, err := d.store.Unreferenced(ctx, 0, []string{names["fine"], stray})
	require.NoError(t, err)
	require.Equal(t, []string{stray}, left)
	var f deepFinding
	require.NoError(t, d.findOrphans(ctx, deepOptions{}, &f, time.Now().Add(time.Hour)))
	require.Positive(t, f.Total)
}

// What nothing refers to is told when it is old enough.
func TestOrphansAreToldOnceTheyAreOld(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	stray := fmt.Sprintf("org/%d/files/x", w.OrgID)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("list-type") {
			answerAs(rw, r, "")
			return
		}
		if r.URL.Query().Get("start-after") == "" {
			fmt.Fprintf(rw, `<ListBucketResult><Contents><Key>%s</Key><LastModified>%s</LastModified></Contents></ListBucketResult>`,
				stray, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339))
			return
		}
		fmt.Fprint(rw, `<ListBucketResult></ListBucketResult>`)
	}))
	t.Cleanup(srv.Close)
	w.environ = append(w.environ, "S3_ENDPOINT="+srv.URL, "S3_REGION=r", "S3_BUCKET=b", "S3_ACCESS_KEY_ID=k", "S3_SECRET_ACCESS_KEY=s")
	require.NotContains(t, w.deep().out, stray, "a sweep may come to it")
	require.NotContains(t, w.deep("--orphan-age", "2h").out, stray)
	require.Contains(t, w.deep("--orphan-age", "30m").out, "object "+stray)
	require.Contains(t, w.deep("--orphan-age", "0s").out, "object "+stray)
}
