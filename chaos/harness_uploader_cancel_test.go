package chaos

import (
	"context"
	"fmt"
	"net/http"
)

// opCancel is what admins do to an upload.
const opCancel = "cancel upload"

// withdraw stores an archive that an admin cancels before its program confirms it, which
// is refused then.
func (u *uploader) withdraw(ctx context.Context, home <-chan struct{}) error {
	var up upload
	archive := zipOf(u.run.t, rowsOfUpload, 2000)
	err := u.until(ctx, home, func() error {
		var err error
		up, err = u.put(ctx, archive)
		return err
	})
	if err != nil {
		return err
	}
	_, err = u.admin.do(ctx, request{
		Op: Op{Kind: opCancel}, method: http.MethodPost, path: fmt.Sprintf("/api/console/pipelines/%d/uploads/%s/cancel", u.pipeline, up.ID),
	})
	if err != nil {
		return err
	}
	u.cancelled = append(u.cancelled, up)
	return u.until(ctx, home, func() error {
		status, answer, err := u.confirm(ctx, up)
		if status == http.StatusAccepted {
			u.run.Violate("I1: upload %s was cancelled, and its confirmation was accepted", up.ID)
			return nil
		}
		if err == nil && status != http.StatusConflict {
			err = fmt.Errorf("%d %.200s", status, answer)
		}
		return err
	})
}

// checkCancelled is I1 and I12 of uploads whose end an admin was told of: each is over,
// made no task, and is in the audit log once, however often that was asked for.
func (u *uploader) checkCancelled(ctx context.Context) error {
	for _, up := range u.cancelled {
		tasks, err := u.tasksOf(ctx, up.ID)
		if err != nil {
			return err
		}
		over, err := u.run.Count(ctx, `SELECT count(*) FROM uploads WHERE id = $1 AND status = 'cancelled' AND reason = 'withdrawn'`, up.ID)
		if err != nil {
			return err
		}
		if over != 1 || len(tasks) > 0 {
			u.run.Violate("I1: upload %s was cancelled before it was confirmed; its row says so %d times, and it made the tasks %v", up.ID, over, tasks)
		}
		rows, err := u.run.Count(ctx, `SELECT count(*) FROM audit_log WHERE action = 'upload.cancel' AND object = 'upload/' || $1::text`, up.ID)
		if err != nil {
			return err
		}
		if rows != 1 {
			u.run.Violate("I12: the audit log has %d rows of the cancelling of upload %s", rows, up.ID)
		}
	}
	u.run.Logf("%d uploads were cancelled", len(u.cancelled))
	return nil
}
