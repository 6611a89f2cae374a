package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/measure/process"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

// taskloomChaos is the product: its workers are its own, and an item's effect
// is the review that they make claimable once a submission is accepted.
type taskloomChaos struct {
	t      *taskloom
	people []*httpClient
	api    *httpClient
	pair   []*child
	ready  []string
	free   chan int // people with nothing in their hands
	runs   client.Client
}

// chaosPeople hand in at a time.
const chaosPeople = 128

func taskloomChaosContender(o options) *chaosContender {
	var w *taskloomWorld
	return &chaosContender{
		in: info{Name: ours, Version: taskloomVersion(o), Contract: contractOurs, Uses: []string{partPostgres, partTemporal, partS3}},
		prepare: func(ctx context.Context, r *room) (err error) {
			w, err = newTaskloomWorld(ctx, r, chaosPeople, "1m")
			return err
		},
		open: func(ctx context.Context, r *room) (chaosSystem, error) {
			t, err := w.begin(ctx, r)
			if err != nil {
				return nil, err
			}
			c := &taskloomChaos{
				t: t, people: t.people(chaosPeople), api: newHTTPClient(t.base, chaosPeople, "Authorization", "Bearer "+t.key),
				pair: []*child{t.worker}, ready: []string{t.ready}, free: make(chan int, chaosPeople),
			}
			for i := range chaosPeople {
				c.free <- i
			}
			if c.runs, err = dialTemporal(); err != nil {
				return c, err
			}
			addr, err := process.FreeAddr(ctx)
			if err != nil {
				return c, err
			}
			c.pair = append(c.pair, r.newChild("worker2", t.binary, append(slices.Clip(t.env), "METRICS_ADDR="+addr), "worker"))
			c.ready = append(c.ready, "http://"+addr+"/readyz")
			return c, nil
		},
	}
}

func (c *taskloomChaos) startWorker(ctx context.Context, i int) error {
	if err := c.pair[i].Start(); err != nil {
		return err
	}
	return awaitOK(ctx, c.pair[i], c.ready[i])
}

// send creates a task and submits one: not always the same, for the queue
// decides. What is refused or cut off is tried again, as callers do: the
// Idempotency-Key and the claim make that safe.
func (c *taskloomChaos) send(ctx context.Context, n int64) (int64, error) {
	create := c.api.with("Idempotency-Key", fmt.Sprintf("item-%d", n))
	if err := persist(ctx, func() error {
		_, _, err := create.call(ctx, http.MethodPost, c.t.createPath(), createBody(1, 650))
		return err
	}); err != nil {
		return 0, err
	}
	person := <-c.free
	defer func() { c.free <- person }()
	var h held
	if err := persist(ctx, func() (err error) {
		h, err = c.t.claim(ctx, c.people[person], "contributor")
		return err
	}); err != nil {
		return 0, err
	}
	return h.TaskID, persist(ctx, func() error { return c.t.submit(ctx, c.people[person], h.ID) })
}

// effects are one for each review that is claimable: the rows cannot hold a second.
// What could be done twice shows in send, where two people would be told of one task.
func (c *taskloomChaos) effects() string {
	return `SELECT task_id, 1 FROM task_nodes WHERE key = 'check' AND status <> 'pending'`
}

// hands are the tasks whose run a worker is moving: Temporal has given it the run's
// workflow task, and has not been told that it is through.
func (c *taskloomChaos) hands(ctx context.Context, i int, open []int64) (begun []int64, err error) {
	id, err := workerID(c.pair[i].Log)
	if err != nil {
		return nil, err
	}
	for _, n := range open {
		history := c.runs.GetWorkflowHistory(ctx, fmt.Sprintf("task/%d", n), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		who, err := mover(history)
		if _, none := errors.AsType[*serviceerror.NotFound](err); none { // Temporal has not heard of it
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the run of task %d: %w", n, err)
		}
		if who == id {
			begun = append(begun, n)
		}
	}
	return begun, nil
}

// mover is who has the workflow task of a run that has begun and not ended; nobody
// when there is none.
func mover(history client.HistoryEventIterator) (who string, err error) {
	for history.HasNext() {
		e, err := history.Next()
		if err != nil {
			return "", err
		}
		switch e.GetEventType() {
		case enums.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			who = e.GetWorkflowTaskStartedEventAttributes().GetIdentity()
		case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enums.EVENT_TYPE_WORKFLOW_TASK_FAILED, enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			who = ""
		default:
		}
	}
	return who, nil
}

// workerID is what a worker calls itself at Temporal since it was started last, as its
// log has it.
func workerID(log string) (id string, err error) {
	raw, err := os.ReadFile(log)
	if err != nil {
		return "", fmt.Errorf("read the log of a worker: %w", err)
	}
	for line := range bytes.Lines(raw) {
		var said struct {
			WorkerID string `json:"worker_id"`
		}
		if json.Unmarshal(line, &said) == nil && said.WorkerID != "" {
			id = said.WorkerID
		}
	}
	if id == "" {
		return "", fmt.Errorf("%s names no worker", log)
	}
	return id, nil
}

func (c *taskloomChaos) workers() []*child { return c.pair }

func (c *taskloomChaos) databaseURL() string { return c.t.db.url }

func (c *taskloomChaos) children() []*child { return append([]*child{c.t.serve}, c.pair...) }

func (c *taskloomChaos) end(r *room) {
	if c.runs != nil {
		c.runs.Close()
	}
	c.api.closeIdle()
	c.people[0].closeIdle()
	for _, w := range c.pair {
		w.Stop()
	}
	c.t.end(r)
}

// persist tries until it works or patience is over.
func persist(ctx context.Context, f func() error) error {
	end := time.Now().Add(patience)
	for {
		err := f()
		if err == nil || time.Now().After(end) {
			return err
		}
		if waited := wait(ctx, 200*time.Millisecond); waited != nil {
			return errors.Join(err, waited)
		}
	}
}
