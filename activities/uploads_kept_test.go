package activities_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// An entry that cannot be used costs the rows that name it, however many there
// are, and is looked at once.
func TestABadEntryIsLookedAtOnce(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	inner := dbtest.Zip(t, dbtest.ZipEntry{Name: "x", Body: []byte("x")})
	raw := dbtest.Zip(t, append(texts("good"), dbtest.ZipEntry{Name: "nested", Body: inner})...)
	const rows = 1200 // three batches
	paths := make([]string, rows)
	for i := range paths {
		paths[i] = "nested"
		if i%2 == 0 {
			paths[i] = "good"
		}
	}
	got, result := h.run(h.upload(raw, captioned(paths...)...))
	require.Equal(t, store.UploadCompleted, got.Status, got.Message)
	require.Equal(t, []int{rows / 2, rows / 2}, []int{got.SuccessCount, got.ErrorCount})
	require.Contains(t, result.Errors[0].Message, "itself an archive")
	require.Len(t, h.files(), 1, fmt.Sprint(h.files()))
}
