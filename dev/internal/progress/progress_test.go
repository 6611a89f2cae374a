package progress_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/dev/internal/progress"
)

func TestOnlyWhatTakesLongIsShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := progress.New(&out)
		quick := r.Start("Postgres", "starting")
		slow := r.Start("Temporal", "starting")
		wait(1900 * time.Millisecond)
		quick.Done(nil)
		wait(time.Second)
		slow.Doing("preparing its database")
		slow.Doing("preparing its database")
		wait(time.Second)
		slow.Done(nil)
		failed := r.Start("S3", "")
		wait(3 * time.Second)
		failed.Done(errors.New("no"))
		r.Say("All %s.", "set")

		require.Equal(t, `  Temporal: starting …
  Temporal: preparing its database …
  Temporal: done in 3.9s
  S3 …
  S3: stopped after 3s
All set.
`, out.String())
	})
}

// wait lets the bubble's own clock run.
func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
