package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/load/internal/record"
)

// TestOneOfTenIsLarge hands in and gives verdicts, thirty times each.
func TestOneOfTenIsLarge(t *testing.T) {
	t.Parallel()
	var sizes []int
	r := standing(t, func(q *http.Request) (int, string, string) {
		raw, err := io.ReadAll(q.Body)
		require.NoError(t, err)
		sizes = append(sizes, len(raw))
		return http.StatusOK, "{}", ""
	})
	r.enter("peak", 0)
	of := func(op string) int64 {
		return r.rec.Select(func(k record.Key) bool { return k.Op == op && k.Class == record.OK }).N()
	}
	large := func() (n int) {
		for _, size := range sizes {
			if size == largeBody {
				n++
			}
			require.LessOrEqual(t, size, largeBody)
		}
		sizes = nil
		return n
	}
	for range 30 {
		require.NoError(t, r.submit(t.Context(), &hold{person: &person{}, ends: time.Now()}))
	}
	require.Equal(t, 3, large())
	require.EqualValues(t, 30, of("submit"), "they are among all others")
	require.EqualValues(t, 3, of(submitLarge))
	for i := range 30 {
		require.NoError(t, r.verdict(t.Context(), &hold{person: &person{}, ends: time.Now()}, i%2 == 0))
	}
	require.Equal(t, 3, large())
	require.EqualValues(t, 30, of("verdict"))
	require.EqualValues(t, 3, of(verdictLarge))
	_, all := r.callsOf(counts)
	require.EqualValues(t, 60, all, "each is one call")

	r.script = "cost"
	for range 30 {
		require.NoError(t, r.submit(t.Context(), &hold{person: &person{}, ends: time.Now()}))
	}
	require.Zero(t, large(), "what a task costs is compared with earlier runs")
}

func TestALargeFormIsTakenByItsPipeline(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	f := form.New(mathcheck.Definition().Nodes[1].Fields)
	v := r.largeAnswers()
	require.Len(t, handedIn(v), largeBody)
	_, problems := f.CheckSubmission(v, form.Values{"question": json.RawMessage(`"How many?"`)})
	require.Empty(t, problems)
}

func TestALargeVerdictHasCommentsOfAPermittedLength(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	for _, verdict := range []map[string]any{
		{"verdict": "approve"},
		{"verdict": "reject", "comments": []map[string]string{{"field": "answer", "text": "Please count again.", "verdict": "wrong"}}},
	} {
		body := r.remarked(verdict)
		require.Len(t, body, largeBody)
		var sent struct {
			Verdict  string
			Comments []struct{ Field, Text string }
		}
		require.NoError(t, json.Unmarshal(body, &sent))
		require.Equal(t, verdict["verdict"], sent.Verdict)
		for _, c := range sent.Comments {
			require.NotEmpty(t, strings.TrimSpace(c.Text))
			require.LessOrEqual(t, len(c.Text), mostRemark)
		}
	}
}
