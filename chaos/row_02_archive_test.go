package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/workflows"
)

// unpacker kills the worker that has an archive in its hands, before it is through. The
// other worker, which lives, must go on with it within archiveWithin. The archive has
// few files, for each becomes a task, whose start waits for its pace; and large ones, so
// that unpacking takes its time.
type unpacker struct {
	files  *uploads
	rows   int
	upload upload
	stored int // files of it when its worker died
}

func (u *unpacker) fault() Fault {
	return Fault{Name: "kill -9 of the worker that unpacks an archive", Serves: true, Inject: u.kill, During: u.goesOn}
}

func (u *unpacker) kill(ctx context.Context, r *Run) (func(context.Context) error, error) {
	up, err := u.files.put(ctx, zipOf(r.t, u.rows, 1<<20))
	if err != nil {
		return nil, err
	}
	u.upload = up
	status, answer, err := u.files.confirm(ctx, up)
	if err != nil || status != http.StatusAccepted {
		return nil, fmt.Errorf("confirm was answered %d: %.200s: %w", status, answer, err)
	}
	var victim *stacktest.Process
	begun := func(ctx context.Context) (bool, error) {
		if victim, err = r.unpacks(ctx, up.ID); victim != nil || err != nil {
			return victim != nil, err
		}
		u.stored, err = u.storedNow(ctx, r)
		return u.stored == u.rows, err
	}
	if err := r.until(ctx, begun); err != nil {
		return nil, err
	}
	if victim == nil {
		return nil, fmt.Errorf("%w: the archive was through before anybody looked", errMissed)
	}
	heal := halt([]*stacktest.Process{victim})
	if u.stored, err = u.storedNow(ctx, r); err == nil && u.stored == u.rows {
		err = fmt.Errorf("%w: the archive was through when its worker died", errMissed)
	}
	if err != nil {
		return nil, errors.Join(err, heal(ctx))
	}
	return heal, nil
}

// unpacks is the worker that has the step of an upload in its hands; nil while nobody
// has.
func (r *Run) unpacks(ctx context.Context, id string) (*stacktest.Process, error) {
	run, err := r.Temporal().DescribeWorkflowExecution(ctx, workflows.UploadRunID(id), "")
	if err != nil {
		return nil, err
	}
	for _, step := range run.GetPendingActivities() {
		if step.GetState() != enums.PENDING_ACTIVITY_STATE_STARTED {
			continue
		}
		for _, p := range r.Workers {
			if strings.Contains(p.Log(), step.GetLastWorkerIdentity()) {
				return p, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // asked again
}

func (u *unpacker) storedNow(ctx context.Context, r *Run) (int, error) {
	return r.Count(ctx, `SELECT count(*) FROM files WHERE upload_id = $1`, u.upload.ID)
}

// goesOn waits for the first file that the other worker stores.
func (u *unpacker) goesOn(ctx context.Context, r *Run) error {
	died := time.Now()
	r.eventually(ctx, archiveWithin, "the other worker goes on with the archive", func(ctx context.Context) (bool, error) {
		n, err := u.storedNow(ctx, r)
		return n > u.stored, err
	})
	r.Logf("%d of %d files were stored when the worker died, the next one %s later", u.stored, u.rows, time.Since(died).Round(time.Millisecond))
	return nil
}

// made looks at the upload's tasks in the end.
func (u *unpacker) made(ctx context.Context) {
	u.files.made(ctx, u.files.ended(ctx, u.upload.ID, recoverWithin), u.rows)
}
