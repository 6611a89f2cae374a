package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// tool is a labelling tool that is asked for the same four things.
type tool interface {
	create(ctx context.Context, body []byte) error
	// work takes and finishes tasks as fast as it goes.
	work(ctx context.Context, clients, limit int, most time.Duration) (claimRun, error)
	// pace takes and finishes a task at a constant rate.
	pace(ctx context.Context, perSecond int, during time.Duration) (claimRun, error)
	// list reads the ids of all tasks, in pages of that many, or as many as a page
	// may have, and returns how many different ones there are.
	list(ctx context.Context, most int) (int, error)
	// done counts what was handed in.
	done(ctx context.Context) (int64, error)
	children() []*child
	end(r *room)
}

const (
	// labelPace is tasks a second that people take and finish.
	labelPace = 5
	// toolWarm are tasks that warm every process of a tool, taken by so many
	// clients at a time.
	toolWarm, toolWarmClients = 64, 16
)

// listPages are the sizes of pages that ids are read in: what Label Studio gives
// when nobody asks for another, and a large one.
var listPages = []int{100, 1000}

// toolContender measures a tool: imports into an empty project, then people
// who work, then the ids of a large one.
type toolContender struct {
	in      info
	prepare func(ctx context.Context, r *room) error
	// open serves a copy of the empty project, or of the large one.
	open func(ctx context.Context, r *room, from *database) (tool, error)
	body func(n, size int) []byte

	large *database
}

func (c *toolContender) info() info { return c.in }

// setup imports the tasks whose ids are listed.
func (c *toolContender) setup(ctx context.Context, r *room) error {
	if err := c.prepare(ctx, r); err != nil {
		return err
	}
	t, err := c.open(ctx, r, nil)
	for left := r.lsIDs; left > 0 && err == nil; left -= mostPerRequest {
		err = t.create(ctx, c.body(min(left, mostPerRequest), r.payload))
	}
	if err != nil {
		if t != nil {
			t.end(r)
		}
		return fmt.Errorf("import %d tasks: %w", r.lsIDs, err)
	}
	for _, child := range t.children() {
		child.Stop()
	}
	c.large = c.databaseOf(t)
	return settle(ctx, c.large.url)
}

func (c *toolContender) databaseOf(t tool) *database {
	switch t := t.(type) {
	case *labelStudio:
		return t.db
	case *taskloomTool:
		return t.t.db
	}
	return nil
}

func (c *toolContender) close(r *room) { r.drop(c.large) }

func (c *toolContender) sample(ctx context.Context, r *room) (*sample, error) {
	s := newSample()
	if err := c.imports(ctx, r, s); err != nil {
		return nil, err
	}
	t, err := c.open(ctx, r, c.large)
	if t != nil {
		defer t.end(r)
	}
	if err != nil {
		return nil, err
	}
	if err := c.labels(ctx, r, s, t); err != nil {
		return nil, fmt.Errorf("take and finish: %w", err)
	}
	for _, most := range listPages {
		if err := c.lists(ctx, r, s, t, most); err != nil {
			return nil, fmt.Errorf("list in pages of %d: %w", most, err)
		}
	}
	return s, nil
}

// labels is people who work.
func (c *toolContender) labels(ctx context.Context, r *room, s *sample, t tool) error {
	warm, err := t.work(ctx, toolWarmClients, toolWarm, time.Minute)
	if err != nil {
		return fmt.Errorf("warm: %w", err)
	}
	before, err := t.done(ctx)
	if err != nil {
		return err
	}
	var run claimRun
	during := max(time.Second, time.Duration(r.lsCalls)*time.Second/labelPace)
	if _, _, err := s.measured("work", c.in, t.children(), func() (err error) {
		run, err = t.pace(ctx, labelPace, during)
		return err
	}); err != nil {
		return err
	}
	if err := run.served(); err != nil {
		return err
	}
	s.latency("next", run.claim)
	s.latency("submit", run.finish)
	s.Values["work_cpu_ms_per_task"] = 1000 * ratio(s.Values["work_cpu_s"], float64(run.done))
	n, err := t.done(ctx)
	if err != nil {
		return err
	}
	s.Values["doubles"] = float64(warm.doubles + run.doubles)
	s.Values["lost"] = max(0, float64(run.done)-float64(n-before))
	return nil
}

// lists reads the ids of the large project.
func (c *toolContender) lists(ctx context.Context, r *room, s *sample, t tool, most int) error {
	var listed int
	name := listName(most)
	_, _, err := s.measured(name, c.in, t.children(), func() (err error) {
		listed, err = t.list(ctx, most)
		return err
	})
	s.Values["list_missing"] = max(s.Values["list_missing"], float64(r.lsIDs-listed))
	return err
}

// listName is the phase in which ids are read in pages of a size; NAME_s is how
// long it took.
func listName(most int) string { return fmt.Sprintf("list_%d", most) }

