package edge

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// onConn is a writer of answers to what comes by a connection.
type onConn struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (c onConn) SetReadDeadline(at time.Time) error { return c.conn.SetReadDeadline(at) }

// stall sends n bytes for the owner, of more that it announces, and then one each second or
// none.
func stall(t *testing.T, rd *Reader, owner string, n int, trickles bool) error {
	t.Helper()
	here, there := net.Pipe()
	sent := make(chan struct{})
	defer func() {
		_ = here.Close()
		<-sent
	}()
	go func() {
		defer close(sent)
		_, err := io.WriteString(there, strings.Repeat("x", n))
		for trickles && err == nil {
			pass(time.Second)
			_, err = io.WriteString(there, "x")
		}
	}()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", here)
	r = r.WithContext(withExchange(r.Context(), &Exchange{owner: owner}))
	r.ContentLength = MaxBody
	body, err := rd.Read(onConn{httptest.NewRecorder(), here}, r, MaxBody)
	body.Close()
	return err
}

// Bodies that stand still, or come byte by byte, have no room for long that others wait for.
func TestBodiesThatStandStillGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		rd := NewReader()
		rd.budget.all.limit = size
		ended := make(chan error, 2)
		for i, trickles := range []bool{false, true} { // the second one may go beyond the limit
			go func() { ended <- stall(t, rd, fmt.Sprintf("org %d", i+1), size, trickles) }()
			synctest.Wait()
		}
		pass(time.Minute)
		require.Empty(t, ended, "nobody waits for room")
		began := time.Now()
		body, err := large(t, rd, "org 3", size, false)
		require.NoError(t, err)
		body.Close()
		require.LessOrEqual(t, time.Since(began), paceTime+paceLook)
		for range 2 {
			err := <-ended
			require.True(t, fault.Is(err, fault.InvalidRequest), "%v", err)
			require.ErrorContains(t, err, "send it in parts")
		}
		synctest.Wait()
		require.Zero(t, rd.budget.all.used)
		require.Empty(t, rd.budget.tickets)
	})
}

// Only those are cut whose room helps who waits, and who bring too little for no reason of
// ours.
func TestWhoIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget()
		var cut []string
		open := func(owner string, held int64) *ticket {
			body := b.open(owner)
			body.reading(func() { cut = append(cut, owner) })
			require.NoError(t, body.take(t.Context(), held))
			return body
		}
		looks := func(owner string) []string {
			cut = nil
			b.open(owner).cutSlow(1)
			slices.Sort(cut)
			return cut
		}
		still, steady := open("still", paceBytes), open("steady", paceBytes)
		open("empty", 0)
		arrived := open("arrived", paceBytes)
		require.False(t, arrived.arrived())
		require.Empty(t, looks("any"), "they have just begun")
		pass(paceTime)
		require.Empty(t, looks("any"), "they brought enough in that time")
		require.NoError(t, steady.take(t.Context(), paceBytes))
		pass(paceTime - time.Nanosecond)
		require.Empty(t, looks("any"))
		pass(time.Nanosecond)
		require.Equal(t, []string{"still"}, looks("any"))
		require.True(t, still.arrived())
		require.False(t, steady.arrived())

		// Those of an owner with a full share are in the way of each other, and of nobody else.
		open("full", shareBytes)
		beyond := open("full", 1)
		blocked := b.open("full")
		blocked.reading(func() { cut = append(cut, "blocked") })
		room, _ := blocked.try(1)
		require.False(t, room)
		open("slow", 1)
		pass(paceTime)
		require.Equal(t, []string{"full"}, looks("full"), "the one that brought a byte")
		require.Equal(t, []string{"slow"}, looks("any"))
		beyond.close()
		pass(paceTime)
		room, _ = blocked.try(1)
		require.True(t, room)
		require.Equal(t, []string{"full"}, looks("full"), "who waited until now brought nothing because of that")
	})
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
