package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/measure/process"
	"github.com/taskloom/taskloom/internal/measure/zipgen"
)

const (
	// pollEvery is how often a sample asks whether it is done; one of a minute or so
	// less often, for what asks and answers takes from the same processors.
	pollEvery     = 50 * time.Millisecond
	pollLongEvery = 250 * time.Millisecond
	// ingestTimeout ends a sample that stalls.
	ingestTimeout = 30 * time.Minute
	// mostRSS and leastFiles are aims of the issue.
	mostRSS    = 300
	leastFiles = 300
)

// ingestRun ingests one archive over and over.
type ingestRun struct {
	*ingestion

	archive  zipgen.Archive
	length   int64
	sums     [][sha256.Size]byte
	workflow int64

	took, putSeconds []float64
	workerPeak       []float64 // MB
	servePeak        []float64
	used             []usage
	wrong            wrongRows
}

func (in *ingestion) newRun(a zipgen.Archive, workflow int64) (*ingestRun, error) {
	r := &ingestRun{ingestion: in, archive: a, workflow: workflow}
	var err error
	if r.length, err = a.Length(); err != nil {
		return nil, err
	}
	r.sums, err = a.Sums()
	return r, err
}

// sample is the time from the confirmation until the upload has ended.
func (r *ingestRun) sample(ctx context.Context) (float64, error) { return r.ingest(ctx, nil) }

// ingest takes one sample; meanwhile, when given, goes on beside it.
func (r *ingestRun) ingest(ctx context.Context, meanwhile func(ctx context.Context, id string) error) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, ingestTimeout)
	defer cancel()
	if err := r.clear(ctx); err != nil {
		return 0, err
	}
	id, err := r.upload(ctx)
	if err != nil {
		return 0, err
	}
	settle(r.archive.Bytes()) // its own archive was written meanwhile
	for _, c := range []*process.Process{r.api, r.worker} {
		if err := c.ResetPeak(); err != nil {
			return 0, err
		}
	}
	before, err := r.usage(r.api, r.worker)
	if err != nil {
		return 0, err
	}
	took, err := r.process(ctx, id, meanwhile)
	if err != nil {
		return 0, r.worker.Complain(err)
	}
	after, err := r.usage(r.api, r.worker)
	if err != nil {
		return 0, err
	}
	worker, err := peakMB(r.worker)
	if err != nil {
		return 0, err
	}
	serve, err := peakMB(r.api)
	if err != nil {
		return 0, err
	}
	r.used, r.took = append(r.used, after.since(before)), append(r.took, took)
	r.workerPeak, r.servePeak = append(r.workerPeak, worker), append(r.servePeak, serve)
	wrong, err := r.check(ctx)
	r.wrong.add(wrong)
	r.say("    %.1f s, worker %.0f MB at most, rows %s", took, worker, wrong)
	return took, err
}

// process confirms an upload and waits until it has ended.
func (r *ingestRun) process(ctx context.Context, id string, meanwhile func(ctx context.Context, id string) error) (float64, error) {
	beside, every := make(chan error, 1), pollEvery
	if (shape{r.archive.Files, r.archive.Size}).long() {
		every = pollLongEvery
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	if _, _, err := r.client.call(ctx, http.MethodPost, r.path()+"/"+id+"/confirm", nil); err != nil {
		return 0, err
	}
	if meanwhile != nil {
		go func() { beside <- meanwhile(ctx, id) }()
	}
	for {
		u, err := r.status(ctx, id)
		if err != nil {
			return 0, err
		}
		if took := time.Since(began).Seconds(); u.ended() {
			if meanwhile != nil {
				cancel()
				err = <-beside
			}
			return took, errors.Join(err, u.whole(r.archive.Files))
		}
		if err := wait(ctx, every); err != nil {
			return 0, fmt.Errorf("the upload is still %s with %d of %d rows: %w", u.Status, u.Progress.RowsDone, u.Progress.RowsTotal, err)
		}
	}
}

// upload begins an upload and puts the archive as it is made.
func (r *ingestRun) upload(ctx context.Context) (id string, err error) {
	var begun struct {
		UploadID  string `json:"upload_id"`
		UploadURL string `json:"upload_url"`
	}
	_, err = r.client.decode(ctx, http.MethodPost, r.path(), map[string]int64{"file_size_bytes": r.length}, &begun)
	if err != nil {
		return "", err
	}
	began := time.Now()
	out, into := io.Pipe()
	go func() { _ = into.CloseWithError(r.archive.Write(into)) }() // the reader gets the error
	defer out.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, begun.UploadURL, out)
	if err != nil {
		return "", err
	}
	req.ContentLength = r.length
	req.Header.Set("Content-Type", "application/zip")
	res, err := (&http.Client{Transport: &http.Transport{WriteBufferSize: 256 << 10}}).Do(req)
	if err != nil {
		return "", fmt.Errorf("put the archive: %w", err)
	}
	defer res.Body.Close()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK { // nothing on success
		return "", fmt.Errorf("put the archive: %d %.300s", res.StatusCode, answer)
	}
	r.putSeconds = append(r.putSeconds, time.Since(began).Seconds())
	return begun.UploadID, nil
}

