package main

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/internal/measure/zipgen"
)

// TestFollowUpload has the clock of a bubble, so waits are exact.
func TestFollowUpload(t *testing.T) {
	t.Parallel()
	const (
		confirmed = `{"status":"processing"}`
		rows      = `{"status":"processing","progress":{"rows_done":5}}`
		done      = `{"status":"completed","success_count":20}`
	)
	for name, c := range map[string]struct {
		bodies           []string // in turn; an empty one is a limit that was met
		asked            []time.Duration
		rate             float64
		ingested, unsure int64
		bad              string
	}{
		"gets in": {
			bodies: []string{confirmed, rows, rows, done}, asked: []time.Duration{0, uploadLook, uploadLook, uploadLook}, rate: 80 / 3.0, ingested: 20,
		},
		"comes again when it is told to": {
			bodies: []string{"", "", rows, done}, asked: []time.Duration{0, 7 * time.Second, 7 * time.Second, uploadLook}, rate: 20 / 14.25, ingested: 20,
		},
		"fails": {
			bodies: []string{rows, `{"status":"failed","message":"no file is one"}`}, asked: []time.Duration{0, uploadLook}, unsure: 20,
			bad: "the upload is failed: no file is one",
		},
		"lacks some": {
			bodies: []string{`{"status":"completed","success_count":19}`}, asked: []time.Duration{0}, ingested: 19, bad: "19 of 20 files became tasks",
		},
		"makes too many": {
			bodies: []string{`{"status":"completed","success_count":21}`}, asked: []time.Duration{0}, ingested: 20, bad: "21 of 20 files became tasks",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var asked []time.Duration
				last := time.Now()
				r := standing(t, func(*http.Request) (int, string, string) {
					body := c.bodies[len(asked)]
					asked, last = append(asked, time.Since(last)), time.Now()
					if body == "" {
						return http.StatusTooManyRequests, "", "7"
					}
					return http.StatusOK, body, ""
				})
				err := r.followUpload(t.Context(), zipgen.Archive{Files: 20}, "/upload", "key", time.Now())
				if c.bad == "" {
					require.NoError(t, err)
					require.Len(t, r.facts.archives, 1)
					require.InEpsilon(t, c.rate, ingestRate(r.facts.archives), 1e-9)
				} else {
					require.EqualError(t, err, c.bad)
					require.Empty(t, r.facts.archives, "its speed says nothing")
				}
				require.Equal(t, c.asked, asked)
				require.Equal(t, [2]int64{c.ingested, c.unsure}, [2]int64{r.facts.ingested, r.facts.unsure})
			})
		})
	}
}

// TestArchivesBesideEachOther has a second one that goes on alone.
func TestArchivesBesideEachOther(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	after := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	for name, c := range map[string]struct {
		archives []ingestion
		rate     float64
	}{
		"alone, all the time":  {[]ingestion{{10_000, after(0), after(50)}}, 200},
		"as long as the other": {[]ingestion{{10_000, after(0), after(100)}, {10_000, after(0), after(100)}}, 200},
		"one of them is quick": {[]ingestion{{10_000, after(0), after(50)}, {10_000, after(0), after(100)}}, 200},
		"one of them is late":  {[]ingestion{{10_000, after(50), after(80)}, {10_000, after(0), after(100)}}, 200},
	} {
		r := standing(t, nil)
		r.late = r.rec
		for _, a := range c.archives {
			require.NoError(t, r.facts.archived(a, a.files), name)
		}
		r.sum()
		require.InEpsilon(t, c.rate, r.numbers.get()[slo.IngestRate], 1e-9, name)
	}
}

// TestAnArchiveThatFailsFailsTheRun has one that is not even begun.
func TestAnArchiveThatFailsFailsTheRun(t *testing.T) {
	t.Parallel()
	r := standing(t, func(*http.Request) (int, string, string) { return http.StatusInternalServerError, "broken", "" })
	r.archive = archiveShape{files: 10_000, size: 100}
	r.ingest(t.Context(), 1)
	require.Len(t, r.failures.get(), 1)
	require.ErrorContains(t, r.failures.get()[0], "begin an upload: 500 broken")
	require.Len(t, r.notes.get(), 1, "and is told with the results")
}

// TestKeysOfArchives looks that nobody else asks with the keys of archives.
func TestKeysOfArchives(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range keyCount {
		w.keys = append(w.keys, string(rune('a'+i)))
	}
	require.NotEqual(t, w.archiveKey(0), w.archiveKey(1))
	for seed := range uint64(archiveCount) {
		require.NotContains(t, w.keys[:integratorCount+creatorCount], w.archiveKey(seed))
	}
}
