package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/process"
)

func TestAPollCostsAllProcesses(t *testing.T) {
	t.Parallel()
	r := &pollRun{
		server: &process.Process{Name: "serve"}, millis: make([]float64, 1000), statuses: map[int]int{http.StatusNotModified: 250},
		used: []usage{{"serve": 1, "postgres": 2, usageClient: 3, "temporal": 1, usageOthers: 50}, {"serve": 1}},
	}
	require.InDelta(t, 8, r.cpuMillis(), 1e-9, "what others do is not ours")
	require.InDelta(t, 4, r.cpuMillis(r.parts()...), 1e-9)
	require.InDelta(t, 25, r.unchanged(), 1e-9)
	require.Zero(t, (&pollRun{}).unchanged(), "JSON has no word for a share of nothing")
}
