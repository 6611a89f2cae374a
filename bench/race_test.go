package main

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAComparisonKeepsItsTurns(t *testing.T) {
	t.Parallel()
	b := &bench{report: &report{}, progress: io.Discard}
	b.compare(&measure{Case: "x", Unit: unitMillis, Noise: 1}, []float64{2, 1}, []float64{3, 5})
	doc, err := json.Marshal(b.report.Measures[0])
	require.NoError(t, err)
	require.Contains(t, string(doc), `"floor":{"median":1.5,"min":1,"max":2,"n":2,"values":[2,1]}`, "in the order in which they were taken")
	require.Contains(t, string(doc), `"ours":{"median":4,"min":3,"max":5,"n":2,"values":[3,5]}`)
}
