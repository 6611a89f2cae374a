package main

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"
)

// taskloomFlow is the product with its worker, asked over HTTP.
type taskloomFlow struct {
	t      *taskloom
	people []*httpClient
	api    *httpClient
}

func taskloomFlowContender(o options) *flowContender {
	var w *taskloomWorld
	return &flowContender{
		in: info{Name: ours, Version: taskloomVersion(o), Contract: contractOurs, Uses: []string{partPostgres, partTemporal, partS3}},
		prepare: func(ctx context.Context, r *room) (err error) {
			w, err = newTaskloomWorld(ctx, r, flowClients, "30m")
			return err
		},
		open: func(ctx context.Context, r *room) (flowSystem, *database, error) {
			t, err := w.begin(ctx, r)
			if err != nil {
				return nil, nil, err
			}
			f := &taskloomFlow{t: t, people: t.people(flowClients), api: newHTTPClient(t.base, flowClients, "Authorization", "Bearer "+t.key)}
			return f, t.db, t.startWorker(ctx)
		},
	}
}

func (f *taskloomFlow) begin(ctx context.Context, client int) (life, error) {
	if _, _, err := f.api.call(ctx, http.MethodPost, f.t.createPath(), createBody(1, 650)); err != nil {
		return life{}, err
	}
	return f.take(ctx, client, "contributor")
}

// take claims what comes next. There is something: each life adds an item before
// it takes one, though not always the same.
func (f *taskloomFlow) take(ctx context.Context, client int, role string) (life, error) {
	ctx, cancel := context.WithTimeout(ctx, visibleTimeout)
	defer cancel()
	for {
		h, err := f.t.claim(ctx, f.people[client], role)
		if !errors.Is(err, errEmpty) {
			return life{id: h.TaskID, token: h.ID}, err
		}
		if err := wait(ctx, lookEvery); err != nil {
			return life{}, err
		}
	}
}

func (f *taskloomFlow) message(ctx context.Context, client int, l life, step int) (life, error) {
	if step == stepSubmitted {
		return l, f.t.submit(ctx, f.people[client], l.token)
	}
	review, err := f.take(ctx, client, "reviewer")
	if err != nil {
		return life{}, err
	}
	return review, f.t.approve(ctx, f.people[client], review.token)
}

func (f *taskloomFlow) reached(step int) string {
	if step == stepSubmitted {
		return `SELECT task_id FROM task_nodes WHERE task_id = ANY($1) AND key = 'check' AND status <> 'pending'`
	}
	return `SELECT id FROM tasks WHERE id = ANY($1) AND status = 'finished'`
}

func (f *taskloomFlow) children() []*child { return []*child{f.t.serve, f.t.worker} }

func (f *taskloomFlow) directory() string { return "" }

func (f *taskloomFlow) end(r *room) {
	// Runs that are behind their rows would be at work in the next sample.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := f.t.caughtUp(ctx); err != nil {
		r.say("the next sample may begin with work of this one: %v", err)
	}
	f.api.closeIdle()
	f.people[0].closeIdle()
	f.t.end(r)
}

// sizeOf is the size of all files of a directory.
func sizeOf(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // compacted meanwhile
		}
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
