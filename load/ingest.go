package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/taskloom/taskloom/internal/measure/zipgen"
)

const (
	// uploadLook is how often an archive is looked at: 240 times a minute, a fifth
	// of what its key may ask.
	uploadLook = 250 * time.Millisecond
	ingestMost = 30 * time.Minute
)

// archiveOf is the archive of a run: shorter runs have smaller ones.
func (r *run) archiveOf(seed uint64) zipgen.Archive {
	share := min(1, r.dur.Minutes()/30) * min(1, r.scale)
	return zipgen.Archive{Files: max(20, int(float64(r.archive.files)*share)), Size: r.archive.size, Seed: seed}
}

// ingest uploads an archive and waits until all its files are tasks.
func (r *run) ingest(ctx context.Context, seed uint64) {
	bounded, cancel := context.WithTimeout(ctx, ingestMost)
	defer cancel()
	a := r.archiveOf(seed)
	if err := r.ingestArchive(bounded, a); err != nil && ctx.Err() == nil {
		r.fail(fmt.Errorf("an archive of %d files did not get in, within %v: %w", a.Files, ingestMost, err))
	}
}

func (r *run) ingestArchive(ctx context.Context, a zipgen.Archive) error {
	length, err := a.Length()
	if err != nil {
		return err
	}
	key := r.world.archiveKey(a.Seed)
	path := fmt.Sprintf("/api/v1/workflows/%d/tasks/upload", r.world.scans)
	var begun struct {
		UploadID  string `json:"upload_id"`
		UploadURL string `json:"upload_url"`
	}
	answer := r.ask(ctx, request{
		op: "upload", method: http.MethodPost, path: path, key: key, body: encode(map[string]int64{"file_size_bytes": length}),
		patience: insistent,
	})
	if !answer.ok() {
		return fmt.Errorf("begin an upload: %s", answer.cause())
	}
	if err := answer.decode(&begun); err != nil {
		return err
	}
	if err := r.put(ctx, a, length, begun.UploadURL); err != nil {
		return err
	}
	confirmed := time.Now()
	answer = r.ask(ctx, request{
		op: "confirm", method: http.MethodPost, path: path + "/" + begun.UploadID + "/confirm", key: key, patience: insistent,
	})
	if !answer.ok() {
		return fmt.Errorf("confirm: %s", answer.cause())
	}
	return r.followUpload(ctx, a, path+"/"+begun.UploadID, key, confirmed)
}

// put sends the archive as it is made.
func (r *run) put(ctx context.Context, a zipgen.Archive, length int64, url string) error {
	out, into := io.Pipe()
	go func() { _ = into.CloseWithError(a.Write(into)) }() // the reader gets the error
	defer out.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, url, out)
	if err != nil {
		return err
	}
	req.ContentLength = length
	req.Header.Set("Content-Type", "application/zip")
	c := &http.Client{Timeout: ingestMost}
	defer c.CloseIdleConnections()
	res, err := c.Do(req)
	if err != nil {
		return fmt.Errorf("put the archive: %w", err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK { // nothing on success
		return fmt.Errorf("put the archive: %d %.300s", res.StatusCode, body)
	}
	return nil
}

// ingestion is an archive all of whose files became tasks.
type ingestion struct {
	files            int
	confirmed, ended time.Time
}

// ingestRate is the files a second of archives beside each other, of which there is one
// at least: all their files, from when the first was confirmed until the last was done.
// When one is done, the others have its share, so that what each did alone adds up to
// more than all of them did.
func ingestRate(archives []ingestion) float64 {
	files, from, until := 0, archives[0].confirmed, archives[0].ended
	for _, a := range archives {
		files += a.files
		if a.confirmed.Before(from) {
			from = a.confirmed
		}
		if a.ended.After(until) {
			until = a.ended
		}
	}
	return float64(files) / until.Sub(from).Seconds()
}

// followUpload asks until the first row is there, and until the last is, and
// comes again when it is told to. Unless the archive gets in, any of its files may
// be a task.
func (r *run) followUpload(ctx context.Context, a zipgen.Archive, path, key string, confirmed time.Time) error {
	done, first := false, false
	defer func() {
		if !done {
			r.facts.uncertain(int64(a.Files))
		}
	}()
	for {
		answer := r.ask(ctx, request{op: "upload-look", method: http.MethodGet, path: path, key: key, patience: insistent})
		var u struct {
			Status   string `json:"status"`
			Message  string `json:"message"`
			Progress struct {
				Done int `json:"rows_done"`
			} `json:"progress"`
			Created int `json:"success_count"`
		}
		if answer.status == http.StatusOK {
			if err := answer.decode(&u); err != nil {
				return err
			}
		}
		if u.Progress.Done > 0 && !first {
			first = true
			r.took("first-row", confirmed, time.Now())
		}
		switch u.Status {
		case "completed":
			done = true
			in := ingestion{a.Files, confirmed, time.Now()}
			if err := r.facts.archived(in, u.Created); err != nil {
				return err
			}
			r.say("an archive of %d files took %.1f s", a.Files, in.ended.Sub(confirmed).Seconds())
			return nil
		case "failed", "cancelled":
			return fmt.Errorf("the upload is %s: %s", u.Status, u.Message)
		}
		if err := wait(ctx, uploadLook); err != nil {
			return err
		}
	}
}