func (r *ingestRun) path() string {
	return fmt.Sprintf("/api/v1/workflows/%d/tasks/upload", r.workflow)
}

// uploadStatus is what is looked at of an upload.
type uploadStatus struct {
	Status   string `json:"status"`
	Message  string `json:"message"`
	Progress struct {
		RowsTotal int `json:"rows_total"`
		RowsDone  int `json:"rows_done"`
	} `json:"progress"`
	SuccessCount int             `json:"success_count"`
	ErrorCount   int             `json:"error_count"`
	Errors       json.RawMessage `json:"errors"`
	TaskIDs      []int64         `json:"task_ids"`
}

func (r *ingestRun) status(ctx context.Context, id string) (u uploadStatus, err error) {
	_, err = r.client.decode(ctx, http.MethodGet, r.path()+"/"+id, nil, &u)
	return u, err
}

func (u uploadStatus) ended() bool { return u.Status != "pending" && u.Status != "processing" }

// whole makes sure that every file became a task, by what the API says.
func (u uploadStatus) whole(files int) error {
	if u.Status == "completed" && u.SuccessCount == files && u.ErrorCount == 0 && len(u.TaskIDs) == files {
		return nil
	}
	return fmt.Errorf("the upload is %s (%s) with %d of %d tasks, %d task_ids and %d errors: %.300s",
		u.Status, u.Message, u.SuccessCount, files, len(u.TaskIDs), u.ErrorCount, u.Errors)
}

// into tells what the race leaves out.
func (r *ingestRun) into(f *finding) {
	rate := func(amount float64) float64 { return spreadOf(perSecond(amount, r.took)).Median }
	files := figure{Name: "files", Value: rate(float64(r.archive.Files)), Unit: unitFiles}
	if (shape{size: r.archive.Size}).small() {
		files.Least = leastFiles
	}
	used := mean(r.used)
	f.add(
		files,
		figure{Name: "bytes", Value: rate(float64(r.archive.Bytes()) / megabyte), Unit: unitMBRate},
		figure{Name: "from confirm to the end", Value: spreadOf(r.took).Median, Unit: unitSeconds},
		figure{Name: "peak RSS of the worker (VmHWM)", Value: slices.Max(r.workerPeak), Unit: unitMB, Most: mostRSS},
		figure{Name: "peak RSS of serve (VmHWM)", Value: slices.Max(r.servePeak), Unit: unitMB},
		figure{Name: "CPU of all processes", Value: used.total(), Unit: unitSeconds},
		figure{Name: "CPU of the worker", Value: used.of("worker"), Unit: unitSeconds},
		figure{Name: "CPU of Postgres", Value: used.of("postgres"), Unit: unitSeconds},
		figure{Name: "CPU of the object store", Value: used.of("s3"), Unit: unitSeconds},
		figure{
			Name:  "the archive's own way into the bucket",
			Value: spreadOf(perSecond(float64(r.length)/megabyte, r.putSeconds)).Median, Unit: unitMBRate,
		},
	)
	r.wrong.into(f)
}
