package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

// TestMix looks at whether there is enough to claim, and not more open than
// anybody works on.
func TestMix(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]mathcheck.Mix{
		"-script burst":                             {Free: 20_000, Claimed: 500, Escalated: 500},
		"-script burst -tasks 2000 -scale 0.1":      {Free: 1000, Claimed: 100, Escalated: 100},
		"-script peak":                              {Free: 20_000, Claimed: 500, Escalated: 500}, // 10,800 in half an hour
		"-script peak -dur 2h":                      {Free: 48_520, Claimed: 500, Escalated: 500},
		"-script day -compress 16":                  {Free: 61_192, Claimed: 500, Escalated: 500},
		"-script soak":                              {Free: 181_575, Claimed: 500, Escalated: 500},
		"-script stress -dur 50m":                   {Free: 95_000, Claimed: 500, Escalated: 500},
		"-script outage":                            {Claimed: 500, Escalated: 500},
		"-script growth -tasks 1000":                {Free: 500, Claimed: 50, Escalated: 50},
		"-script quarter -tasks 10000000 -scale 10": {Free: 20_000, Claimed: 500, Escalated: 500},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			o, err := parseOptions(strings.Fields(args), t.Output())
			require.NoError(t, err)
			got := o.mix()
			require.InEpsilon(t, float64(want.Free+1), float64(got.Free+1), 0.01)
			require.Equal(t, want.Claimed, got.Claimed)
			require.Equal(t, want.Escalated, got.Escalated)
		})
	}
}
