package password

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// These tests fill the slots of the process, so they run while no other does.

func fillSlots(t *testing.T) (free func()) {
	t.Helper()
	require.Empty(t, slots)
	for range cap(slots) {
		slots <- struct{}{}
	}
	return func() {
		for range cap(slots) {
			<-slots
		}
	}
}

//nolint:paralleltest // fills the slots
func TestWaitingEndsWithTheRequest(t *testing.T) {
	defer fillSlots(t)()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Check(ctx, "correct horse", "")
	require.ErrorIs(t, err, context.Canceled)
	_, err = Hash(ctx, "correct horse")
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, slots, cap(slots), "who did not get a slot gives none back")
}

// Each slot is 19 MiB: nobody hashes without one, however many there are.
//
//nolint:paralleltest // fills the slots
func TestManyLoginsTakeBoundedMemory(t *testing.T) {
	require.Equal(t, runtime.GOMAXPROCS(0), cap(slots))
	free := fillSlots(t)
	ctx, cancel := context.WithCancel(t.Context())
	many := 12 * cap(slots)
	errs := make(chan error, many)
	for range many {
		go func() {
			_, _, err := Check(ctx, "correct horse", "")
			errs <- err
		}()
	}
	cancel()
	for range many {
		require.ErrorIs(t, <-errs, context.Canceled, "it hashed without a slot")
	}
	free()

	var g errgroup.Group
	for range many {
		g.Go(func() error {
			_, _, err := Check(t.Context(), "correct horse", "")
			return err
		})
	}
	require.NoError(t, g.Wait())
	require.Empty(t, slots, "each slot is given back")
}
