package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	// peakWorkers people take turns in claiming, peakReviewers in reviewing; peakKeys
	// are the programs that wait as they are told, rudeKeys those that do not.
	peakWorkers   = 90
	peakReviewers = 30
	peakKeys      = 40
	rudeKeys      = 20
	// peakQueue tasks are made beforehand.
	peakQueue = 10_000
	// lookedAt is the node that people work on, decidedIn the one in which it is
	// reviewed.
	lookedAt, decidedIn = "look", "decide"
)

// crowd is everybody who works at the peak, each with a key or a session.
type crowd struct {
	run  *Run
	http *http.Client // for programs
	// people and reviewers are free to begin something.
	people, reviewers chan *http.Client
	admin             *http.Client
	keys, rude        []string
	// naive is the key of the program that always asks too often, foreign one of
	// another organization.
	naive, foreign string
	pipeline       int64
	tasks          []int64
}

// crowdDocument is the tenant for `taskloom apply`. Runs of its tasks wait for a
// claim, so that what is created is no work for Temporal by itself.
func crowdDocument() []byte {
	var users, members, keys []object
	users = append(users, object{"email": "admin@qpeak.test", "name": "Admin qpeak", "password": password, "role": "org_admin"})
	for i := range peakWorkers + peakReviewers {
		email, role := fmt.Sprintf("p%d@qpeak.test", i), roleContributor
		if i >= peakWorkers {
			role = roleReviewer
		}
		users = append(users, object{"email": email, "name": email, "password": password, "role": "member"})
		members = append(members, object{"email": email, "role": role})
	}
	for i := range peakKeys + rudeKeys + 1 {
		keys = append(keys, object{"name": fmt.Sprintf("key %d", i), "created_by": "admin@qpeak.test", "expires": "never"})
	}
	raw, _ := json.Marshal(object{"organizations": []object{{ // strings and numbers only
		"slug": "qpeak", "name": "qpeak", "users": users, "api_keys": keys,
		"projects": []object{{"name": "qpeak", "members": members, "pipelines": []object{{"status": "ACTIVE", "definition": object{
			"name": "qpeak", "runs": "on_first_claim",
			"nodes": []object{
				{"key": "start", "kind": "start"},
				{"key": lookedAt, "kind": "subtask", "title": "Look", "fields": []object{
					{"name": "question", "title": "Question", "type": "long_text", "input": "seeded", "required": true},
					{"name": "answer", "title": "Answer", "type": "long_text", "input": "contributor", "required": true},
				}},
				{"key": decidedIn, "kind": "review", "title": "Decide", "reviews": []object{{"node": lookedAt, "fields": []string{"answer"}}}},
				{"key": "end", "kind": "end"},
			},
			"edges": []object{{"from": "start", "to": lookedAt}, {"from": lookedAt, "to": decidedIn}, {"from": decidedIn, "to": "end"}},
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
		people: make(chan *http.Client, peakWorkers), reviewers: make(chan *http.Client, peakReviewers),
		naive: a.Key(fmt.Sprintf("key %d", peakKeys+rudeKeys)), foreign: r.World.Orgs[0].Key,
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
	for i := range peakWorkers + peakReviewers {
		free := c.people
		if i >= peakWorkers {
			free = c.reviewers
		}
		g.Go(func() error {
			p, err := c.login(ctx, transport, fmt.Sprintf("p%d@qpeak.test", i))
			free <- p
			return err
		})
	}
	require.NoError(r.t, g.Wait())
	var err error
	c.admin, err = c.login(ctx, transport, "admin@qpeak.test")
	require.NoError(r.t, err)
	return c
}

// login makes a session of somebody.
func (c *crowd) login(ctx context.Context, through http.RoundTripper, email string) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	p := &http.Client{Transport: through, Timeout: 4 * callTimeout, Jar: jar}
	a, err := ask(ctx, p, http.MethodPost, c.run.URL+"/api/console/login", "", fmt.Sprintf(`{"email":%q,"password":%q}`, email, password))
	if err == nil && a.status >= http.StatusBadRequest {
		err = fmt.Errorf("log in: %d %.200s", a.status, a.body)
	}
	return p, err
}

func (c *crowd) path(rest string) string {
	return fmt.Sprintf("/api/v1/workflows/%d%s", c.pipeline, rest)
}

func (c *crowd) base(n int) string { return c.run.bases[n%len(c.run.bases)] }
