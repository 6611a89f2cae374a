package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	pageSize = 200
	// pagesPerSample is how many pages one sample asks for, one after the other.
	pagesPerSample = 200
)

// apiPage is what is looked at of a page.
type apiPage struct {
	Tasks []struct {
		ID int64 `json:"id"`
	} `json:"tasks"`
	NextCursor *string `json:"next_cursor"`
}

// pagePart compares GET …/tasks with the query alone, in a pipeline of many
// tasks. The value of a sample is the median of its requests.
func pagePart(ctx context.Context, b *bench) error {
	w, err := b.largeWorld(ctx)
	if err != nil {
		return err
	}
	deepest, before, err := b.walk(ctx, w)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name   string
		query  url.Values
		status string
		before int64
	}{
		{name: "the newest page"},
		{name: "status=finished", query: url.Values{"status": {"finished"}}, status: "finished"},
		{name: "status=escalated", query: url.Values{"status": {"escalated"}}, status: "escalated"},
		{name: "the deepest page", query: url.Values{"cursor": {deepest}}, before: before},
	} {
		floor := &pageFloor{world: w, status: c.status, before: c.before}
		if err := b.racePages(ctx, c.name, floor, floor.sample, &floor.took, w.tasksPath(c.query)); err != nil {
			return err
		}
	}
	floor := &pageFloor{world: w}
	server, err := b.newServerFloor(ctx, floor)
	if err != nil {
		return err
	}
	return b.racePages(ctx, "the newest page, against a bare HTTP server", floor, server.pager.sample, &server.pager.took, w.tasksPath(nil))
}

// racePages compares one page of the API with a floor that reads the same.
func (b *bench) racePages(ctx context.Context, name string, page *pageFloor, floor sampler, floorTook *[]float64, path string) error {
	if err := page.connect(ctx); err != nil {
		return err
	}
	defer page.close(ctx)
	ours := &pager{client: page.world.integrator(), path: path}
	if err := samePage(ctx, page, ours); err != nil {
		return err
	}
	m := &measure{Case: fmt.Sprintf("%s at %d tasks", name, b.tasks), Unit: unitMillis, Aim: 1.3}
	if err := b.race(ctx, m, floor, ours.sample); err != nil {
		return err
	}
	m.FloorLatencies, m.OursLatencies = latenciesOf(*floorTook), latenciesOf(ours.took)
	return nil
}

func (w *world) tasksPath(query url.Values) string {
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	maps.Copy(q, query)
	return fmt.Sprintf("/api/v1/workflows/%d/tasks?%s", w.pipelineID, q.Encode())
}

// walk reads the whole list page by page, as a caller would, and returns the
// cursor of the last page and the id that it starts below. Every task must
// come once.
func (b *bench) walk(ctx context.Context, w *world) (cursor string, before int64, err error) {
	all, err := w.count(ctx, `SELECT count(*) FROM tasks`)
	if err != nil {
		return "", 0, err
	}
	c, began, seen, last := w.integrator(), time.Now(), int64(0), int64(1)<<62
	query := url.Values{}
	for {
		var page apiPage
		if _, err := c.decode(ctx, http.MethodGet, w.tasksPath(query), nil, &page); err != nil {
			return "", 0, err
		}
		start := last
		for _, t := range page.Tasks {
			if t.ID >= last {
				return "", 0, fmt.Errorf("task %d comes after task %d", t.ID, last)
			}
			last = t.ID
			seen++
		}
		if page.NextCursor == nil {
			before = start
			break
		}
		cursor = *page.NextCursor
		query.Set("cursor", cursor)
	}
	if seen != all {
		return "", 0, fmt.Errorf("the list has %d tasks, the table %d", seen, all)
	}
	b.say("  read all %d tasks in pages of %d in %.1f s", seen, pageSize, time.Since(began).Seconds())
	return cursor, before, nil
}

// pager asks for one page over and over.
type pager struct {
	client *apiClient
	path   string
	took   []float64
}

func (p *pager) sample(ctx context.Context) (float64, error) {
	took := make([]float64, pagesPerSample)
	for i := range took {
		began := time.Now()
		if _, _, err := p.client.call(ctx, http.MethodGet, p.path, nil); err != nil {
			return 0, err
		}
		took[i] = millisSince(began)
	}
	p.took = append(p.took, took...)
	return percentile(took, 50), nil
}

// samePage keeps the floor honest: both must find the same tasks.
func samePage(ctx context.Context, f *pageFloor, p *pager) error {
	var page apiPage
	if _, err := p.client.decode(ctx, http.MethodGet, p.path, nil, &page); err != nil {
		return err
	}
	rows, err := f.page(ctx)
	if err != nil {
		return err
	}
	if len(rows) > pageSize {
		rows = rows[:pageSize]
	}
	if len(rows) == 0 || len(rows) != len(page.Tasks) {
		return fmt.Errorf("the floor finds %d tasks, the API %d", len(rows), len(page.Tasks))
	}
	for i, t := range page.Tasks {
		if rows[i].id != t.ID {
			return fmt.Errorf("row %d is task %d in the floor, %d in the API", i, rows[i].id, t.ID)
		}
	}
	return nil
}
