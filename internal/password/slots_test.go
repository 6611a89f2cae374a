package password

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/fault"
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

// Whoever waits for a slot in vain hears so in time: nobody waits for a flood to end.
//
//nolint:paralleltest // has the slots of the process
func TestWaitingHasAnEnd(t *testing.T) {
	all := slots
	defer func() { slots = all }()
	synctest.Test(t, func(t *testing.T) {
		slots = make(chan struct{}, 1) // of the bubble, whose clock stands still for others
		slots <- struct{}{}
		for name, try := range map[string]func() error{
			"check": func() error { _, _, err := Check(t.Context(), "correct horse", ""); return err },
			"hash":  func() error { _, err := Hash(t.Context(), "correct horse"); return err },
		} {
			began := time.Now()
			err := try()
			require.Equal(t, patience, time.Since(began), name)
			var refused *fault.Error
			require.ErrorAs(t, err, &refused, name)
			require.Equal(t, fault.Unavailable, refused.Kind, name)
			require.Equal(t, time.Second, refused.RetryAfter, name)
		}
		require.Len(t, slots, 1, "who did not get a slot gives none back")
		<-slots
		_, _, err := Check(t.Context(), "correct horse", "")
		require.NoError(t, err)
		require.Empty(t, slots)
	})
}

// Each slot is 19 MiB: nobody hashes without one, however many there are. Where there are
// several processors, one is for everybody else.
//
//nolint:paralleltest // fills the slots
func TestManyLoginsTakeBoundedMemory(t *testing.T) {
	require.Equal(t, max(1, runtime.GOMAXPROCS(0)-1), cap(slots))
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
