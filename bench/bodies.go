package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

const (
	// bodiesRSS is the aim, in MB.
	bodiesRSS = 1000
	// bodiesAfter is how long memory is watched when all are answered.
	bodiesAfter   = 5 * time.Second
	bodiesTimeout = 5 * time.Minute
)

// bodiesPart sends bodies of the largest size, all at the same time, and looks
// at the memory of the API. Its bound on requests at a time stays: it is what
// keeps the memory, and how many are told to come again is part of the answer.
func bodiesPart(ctx context.Context, b *bench) error {
	w, err := b.newWorld(ctx, 1)
	if err != nil {
		return err
	}
	d, err := b.deploy(ctx, w.url)
	if err != nil {
		return err
	}
	defer d.stop()
	if err := d.startServe(ctx); err != nil {
		return err
	}
	body := mathcheck.CreateBody(batchSize, mathcheck.Large)
	watched := watchMemory(ctx, 100*time.Millisecond, d.api)
	defer watched.stop()
	began := time.Now()
	s := b.sendBodies(ctx, d.base+fmt.Sprintf("/api/v1/workflows/%d/tasks", w.pipelineID), w.key, body)
	took := time.Since(began)
	peak, err := peakMB(d.api)
	if err != nil {
		return d.api.Complain(fmt.Errorf("serve is gone: %w", err))
	}
	began = time.Now()
	_, pollErr := newAPIClient(d.base, w.key).decode(ctx, http.MethodGet, w.tasksPath(nil), nil, nil)
	poll := millisSince(began)
	if err := wait(ctx, bodiesAfter); err != nil {
		return err
	}
	created, err := w.count(ctx, `SELECT count(*) FROM tasks`)
	if err != nil {
		return err
	}
	f := b.find(fmt.Sprintf("%d bodies of %.0f MB at a time", b.bodies, float64(len(body))/(1<<20)))
	f.add(figure{Name: "peak RSS of serve (VmHWM)", Value: peak, Unit: unitMB, Most: bodiesRSS})
	for _, status := range slices.Sorted(maps.Keys(s.statuses)) {
		f.add(figure{Name: fmt.Sprintf("answered %d", status), Value: float64(s.statuses[status])})
	}
	all := latenciesOf(s.millis)
	f.add(
		figure{Name: "503 without Retry-After", Value: float64(s.unadvised), None: true},
		figure{Name: "not answered", Value: float64(s.lost)},
		figure{
			Name: "tasks missing of those said to be created", None: true,
			Value: float64(max(0, int64(batchSize*s.statuses[http.StatusOK])-created)),
		},
		figure{Name: "until all were answered", Value: took.Seconds(), Unit: unitSeconds},
		figure{Name: "p50", Value: all.P50, Unit: unitMillis},
		figure{Name: "the slowest", Value: all.Max, Unit: unitMillis},
		figure{Name: "a poll right after", Value: poll, Unit: unitMillis},
		figure{Name: "polls that failed right after", Value: failures(pollErr), None: true})
	if s.lost > 0 {
		b.note("%d bodies got no answer, the first: %s", s.lost, s.firstLoss)
	}
	watched.into(f)
	return nil
}

func failures(err error) float64 {
	if err != nil {
		return 1
	}
	return 0
}

// sent is what became of bodies.
type sent struct {
	mu        sync.Mutex
	statuses  map[int]int
	millis    []float64
	lost      int
	firstLoss string
	unadvised int
}

func (b *bench) sendBodies(ctx context.Context, url, key string, body []byte) *sent {
	s := &sent{statuses: map[int]int{}}
	client := &http.Client{Timeout: bodiesTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: b.bodies}}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	for range b.bodies {
		all.Go(func() { s.one(ctx, client, url, key, body) })
	}
	all.Wait()
	return s
}

func (s *sent) one(ctx context.Context, client *http.Client, url, key string, body []byte) {
	began := time.Now()
	status, advised := 0, false
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		var res *http.Response
		if res, err = client.Do(req); err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close() // read to its end
			status, advised = res.StatusCode, res.Header.Get("Retry-After") != ""
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.lost++
		if s.firstLoss == "" {
			s.firstLoss = err.Error()
		}
		return
	}
	s.statuses[status]++
	s.millis = append(s.millis, millisSince(began))
	if status == http.StatusServiceUnavailable && !advised {
		s.unadvised++
	}
}
