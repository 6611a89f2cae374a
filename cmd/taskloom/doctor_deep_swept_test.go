package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/store"
)

// A file whose row is given up while the doctor asks for its object is no file any
// more: the sweep is at work meanwhile. One whose row stays is named.
func TestAFileThatIsSweptMeanwhileIsNotMissed(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	for what, c := range map[string]struct {
		// When the row goes, if it goes, and what is wrong if it stays.
		asked, wrong string
	}{
		"lost":     {http.MethodHead, ": nothing is at "},
		"longer":   {http.MethodHead, " has 4 bytes, not 3"},
		"vanishes": {http.MethodGet, ": nothing is at "},
		"other":    {http.MethodGet, " has the sha256 ade099751d2ea9f3"}, // of XYZ
	} {
		for _, peoples := range []bool{true, false} {
			for _, swept := range []bool{true, false} {
				name := fmt.Sprintf("%s, peoples %v, swept %v", what, peoples, swept)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					key := fmt.Sprintf("org/%d/files/%s", w.OrgID, uuid.New())
					f := store.File{OrgID: w.OrgID, Key: key, Size: 3, SHA256: strings.Repeat("0", 64)}
					sweep := `DELETE FROM files WHERE id = $1`
					if peoples {
						// As TaskFilesToSweep does it, before it deletes the object.
						f.ID, sweep = w.taskFile(w.OrgID, key), `UPDATE task_files SET completed_at = NULL WHERE id = $1`
					} else {
						f.ID = w.file(w.OrgID, key, nil)
					}
					srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
						if swept && r.Method == c.asked {
							if _, err := w.Store.Pool().Exec(context.WithoutCancel(r.Context()), sweep, f.ID); err != nil {
								t.Error(err)
							}
						}
						answerAs(rw, r, what)
					}))
					t.Cleanup(srv.Close)
					var there, whole deepFinding
					look := &comparing{there: &there, whole: &whole, doctor: &doctor{store: w.Store, objects: blob.Open(blob.Config{
						Endpoint: srv.URL, Region: "r", Bucket: "b", AccessKeyID: "k", SecretAccessKey: "s",
					})}}
					require.NoError(t, look.file(t.Context(), peoples, f, true))
					told := slices.Concat(there.Violations, whole.Violations)
					if swept {
						require.Empty(t, told)
						return
					}
					require.Len(t, told, 1)
					require.Contains(t, told[0], fmt.Sprintf("file %s of organization %d: ", f.ID, w.OrgID))
					require.Contains(t, told[0], c.wrong)
					require.Equal(t, what == "other", whole.Verdict == failure)
				})
			}
		}
	}
}

// answerAs is an object store of one object with ABC in it, but for what is wrong.
func answerAs(rw http.ResponseWriter, r *http.Request, what string) {
	rw.Header().Set("ETag", `"e"`)
	switch {
	case what == "lost", what == "vanishes" && r.Method == http.MethodGet:
		rw.WriteHeader(http.StatusNotFound)
		if r.Method == http.MethodGet {
			fmt.Fprint(rw, `<Error><Code>NoSuchKey</Code></Error>`)
		}
	case r.Method == http.MethodHead && what == "longer":
		rw.Header().Set("Content-Length", "4")
	case r.Method == http.MethodHead:
		rw.Header().Set("Content-Length", "3")
	default:
		rw.Header().Set("Content-Range", "bytes 0-2/3")
		rw.WriteHeader(http.StatusPartialContent)
		fmt.Fprint(rw, "XYZ")
	}
}

// No more objects are read than asked for, and all when there are no more.
func TestObjectsToReadAreSpread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		all   int64
		files int
		want  int64
	}{
		{0, 100, 1}, {99, 100, 1}, {100, 100, 1}, {101, 100, 2}, {200, 100, 2}, {201, 100, 3}, {7, 0, 7}, {1e6, -1, 1},
	} {
		require.Equal(t, c.want, readEvery(c.all, c.files), "%d of %d", c.files, c.all)
	}
}
