package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/config"
)

// What worker.Run has a default for would look set when it is not passed on.
func TestTheWorkerHasTheSettingsOfItsProcess(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{
		"CACHED_RUNS=77", "DATABASE_MAX_CONNS=5", "TEMPORAL_NAMESPACE=prod", "UPLOAD_MAX_ENTRIES=3",
	})
	require.NoError(t, err)
	d := (&process{config: c}).workerDeps()
	require.Equal(t, 77, d.CachedRuns)
	require.Equal(t, 5, d.PoolSize)
	require.Equal(t, "prod", d.Namespace)
	require.Equal(t, 3, d.Limits.Entries)
	require.Nil(t, d.Objects, "no object store is no value in the interface")
}
