package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	// peakWorkers people take turns in claiming; peakKeys are the programs that
	// wait as they are told, rudeKeys those that do not.
	peakWorkers = 90
	peakKeys    = 40
	rudeKeys    = 20
	// peakQueue tasks are made beforehand.
	peakQueue = 10_000
)

// crowd is everybody who works at the peak, each with a key or a session.
type crowd struct {
	run  *Run
	http *http.Client // for programs
	// people are free to begin something.
	people     chan *http.Client
	keys, rude []string
	pipeline   int64
	tasks      []int64
}

// crowdDocument is the tenant for `taskloom apply`. Runs of its tasks wait for a
// claim, so that what is created is no work for Temporal by itself.
func crowdDocument() []byte {
	var users, members, keys []object
	users = append(users, object{"email": "admin@qpeak.test", "name": "Admin qpeak", "password": password, "role": "org_admin"})
	for i := range peakWorkers {
		email := fmt.Sprintf("c%d@qpeak.test", i)
		users = append(users, object{"email": email, "name": email, "password": password, "role": "member"})
		members = append(members, object{"email": email, "role": "contributor"})
	}
	for i := range peakKeys + rudeKeys {
		keys = append(keys, object{"name": fmt.Sprintf("key %d", i), "created_by": "admin@qpeak.test", "expires": "never"})
	}
	raw, _ := json.Marshal(object{"organizations": []object{{ // strings and numbers only
		"slug": "qpeak", "name": "qpeak", "users": users, "api_keys": keys,
		"projects": []object{{"name": "qpeak", "members": members, "pipelines": []object{{"status": "ACTIVE", "definition": object{
			"name": "qpeak", "runs": "on_first_claim",
			"nodes": []object{
				{"key": "start", "kind": "start"},
				{"key": "look", "kind": "subtask", "title": "Look", "fields": []object{
					{"name": "question", "title": "Question", "type": "long_text", "input": "seeded", "required": true},
					{"name": "answer", "title": "Answer", "type": "long_text", "input": "contributor", "required": true},
				}},
				{"key": "end", "kind": "end"},
			},
			"edges": []object{{"from": "start", "to": "look"}, {"from": "look", "to": "end"}},
		}}}}},
	}}})
	return raw
}

// newCrowd makes the tenant and its queue, and logs everybody in.
func (r *Run) newCrowd(ctx context.Context) *crowd {
	r.t.Helper()
	a := r.Apply(crowdDocument())
	transport := &http.Transport{MaxIdleConnsPerHost: 1000, MaxIdleConns: 4000}
	r.t.Cleanup(transport.CloseIdleConnections)
	c := &crowd{
		run: r, http: &http.Client{Transport: transport, Timeout: time.Minute}, pipeline: a.Pipeline("qpeak"),
		people: make(chan *http.Client, peakWorkers),
	}
	for i := range peakKeys + rudeKeys {
		key := a.Key(fmt.Sprintf("key %d", i))
		if i < peakKeys {
			c.keys = append(c.keys, key)
		} else {
			c.rude = append(c.rude, key)
		}
	}
	for range peakQueue / 5000 {
		made, err := ask(ctx, c.http, http.MethodPost, r.URL+c.path("/tasks"), c.keys[0], plainTasks(5000, "qpeak"))
		require.NoError(r.t, err)
		var out struct {
			TaskIDs []int64 `json:"task_ids"`
		}
		require.NoError(r.t, json.Unmarshal(made.body, &out), "%d %.200s", made.status, made.body)
		c.tasks = append(c.tasks, out.TaskIDs...)
	}
	var g errgroup.Group
	g.SetLimit(4) // hashing a password takes a whole processor
	for i := range peakWorkers {
		g.Go(func() error {
			jar, err := cookiejar.New(nil)
			if err != nil {
				return err
			}
			p := &http.Client{Transport: transport, Timeout: 4 * callTimeout, Jar: jar}
			a, err := ask(ctx, p, http.MethodPost, r.URL+"/api/console/login", "", fmt.Sprintf(`{"email":"c%d@qpeak.test","password":%q}`, i, password))
			if err == nil && a.status >= http.StatusBadRequest {
				err = fmt.Errorf("log in: %d %.200s", a.status, a.body)
			}
			c.people <- p
			return err
		})
	}
	require.NoError(r.t, g.Wait())
	return c
}

