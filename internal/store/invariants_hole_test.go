package store_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// A broken row that lacks a value its words are made of is told like every other. As an
// error it would end the check, and hide what all later questions find.
func TestWordsWithAHoleAreTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for sql, want := range map[string]string{
		`SELECT 7::bigint, NULL::text`:    "task 7: something is missing there that nothing is without",
		`SELECT NULL::bigint, NULL::text`: "task -: something is missing there that nothing is without",
		`SELECT NULL::bigint, 'whole'`:    "whole",
	} {
		var task, n int64
		var words string
		row := b.Store.Pool().QueryRow(t.Context(), store.QuestionOf(sql), 0, math.MaxInt64, "1m")
		require.NoError(t, row.Scan(&task, &words, &n))
		require.Equal(t, want, words)
		require.EqualValues(t, 1, n)
	}
}
