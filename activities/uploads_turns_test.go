package activities

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/giveway"
)

// waits is people who wait for their steps.
type waits struct {
	behind time.Duration
	err    error
	takes  time.Duration // to answer
	hangs  atomic.Bool   // until nobody waits for the answer
	asked  atomic.Int32
}

func (w *waits) StepsBehind(ctx context.Context) (time.Duration, error) {
	w.asked.Add(1)
	if w.hangs.Load() {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	select {
	case <-time.After(w.takes):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return w.behind, w.err
}

// While people wait, fewer and fewer files are on their way, but some are; when
// nobody waits, they become more again, also while none comes to its end.
func TestFilesGiveWayToPeople(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		people := &waits{}
		turns := newFileTurns(people, 8)
		var leaves []func()
		enterAll := func() (n int) { // as many as there may be now
			for {
				soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				leave, err := turns.enter(soon)
				cancel()
				if err != nil {
					require.ErrorIs(t, err, context.DeadlineExceeded)
					return len(leaves)
				}
				leaves = append(leaves, leave)
			}
		}
		leaveAll := func() {
			for _, leave := range leaves {
				leave()
			}
			leaves = nil
		}
		require.Equal(t, 8, enterAll())
		require.EqualValues(t, 1, people.asked.Load(), "once for all of them")

		people.behind = stepsWait + 1
		for _, want := range []int{4, filesLeast, filesLeast} {
			leaveAll()
			<-time.After(giveway.Every) // of the bubble's clock
			require.Equal(t, want, enterAll())
		}
		leaveAll()
		people.err = errors.New("Postgres is away")
		<-time.After(giveway.Every)
		asked := people.asked.Load()
		require.Equal(t, filesLeast, enterAll(), "as many as before")
		require.Equal(t, asked+1, people.asked.Load(), "nobody asks again at once")

		people.behind, people.err = stepsWait, nil
		leave, err := turns.enter(t.Context()) // none of the others leaves
		require.NoError(t, err)
		leave()
		<-time.After(10 * giveway.Every)
		require.Equal(t, filesLeast+2, enterAll(), "one more each time it learns")
	})
}

// Who waits for a turn gets it as soon as another one leaves.
func TestATurnIsPassedOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newFileTurns(&waits{}, 1)
		leave, err := turns.enter(t.Context())
		require.NoError(t, err)
		began := time.Now()
		time.AfterFunc(time.Millisecond, leave)
		leave, err = turns.enter(t.Context())
		require.NoError(t, err)
		require.Equal(t, time.Millisecond, time.Since(began))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = turns.enter(gone)
		require.ErrorIs(t, err, context.Canceled)
		leave()
	})
}

// Who stores one file after the other is behind those who wait, after each of them:
// an archive of many files keeps no other one waiting for its end.
func TestTurnsGoToWhoCameFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newFileTurns(&waits{}, 1)
		leave, err := turns.enter(t.Context())
		require.NoError(t, err)
		order := make(chan string, 3)
		for _, name := range []string{"second", "third"} {
			go func() {
				leave, err := turns.enter(t.Context())
				if !assert.NoError(t, err) {
					return
				}
				order <- name
				<-time.After(time.Millisecond)
				leave()
			}()
			synctest.Wait()
		}
		leave()
		leave, err = turns.enter(t.Context()) // at once, as for the next file
		require.NoError(t, err)
		order <- "first again"
		leave()
		for _, want := range []string{"second", "third", "first again"} {
			require.Equal(t, want, <-order)
		}
	})
}

// Who gives up in the moment in which the turn becomes theirs gives it to the next.
func TestATurnOfWhoGivesUpIsPassedOn(t *testing.T) {
	t.Parallel()
	took, gaveUp := 0, 0
	for n := range 100 {
		synctest.Test(t, func(t *testing.T) {
			turns := newFileTurns(&waits{}, 1)
			leave, err := turns.enter(t.Context())
			require.NoError(t, err)
			gone, cancel := context.WithCancel(t.Context())
			go func() {
				if leave, err := turns.enter(gone); err == nil {
					took++
					leave()
				} else {
					gaveUp++
				}
			}()
			synctest.Wait()
			began, next := time.Now(), make(chan time.Duration, 1)
			go func() {
				if leave, err := turns.enter(t.Context()); assert.NoError(t, err) {
					next <- time.Since(began)
					leave()
				}
			}()
			synctest.Wait()
			if n%2 == 0 {
				leave()
			}
			cancel()
			if n%2 == 1 {
				leave() // mostly before the other has run
			}
			synctest.Wait()
			require.Len(t, next, 1, "at once")
			require.Zero(t, <-next)
			_, err = turns.enter(gone)
			require.ErrorIs(t, err, context.Canceled)
			soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			leave, err = turns.enter(soon)
			require.NoError(t, err, "none is lost")
			leave()
		})
	}
	require.Positive(t, took)
	require.Positive(t, gaveUp)
}

// Postgres that does not answer keeps nobody from a turn that has come.
func TestALearnerTakesItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		people := &waits{}
		turns := newFileTurns(people, 1)
		leave, err := turns.enter(t.Context())
		require.NoError(t, err)
		people.hangs.Store(true)
		time.AfterFunc(giveway.Every+time.Millisecond, leave)
		began := time.Now()
		leave, err = turns.enter(t.Context())
		require.NoError(t, err)
		require.Equal(t, giveway.Every+time.Millisecond, time.Since(began))
		require.EqualValues(t, 2, people.asked.Load())
		leave()
		<-time.After(2 * learnTime)
	})
}

// Who asked for all may be over before the answer comes.
func TestTheAnswerOutlivesWhoAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		people := &waits{}
		turns := newFileTurns(people, 8)
		for range 8 {
			leave, err := turns.enter(t.Context())
			require.NoError(t, err)
			time.AfterFunc(giveway.Every+time.Millisecond, leave)
		}
		people.behind, people.takes = stepsWait+1, learnTime/2
		batch, over := context.WithCancel(t.Context())
		leave, err := turns.enter(batch)
		require.NoError(t, err)
		leave()
		over()
		<-time.After(learnTime)
		require.EqualValues(t, 2, people.asked.Load())
		turns.mu.Lock()
		defer turns.mu.Unlock()
		require.Equal(t, 4, int(turns.pace.Now()))
	})
}
