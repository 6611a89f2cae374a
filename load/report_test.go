package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/procfs"
	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/record"
)

// TestTheLastLookEndsTheLog has a script that has stopped its series before.
func TestTheLastLookEndsTheLog(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	var log bytes.Buffer
	var err error
	r.rec, err = record.New(r.began, &log)
	require.NoError(t, err)
	r.rec.Record(record.Key{Phase: warmup, Op: "submit", Class: record.OK}, time.Millisecond, 200, "")
	require.NotContains(t, log.String(), "submit")
	require.NoError(t, r.lastLook(t.Context()))
	require.Contains(t, log.String(), "warmup.submit.ok")
}

func TestNoneCreated(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	require.NoError(t, r.noneCreated(), "none was tried")
	failed := record.Key{Phase: "peak", Op: "create-32mb", Class: record.Failed}
	for range 2 {
		r.rec.Record(failed, time.Millisecond, http.StatusInternalServerError, "500 broken")
	}
	require.ErrorContains(t, r.noneCreated(), `none of 2 tries of create-32mb succeeded; the first error: "500 broken"`)
	failed.Class = record.OK
	r.rec.Record(failed, time.Millisecond, http.StatusOK, "")
	require.NoError(t, r.noneCreated(), "availability is about the others")
}

// TestMemoryIsThePeak has a worker that is killed, and looks that miss the peaks.
func TestMemoryIsThePeak(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	r.sumMemory()
	require.NotContains(t, r.numbers.get(), slo.Memory)
	r.keepPeak("serve-1", procfs.Memory{Now: 90 * megabyte, Peak: 100 * megabyte})
	r.keepPeak("worker-1", procfs.Memory{Now: 80 * megabyte, Peak: 300 * megabyte})
	r.keepPeak("worker-1", procfs.Memory{Now: 40 * megabyte, Peak: 40 * megabyte})
	r.sumMemory()
	require.InDelta(t, 300, r.numbers.get()[slo.Memory], 1e-9)
	require.InDelta(t, 100, r.numbers.get()["memory serve-1, peak MB"], 1e-9)
}

func TestProcessorsSharedBySessionAreTold(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	r.noteSharing("0")
	r.noteSharing("") // the kernel has no such setting
	require.Empty(t, r.notes.get())
	r.noteSharing("1")
	require.Contains(t, strings.Join(r.notes.get(), ""), "sysctl kernel.sched_autogroup_enabled=0")
}

func TestServesShareTheirProcessors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		serves int
		set    string
		want   []string
	}{
		"alone":          {1, "", []string{"REQUESTS_PER_PROCESSOR=2"}},
		"two":            {2, "", []string{"REQUESTS_PER_PROCESSOR=1"}},
		"many":           {9, "", []string{"REQUESTS_PER_PROCESSOR=1"}},
		"said for each":  {2, "REQUESTS_PER_PROCESSOR", nil},
		"said in number": {2, "REQUESTS_AT_ONCE", nil},
	} {
		got := options{serves: c.serves}.places(func(name string) string {
			if name == c.set {
				return "7"
			}
			return ""
		})
		require.Equal(t, c.want, got, name)
	}
}
