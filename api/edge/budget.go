package edge

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/taskloom/taskloom/internal/fault"
)

// How many bytes the large bodies that are being worked on may have together
// (the memory is about three times as much), which bodies count as large, and
// how long one waits for its turn.
const (
	budgetBytes = 4 * MaxBody
	largeBody   = 1 << 20
	turnWait    = 15 * time.Second
)

// budget keeps many large bodies at a time from exhausting memory. Small ones
// pass freely.
type budget struct{ bytes *semaphore.Weighted }

func newBudget() *budget { return &budget{bytes: semaphore.NewWeighted(budgetBytes)} }

// take waits until n bytes are free and returns what gives them back.
func (b *budget) take(ctx context.Context, n int64) (release func(), err error) {
	if n <= largeBody {
		return func() {}, nil
	}
	wait, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	if err := b.bytes.Acquire(wait, n); err != nil {
		return nil, fault.New(fault.Unavailable, "too many large requests at a time; try again").After(time.Second)
	}
	return func() { b.bytes.Release(n) }, nil
}
