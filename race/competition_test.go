package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake gives the same value of every figure, and writes down when it had its turn.
type fake struct {
	name    string
	figures []figure
	turns   *[]string
}

func (f *fake) info() info                         { return info{Name: f.name} }
func (f *fake) setup(context.Context, *room) error { return nil }
func (f *fake) close(*room)                        {}

func (f *fake) sample(context.Context, *room) (*sample, error) {
	*f.turns = append(*f.turns, f.name)
	s := newSample()
	for _, x := range f.figures {
		if !x.None {
			s.Values[x.Name] = 1
		}
	}
	return s, nil
}

// aRoom is one in which nothing but fakes takes part.
func aRoom(t *testing.T, args ...string) *room {
	t.Helper()
	o, err := parseOptions(append([]string{"-results", ""}, args...), io.Discard)
	require.NoError(t, err)
	return &room{options: o, progress: io.Discard, results: &results{}}
}

// compete lets two fakes take part, and returns their turns.
func compete(t *testing.T, r *room, c *competition) string {
	t.Helper()
	var turns []string
	c.contenders = []contender{&fake{name: "A", figures: c.figures, turns: &turns}, &fake{name: "B", figures: c.figures, turns: &turns}}
	require.NoError(t, c.run(t.Context(), r))
	return strings.Join(turns, "")
}

// The races whose samples take longest, and that of faults, go by the rules of all.
func TestAllGoThereAndBackAfterTheNoise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		race string
		of   func(*room) *competition
	}{{"held", heldCompetition}, {"chaos", chaosCompetition}} {
		t.Run(c.race, func(t *testing.T) {
			t.Parallel()
			r := aRoom(t)
			require.Equal(t, "AAAA"+strings.Repeat("ABBA", 3), compete(t, r, c.of(r)))
			x := r.results.Races[0]
			require.Equal(t, c.race, x.Race)
			require.Equal(t, 3, x.Rounds)
			require.Equal(t, "A", x.NoiseOf)
			for _, f := range x.Figures {
				if !f.None {
					require.Contains(t, x.Noise, f.Name)
				}
			}
			require.Len(t, x.Contenders[1].Samples, 6)

			few := aRoom(t, "-rounds", "1", "-noise=false")
			require.Equal(t, "ABBA", compete(t, few, c.of(few)))
		})
	}
}

// What they have to reach is claimed, and not only told.
func TestAimsOfHeldAndChaosAreJudgedAsAllOthers(t *testing.T) {
	t.Parallel()
	r := aRoom(t)
	for _, c := range []*competition{heldCompetition(r), chaosCompetition(r)} {
		compete(t, r, c)
		x := r.results.Races[len(r.results.Races)-1]
		x.Contenders[0].Name, x.Contenders[0].Contract = ours, contractOurs
		lines := x.verdicts()
		require.Len(t, lines, len(slices.DeleteFunc(slices.Clone(x.Figures), func(f figure) bool { return f.Bound == 0 })))
		for _, line := range lines {
			require.Regexp(t, `: met \(1`, line)
		}
		bound := x.Figures[slices.IndexFunc(x.Figures, func(f figure) bool { return f.Bound > 0 })]
		x.Noise[bound.Name] = 1.2
		require.Contains(t, x.verdicts()[0], "! not claimed, the noise is above 5 %")
		x.Noise[bound.Name], x.Contenders[0].Samples[0].Values[bound.Name] = 1, 0.1*bound.Bound
		x.Contenders[0].Samples[1].Values[bound.Name] = 0.1 * bound.Bound
		require.Contains(t, x.verdicts()[0], "! not claimed, the rounds differ")
	}
}

// The bound on requests at a time is lifted for ours, so that ours as it ships stands
// beside it, with queues of any length.
func TestOursAsItShipsIsRacedWithAnyQueue(t *testing.T) {
	t.Parallel()
	r := aRoom(t)
	for _, plan := range []claimPlan{r.longPlan(64), r.shortPlan(64)} {
		var names []string
		for _, x := range claimsCompetition(r, 64, plan).contenders {
			names = append(names, x.info().Name)
		}
		require.Subset(t, names, []string{ours, taskloomWithRuns.name, taskloomBounded.name, pgBoss.name})
	}
}

// Of all races a few have those who were asked for; where none has, a name is wrong.
func TestARaceThatNobodyWasAskedForIsLeftOut(t *testing.T) {
	t.Parallel()
	r := aRoom(t, "-contenders", "horses")
	require.NoError(t, chaosRace(t.Context(), r))
	require.Empty(t, r.results.Races)
	require.ErrorContains(t, errors.Join(r.results.wrong()...), "nobody took part")
}
