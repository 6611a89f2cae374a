package planted_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// fieldScan is what people may fill in with a file, beside the answer.
	fieldScan = "scan"
	// scanned is in every file.
	scanned = "what somebody has scanned\n"
	// heldWithin is how long a completion may go through as usual, although it is to be
	// held: a server that is busy with a checkpoint hears of a setting late.
	heldWithin = time.Minute
)

// holdable lets the commit of a completion wait for a standby where one is named, and
// no other commit: those are local. Where none is named both are the same.
var holdable = []string{
	`CREATE OR REPLACE FUNCTION planted_hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM set_config('synchronous_commit', 'on', true);
		RETURN NEW;
	END $$`,
	`CREATE OR REPLACE TRIGGER planted_hold BEFORE UPDATE OF completed_at ON task_files FOR EACH ROW EXECUTE FUNCTION planted_hold()`,
	`ALTER SYSTEM SET synchronous_commit = 'local'`,
	`SELECT pg_reload_conf()`,
}

// hold names a standby, of which there is none; letGo ends that.
var (
	hold  = []string{`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`, `SELECT pg_reload_conf()`}
	letGo = []string{`ALTER SYSTEM RESET synchronous_standby_names`, `SELECT pg_reload_conf()`}
)

// completeUnanswered completes a file whose commit counts and is not answered, and asks
// again: of what is complete then there must be the bytes. A caller who leaves does not
// suffice, for the commit is waited for all the same.
func (y *yard) completeUnanswered(ctx context.Context) (seen []string, err error) {
	if err := y.exec(ctx, holdable); err != nil {
		return nil, err
	}
	ids, err := y.create(ctx, y.ours, 1)
	if err != nil {
		return nil, err
	}
	p := y.ours.people[0]
	c, err := p.insist(ctx, object{"role": "contributor", "task_id": ids[0], "node": "solve"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, y.exec(context.WithoutCancel(ctx), letGo)) }()
	if err := y.exec(ctx, hold); err != nil {
		return nil, err
	}
	var told attached
	err = y.until(ctx, heldWithin, func() (cut bool, err error) {
		told, cut, err = y.completeCut(ctx, p, c.ID)
		return cut, err
	})
	if err != nil {
		return nil, fmt.Errorf("complete a file without an answer: %w", err)
	}
	code, got, err := fromStore(ctx, http.MethodGet, told.URL, nil, "")
	if err != nil {
		return nil, err
	}
	if code != http.StatusOK || got != scanned {
		seen = append(seen, fmt.Sprintf("file %s is complete, and its link answers %d: %.200s", told.FileID, code, got))
	}
	return seen, p.submit(ctx, c.ID)
}

// attached is a file that was completed.
type attached struct {
	FileID string `json:"file_id"`
	URL    string `json:"url"`
}

// completeCut uploads a file and completes it, until an answer comes. It returns that,
// and whether the first try had none.
func (y *yard) completeCut(ctx context.Context, p *client, claimID string) (told attached, cut bool, err error) {
	id, err := p.putScan(ctx, claimID)
	if err != nil {
		return told, false, err
	}
	g, gctx := errgroup.WithContext(ctx)
	through := make(chan struct{})
	g.Go(func() error {
		defer close(through)
		return p.call(gctx, "POST", "/api/console/claims/"+claimID+"/files/"+id+"/complete", nil, &told)
	})
	g.Go(func() (err error) {
		cut, err = y.cutHeld(gctx, through)
		return err
	})
	err = g.Wait()
	return told, cut, err
}

// cutHeld ends every session whose commit is held, until somebody's call is through, and
// returns whether there was one. What such a session was to commit counts: it is on disk.
func (y *yard) cutHeld(ctx context.Context, through <-chan struct{}) (cut bool, err error) {
	for {
		select {
		case <-through:
			return cut, nil
		case <-time.After(20 * time.Millisecond):
		}
		var n int
		err := y.Store().Pool().QueryRow(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event = 'SyncRep'`).Scan(&n)
		if err != nil {
			return cut, err
		}
		cut = cut || n > 0
	}
}

// putScan uploads a file under a claim, up to its completion.
func (c *client) putScan(ctx context.Context, claimID string) (fileID string, err error) {
	var begun struct {
		FileID  string            `json:"file_id"`
		URL     string            `json:"upload_url"`
		Headers map[string]string `json:"headers"`
	}
	file := object{"field": fieldScan, "name": "scan.txt", "size": len(scanned), "content_type": "text/plain"}
	if err := c.call(ctx, "POST", "/api/console/claims/"+claimID+"/files", file, &begun); err != nil {
		return "", err
	}
	code, got, err := fromStore(ctx, http.MethodPut, begun.URL, begun.Headers, scanned)
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("file %s was not taken: %d %.200s", begun.FileID, code, got)
	}
	return begun.FileID, err
}

// fromStore asks the object store, past the product.
func fromStore(ctx context.Context, method, url string, headers map[string]string, body string) (code int, got string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, string(raw), err
}

// exec runs statements, each in a transaction of its own: settings want that.
func (y *yard) exec(ctx context.Context, statements []string) error {
	for _, sql := range statements {
		if _, err := y.Store().Pool().Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}
