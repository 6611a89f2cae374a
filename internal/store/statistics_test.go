package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The largest target of all columns and expressions decides how much of a table Postgres
// reads to count it. In tables whose rows are mostly cold none may be larger than that of
// migration 0016.
func TestWhatIsColdIsCountedBySmallSamples(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const of = ` FROM pg_attribute a LEFT JOIN pg_index x ON x.indexrelid = a.attrelid
		WHERE a.attnum > 0 AND NOT a.attisdropped AND (a.attrelid IN ('tasks'::regclass, 'task_events'::regclass, 'submissions'::regclass)
			OR x.indrelid IN ('tasks'::regclass, 'task_events'::regclass, 'submissions'::regclass) AND x.indkey[a.attnum - 1] = 0)`
	require.Greater(t, b.count(`SELECT count(*)`+of), 40)
	require.Equal(t, 0, b.count(`SELECT count(*)`+of+` AND coalesce(a.attstattarget, -1) NOT BETWEEN 0 AND 20`))
}
