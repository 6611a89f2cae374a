package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// looks are ten done a second, with an outage from the third second to the ninth, in
// which nobody can look, and a slow second after it.
func looks(began time.Time) []progress {
	var out []progress
	done := 0
	for second := range 20 {
		switch {
		case second > 3 && second < 9:
			continue
		case second == 9 || second == 10:
			done++
		case second > 0:
			done += 10
		}
		out = append(out, progress{began.Add(time.Duration(second) * time.Second), done})
	}
	return out
}

func TestAnOutageInWhichNobodyCouldLookIsPartOfTheWorst(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	h := &havoc{progress: looks(began)}
	require.InDelta(t, 1.0/6, h.worst(at(3.5), at(9.5)), 0.01, "six seconds with one item, from the last look before it")
	require.InDelta(t, 10, h.worst(at(16), at(19)), 0.01)
	require.Zero(t, (&havoc{}).worst(at(0), at(1)), "nobody could look")
}

func TestRecoveryIsTheEndOfAGoodStretch(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	h := &havoc{r: &room{options: options{chaosHeal: time.Minute}}, progress: looks(began)}
	end, ok := h.reached(at(4), 9)
	require.True(t, ok)
	require.Equal(t, at(13), end, "the first stretch of 3 s that had the rate begins at the tenth second")
	_, ok = h.reached(at(4), 11)
	require.False(t, ok)
	took, err := h.awaitRate(t.Context(), at(4), 9)
	require.NoError(t, err)
	require.Equal(t, 9*time.Second, took)
}
