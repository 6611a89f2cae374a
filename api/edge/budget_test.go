package edge

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

// large sends a body of n bytes for the owner; a stalled one never ends.
func large(t *testing.T, rd *Reader, owner string, n int, stalls bool) (Body, error) {
	t.Helper()
	var body io.Reader = strings.NewReader(`"` + strings.Repeat("x", n-2) + `"`)
	if stalls {
		pipe, w := io.Pipe()
		t.Cleanup(func() { _ = w.Close() })
		body = io.MultiReader(io.LimitReader(body, int64(n)), pipe)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
	r = r.WithContext(withExchange(r.Context(), &Exchange{owner: owner}))
	r.ContentLength = MaxBody
	if !stalls {
		r.ContentLength = int64(n)
	}
	return rd.Read(httptest.NewRecorder(), r, MaxBody)
}

// What was announced and does not come takes nothing away from others.
func TestIdleBodiesBlockNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rd := NewReader()
		for i := range 64 {
			go func() { _, _ = large(t, rd, fmt.Sprintf("key %d", i%4), 1000, true) }()
		}
		synctest.Wait()
		for _, owner := range []string{"key 0", "key 9"} {
			body, err := large(t, rd, owner, MaxBody/4, false)
			require.NoError(t, err)
			require.Len(t, body.Bytes, MaxBody/4)
			body.Close()
		}
	})
}

// One owner who sends much and never ends leaves room for others.
func TestAnOwnerHasAShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rd := NewReader()
		for range 5 { // the last one goes beyond the share
			go func() { _, _ = large(t, rd, "key 1", MaxBody/4, true) }()
		}
		synctest.Wait()
		require.LessOrEqual(t, rd.budget.owners["key 1"].used, int64(shareBytes+MaxBody))
		body, err := large(t, rd, "key 2", MaxBody/4, false)
		require.NoError(t, err)
		body.Close()
		_, err = large(t, rd, "key 1", MaxBody/4, false)
		require.True(t, fault.Is(err, fault.Unavailable), "after %s: %v", turnWait, err)
		small, err := large(t, rd, "key 1", freeBytes, false)
		require.NoError(t, err, "small bodies pass")
		small.Close()
	})
}

// Bodies that arrive at the same time, each in part, do not wait for each other
// for ever: all come through, and together they stay within the limits.
func TestBodiesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget()
		const step = MaxBody / 32
		done := make(chan error)
		for i := range 12 {
			go func() {
				ticket := b.open(fmt.Sprintf("key %d", i%3))
				defer ticket.close()
				for range 32 {
					if err := ticket.take(t.Context(), step); err != nil {
						done <- err
						return
					}
					b.mu.Lock()
					within := b.all.used <= budgetBytes+MaxBody && b.owners[ticket.owner].used <= shareBytes+MaxBody
					b.mu.Unlock()
					if !within {
						done <- fmt.Errorf("%d bytes are held", b.all.used)
						return
					}
				}
				done <- nil
			}()
		}
		for range 12 {
			require.NoError(t, <-done)
		}
		synctest.Wait()
		require.Zero(t, b.all.used)
		require.Empty(t, b.owners)
	})
}

func TestBudgetNeverLocks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			b, order := newBudget(), rand.New(rand.NewPCG(seed, 0))
			tickets := make([]*ticket, 10)
			left := make([]int64, len(tickets))
			for i := range tickets {
				tickets[i], left[i] = b.open(fmt.Sprintf("key %d", i%4)), MaxBody
			}
			for open := len(tickets); open > 0; {
				moved := false
				for _, i := range order.Perm(len(tickets)) {
					if left[i] == 0 {
						continue
					}
					n := min(left[i], 1+order.Int64N(MaxBody/8))
					if room, _ := tickets[i].try(n); !room {
						continue
					}
					moved = true
					if left[i] -= n; left[i] == 0 {
						tickets[i].close()
						open--
					}
				}
				require.True(t, moved, "everybody waits for somebody else")
			}
		})
	}
}

func TestCallersWhoLeaveDoNotWait(t *testing.T) {
	t.Parallel()
	b := newBudget()
	first, second := b.open("key"), b.open("key")
	require.NoError(t, first.take(t.Context(), shareBytes+1))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, second.take(gone, 1))
}

func TestBodiesGrowWithWhatArrives(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, freeBytes - 1, freeBytes, freeBytes + 1, 1 << 20, 1<<20 + 7} {
		body, err := large(t, NewReader(), "key", n, false)
		require.NoError(t, err)
		require.Len(t, body.Bytes, n)
		require.LessOrEqual(t, cap(body.Bytes), max(n+1, freeBytes), "in memory once")
	}
	require.Equal(t, freeBytes, cap(grow(nil, MaxBody)), "whatever is announced")
}
