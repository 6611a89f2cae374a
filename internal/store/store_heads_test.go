package store

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// One of those who come looks where a queue begins, once a second; what was known
// counts meanwhile, and after five seconds without a look it is forgotten.
func TestOneLooksWhereAQueueBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, q := newQueueHeads(), queueName{1, pipeline.KindSubtask}
		begin := func(at queuePosition, look bool) {
			t.Helper()
			gotAt, gotLook := h.begin(q)
			require.Equal(t, at, gotAt)
			require.Equal(t, look, gotLook)
		}
		first, second := queuePosition{0, 7}, queuePosition{0, 9}
		begin(queueFront, true)
		begin(queueFront, false) // others do not wait for it
		require.Equal(t, first, h.looked(q, &first))
		begin(first, false)
		require.Equal(t, queueFront, h.lately(queueName{1, pipeline.KindReview}), "every queue by itself")
		pass := func(d time.Duration) { // of the bubble's own time
			<-time.After(d)
			synctest.Wait()
		}
		pass(lookAgain)
		begin(first, true)
		begin(first, false)
		h.looked(q, &second)
		pass(lookedLongAgo - lookAgain) // the first look was five seconds ago
		require.Equal(t, second, h.lately(q))
		pass(lookAgain)
		require.Equal(t, queueFront, h.lately(q))
		begin(queueFront, true)

		// A look that fails moves nothing, and the next one comes as soon.
		h.looked(q, &second)
		for range 3 * int(lookedLongAgo/lookAgain) {
			pass(lookAgain)
			begin(second, true)
			require.Equal(t, second, h.looked(q, nil))
			begin(second, false)
		}
		pass(lookedLongAgo)
		begin(queueFront, true)
	})
}
