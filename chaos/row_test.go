package chaos

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A row says what happened when something broke: each of its faults must have found
// something, those of every round.
func TestARowWhoseFaultMissedProvesNothing(t *testing.T) {
	t.Parallel()
	breaks := func(missed int) Fault { // that often, before it finds something
		return Fault{Name: "a fault", Inject: func(context.Context, *Run) (func(context.Context) error, error) {
			if missed--; missed >= 0 {
				return nil, errMissed
			}
			return nil, nil //nolint:nilnil // nothing to heal
		}}
	}
	nobody := Fault{Name: "a cut that nobody met", Inject: func(context.Context, *Run) (func(context.Context) error, error) {
		return func(context.Context) error { return errMissed }, nil
	}}
	for name, c := range map[string]struct {
		row    Row
		proves bool
	}{
		"each broke something":       {Row{Faults: []Fault{breaks(0), breaks(0)}}, true},
		"each round":                 {Row{Faults: []Fault{breaks(0), breaks(0)}, Rounds: 3}, true},
		"at the second look":         {Row{Faults: []Fault{breaks(0), breaks(1)}}, true},
		"one found nothing":          {Row{Faults: []Fault{breaks(0), breaks(1000)}}, false},
		"one was healed for nothing": {Row{Faults: []Fault{breaks(0), nobody}}, false},
	} {
		r := &Run{History: newHistory(), t: t, ctx: t.Context(), faults: map[string]int{}}
		for range max(1, c.row.Rounds) {
			for _, f := range c.row.Faults {
				heal := r.inject(t.Context(), f.Name, f.again(20*time.Millisecond))
				r.heal(t.Context(), f.Name, f, heal)
			}
		}
		err := c.row.proves(r.injected())
		require.Equal(t, c.proves, err == nil, "%s: %v", name, err)
	}
}
