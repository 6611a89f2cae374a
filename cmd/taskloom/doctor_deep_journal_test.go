package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A journal that a newer version went on with is told as that, not as rows that
// are wrong.
func TestAnOlderDoctorSaysThatItIs(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.exec(`UPDATE task_events SET kind = 'conjure' WHERE task_id = $1 AND seq = 1`, w.free)
	out := w.deep().out
	require.Contains(t, section(t, out, "journal-readable"), fmt.Sprintf(`task %d: event 1 is of kind "conjure", which this version does not know`, w.free))
	require.Contains(t, section(t, out, "rows-follow-journal"), "ok  ")
}