func (c *crowd) path(rest string) string {
	return fmt.Sprintf("/api/v1/workflows/%d%s", c.pipeline, rest)
}

func (c *crowd) base(n int) string { return c.run.bases[n%len(c.run.bases)] }

// The calls of the crowd beside those of the objectives.
const (
	opStatus = "status"
	opRude   = "list, ignoring Retry-After"
	opQueues = "queues"
	opBig    = "create 32 MB"
)

// arrival is a kind of call that comes so often a second, whatever becomes of
// the earlier ones.
type arrival struct {
	kind string
	rate float64
	do   func(ctx context.Context, n int, into *tallies)
}

// peak is the busiest hour of docs/load.md. A claim is followed by what is done
// under it.
func (c *crowd) peak() []arrival {
	program := func(kind string, keys []string, path func(n int) string) func(context.Context, int, *tallies) {
		return func(ctx context.Context, n int, into *tallies) {
			a, err := ask(ctx, c.http, http.MethodGet, c.base(n)+c.path(path(n)), keys[n%len(keys)], "")
			into.note(kind, a, err)
		}
	}
	return []arrival{
		{opStatus, 150, program(opStatus, c.keys, func(n int) string { return fmt.Sprintf("/tasks/%d", c.tasks[n*7919%len(c.tasks)]) })},
		{opPoll, 4, program(opPoll, c.keys, func(int) string { return "/tasks?limit=200" })},
		{opQueues, 50, c.queues},
		{opClaim, 6, c.work},
	}
}

// ignores is a program that asks again as soon as it was answered, whatever it
// was told, until ctx ends.
func (c *crowd) ignores(ctx context.Context, n int, into *tallies) {
	for ctx.Err() == nil {
		a, err := ask(ctx, c.http, http.MethodGet, c.base(n)+c.path("/tasks?limit=200"), c.rude[n], "")
		if ctx.Err() == nil {
			into.note(opRude, a, err)
		}
	}
}

// queues is somebody who looks whether there is work.
func (c *crowd) queues(ctx context.Context, n int, into *tallies) {
	select {
	case p := <-c.people:
		c.people <- p // looking keeps nobody from working
		a, err := ask(ctx, p, http.MethodGet, c.base(n)+"/api/console/queues", "", "")
		into.note(opQueues, a, err)
	default: // everybody is at work
	}
}

// work is somebody who claims, saves four drafts, extends their lease and hands
// in, without a pause.
func (c *crowd) work(ctx context.Context, n int, into *tallies) {
	var p *http.Client
	select {
	case p = <-c.people:
		defer func() { c.people <- p }()
	default:
		into.mu.Lock()
		into.idle++
		into.mu.Unlock()
		return
	}
	a, err := ask(ctx, p, http.MethodPost, fmt.Sprintf("%s/api/console/pipelines/%d/claim", c.base(n), c.pipeline), "", `{"role":"contributor"}`)
	into.note(opClaim, a, err)
	var k claim
	if err != nil || a.status != http.StatusOK || json.Unmarshal(a.body, &k) != nil {
		return
	}
	then := func(kind, method, verb, body string) {
		a, err := ask(ctx, p, method, c.base(n)+claimPath(k.ID, verb), "", body)
		into.note(kind, a, err)
	}
	answer := strings.Repeat("qpeak answer ", 400)
	for i := range 4 {
		then(opDraft, http.MethodPut, "/draft", fmt.Sprintf(`{"values":{"answer":%q},"revision":%d}`, answer, i))
	}
	then(opExtend, http.MethodPost, "/extend", "")
	then(opSubmit, http.MethodPost, "/submit", fmt.Sprintf(`{"values":{"answer":%q}}`, answer))
}