// imports creates mostPerRequest tasks at a time in an empty project.
func (c *toolContender) imports(ctx context.Context, r *room, s *sample) error {
	const times = 5
	t, err := c.open(ctx, r, nil)
	if t != nil {
		defer t.end(r)
	}
	if err != nil {
		return err
	}
	if err := settle(ctx, c.databaseOf(t).url); err != nil {
		return err
	}
	body := c.body(mostPerRequest, r.payload)
	for range toolWarmClients { // one after the other, whichever process answers
		if err := t.create(ctx, c.body(1, r.payload)); err != nil {
			return fmt.Errorf("warm: %w", err)
		}
	}
	took := newLatencies()
	_, cpu, err := s.measured("import", c.in, t.children(), func() error {
		for range times {
			began := time.Now()
			if err := t.create(ctx, body); err != nil {
				return err
			}
			took.add(time.Since(began))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	s.latency("import", took)
	s.Values["import_rows_per_cpu_s"] = ratio(times*mostPerRequest, cpu)
	return nil
}

// taskloomTool is the product seen as a labelling tool.
type taskloomTool struct {
	taskloomClaims

	client *httpClient
}

func taskloomToolContender(o options) *toolContender {
	var w *taskloomWorld
	return &toolContender{
		in:   info{Name: ours, Version: taskloomVersion(o), Contract: contractOurs, Uses: []string{partPostgres}},
		body: createBody,
		prepare: func(ctx context.Context, r *room) (err error) {
			w, err = newTaskloomWorld(ctx, r, mostPaced, "30m")
			return err
		},
		open: func(ctx context.Context, r *room, from *database) (tool, error) {
			t, err := w.beginFrom(ctx, r, from)
			if err != nil {
				return nil, err
			}
			tool := &taskloomTool{
				taskloomClaims: taskloomClaims{t: t, people: t.people(mostPaced)}, client: newHTTPClient(t.base, 1, "Authorization", "Bearer "+t.key),
			}
			tool.claimer = &tool.taskloomClaims
			return tool, nil
		},
	}
}

func (t *taskloomTool) create(ctx context.Context, body []byte) error {
	_, answer, err := t.client.call(ctx, http.MethodPost, t.t.createPath(), body)
	if err != nil {
		return err
	}
	return allCreated(answer, bytes.Count(body, []byte(`{"fields":`)))
}

func (t *taskloomTool) list(ctx context.Context, most int) (int, error) {
	seen := map[int64]bool{}
	for cursor := ""; ; {
		var page struct {
			Tasks []struct {
				ID int64 `json:"id"`
			} `json:"tasks"`
			NextCursor *string `json:"next_cursor"`
		}
		path := t.t.createPath() + "?limit=" + strconv.Itoa(min(most, taskloomPage))
		if cursor != "" {
			path += "&cursor=" + url.QueryEscape(cursor)
		}
		if _, err := t.client.decode(ctx, http.MethodGet, path, nil, &page); err != nil {
			return len(seen), err
		}
		for _, task := range page.Tasks {
			seen[task.ID] = true
		}
		if page.NextCursor == nil || *page.NextCursor == "" {
			return len(seen), nil
		}
		cursor = *page.NextCursor
	}
}

func (t *taskloomTool) done(ctx context.Context) (int64, error) { return t.finished(ctx) }

func (t *taskloomTool) end(r *room) {
	t.client.closeIdle()
	t.taskloomClaims.end(r)
}

func labelStudioContender(o options) *toolContender {
	var w *labelStudioWorld
	return &toolContender{
		in:   info{Name: "Label Studio", Version: o.pythonVersion("label_studio"), Contract: "label-studio", Uses: []string{partPostgres}},
		body: labelStudioImport,
		prepare: func(ctx context.Context, r *room) (err error) {
			w, err = newLabelStudioWorld(ctx, r)
			return err
		},
		open: func(ctx context.Context, r *room, from *database) (tool, error) {
			if from == nil {
				from = w.template
			}
			l, err := w.begin(ctx, r, from)
			if l == nil {
				return nil, err
			}
			return l, err
		},
	}
}

// labelStudioRace is race 2's import with Label Studio, and what people do with
// either.
func labelStudioRace(ctx context.Context, r *room) error {
	c := &competition{
		race: "labelstudio", title: fmt.Sprintf("import %d tasks, %d of a next task and a submission, ids of %d", mostPerRequest, r.lsCalls, r.lsIDs),
		phase: "work", curves: []string{"next", "submit", "import"},
		figures: []figure{
			{Name: "import_p50_ms", Says: "import of 5,000, p50", Unit: "ms"},
			{Name: "import_p99_ms", Says: "p99", Unit: "ms"},
			{Name: "import_rows_per_cpu_s", Says: "tasks imported a CPU second", Unit: "/CPU-s", More: true},
			{Name: "next_p50_ms", Says: fmt.Sprintf("next task at %d/s, p50", labelPace), Unit: "ms"},
			{Name: "next_p99_ms", Says: "p99", Unit: "ms"},
			{Name: "submit_p50_ms", Says: "submit, p50", Unit: "ms"},
			{Name: "submit_p99_ms", Says: "p99", Unit: "ms"},
			{Name: "work_cpu_ms_per_task", Says: "CPU for a task taken and submitted", Unit: "ms", CPU: true},
			{Name: listName(listPages[0]) + "_s", Says: fmt.Sprintf("ids of %d, in pages of %d", r.lsIDs, listPages[0]), Unit: "s"},
			{Name: listName(listPages[1]) + "_s", Says: fmt.Sprintf("in pages of %d, ours of %d", listPages[1], taskloomPage), Unit: "s"},
			{Name: "list_missing", Says: "ids that are missing", None: true},
			{Name: "doubles", Says: "tasks that two people got", None: true},
			{Name: "lost", Says: "submitted, and not in the rows", None: true},
		},
	}
	c.add(r, taskloomToolContender(r.options))
	c.add(r, labelStudioContender(r.options))
	return c.run(ctx, r)
}
