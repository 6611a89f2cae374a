package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/hour"
)

// The calls of the crowd beside those of the objectives.
const (
	opStatus   = "status"
	opReviews  = "claim a review"
	opNaive    = "status, more often than its limit"
	opRude     = "list, ignoring Retry-After"
	opQueues   = "queues"
	opExplore  = "explorer"
	opStranger = "status, of another organization"
	opBig      = "create 32 MB"
)

// ofThePeak are the kinds of calls that the peak is made of: those that come by
// themselves (crowd.peak), and what is done under each claim (crowd.work,
// crowd.decide). Each of them must be served; of the others, which ask for more than
// anybody may, it is enough that they are answered.
var ofThePeak = []string{opStatus, opPoll, opQueues, opExplore, opStranger, opClaim, opDraft, opExtend, opSubmit, opReviews, opReview}

// arrival is a kind of call that comes so often a second, whatever becomes of
// the earlier ones.
type arrival struct {
	kind string
	rate float64
	do   func(ctx context.Context, n int, into *tallies)
}

// peak is the busiest hour of docs/load.md, as `make load` plays it. A claim is
// followed by what is done under it.
func (c *crowd) peak() []arrival {
	p := hour.Busiest
	return []arrival{
		{opStatus, p.Statuses, c.program(opStatus, c.status, c.keys...)},
		{opNaive, p.Naive, c.program(opNaive, c.status, c.naive)},
		{opPoll, p.Lists, c.program(opPoll, func(int) string { return "/tasks?limit=200" }, c.keys...)},
		{opStranger, p.Foreign, c.stranger},
		{opQueues, p.Counts, c.queues},
		{opExplore, p.Explorer, c.explore},
		{opClaim, p.Tasks, c.work},
		{opReviews, p.Verdicts, c.decide},
	}
}

// underClaims is how often something is done under claim number n that comes so
// many times a second in all.
func underClaims(n int, rate float64) int {
	each := rate / hour.Busiest.Tasks
	return int(float64(n+1)*each) - int(float64(n)*each)
}

func (c *crowd) status(n int) string { return fmt.Sprintf("/tasks/%d", c.tasks[n*7919%len(c.tasks)]) }

// program asks for something, under one key after the other.
func (c *crowd) program(kind string, path func(n int) string, keys ...string) func(context.Context, int, *tallies) {
	return func(ctx context.Context, n int, into *tallies) {
		a, err := ask(ctx, c.http, http.MethodGet, c.base(n)+c.path(path(n)), keys[n%len(keys)], "")
		into.note(kind, a, err)
	}
}

// stranger is a program of another organization. That there is no such task is what
// it has to be served with.
func (c *crowd) stranger(ctx context.Context, n int, into *tallies) {
	a, err := ask(ctx, c.http, http.MethodGet, c.base(n)+c.path(c.status(n)), c.foreign, "")
	switch {
	case err == nil && a.status == http.StatusNotFound:
		a.status = http.StatusOK
	case err == nil && a.status < http.StatusBadRequest:
		c.run.Violate("I11: a program of another organization was answered %d %.200s", a.status, a.body)
	}
	into.note(opStranger, a, err)
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

// explore is an admin who searches among all tasks.
func (c *crowd) explore(ctx context.Context, n int, into *tallies) {
	searches := []string{"", "node=" + lookedAt + "&node_status=available", "node=" + decidedIn + "&node_status=available", "held=true"}
	a, err := ask(ctx, c.admin, http.MethodGet, fmt.Sprintf("%s/api/console/pipelines/%d/tasks?%s", c.base(n), c.pipeline, searches[n%len(searches)]), "", "")
	into.note(opExplore, a, err)
}

// claims lets somebody who is free claim the next work of their role, and do under it
// what is to be done, which is the rest of what they do. It is noted when nobody is
// free.
func (c *crowd) claims(ctx context.Context, n int, into *tallies, free chan *http.Client, kind, role string, then func(p *http.Client, k *claim)) {
	var p *http.Client
	select {
	case p = <-free:
		defer func() { free <- p }()
	default:
		into.mu.Lock()
		into.idle++
		into.mu.Unlock()
		return
	}
	a, err := ask(ctx, p, http.MethodPost, fmt.Sprintf("%s/api/console/pipelines/%d/claim", c.base(n), c.pipeline), "", fmt.Sprintf(`{"role":%q}`, role))
	into.note(kind, a, err)
	var k claim
	if err == nil && a.status == http.StatusOK && json.Unmarshal(a.body, &k) == nil {
		then(p, &k)
	}
}

// work is somebody who claims, saves drafts, extends their lease and hands in, without
// a pause.
func (c *crowd) work(ctx context.Context, n int, into *tallies) {
	answer := strings.Repeat("qpeak answer ", 400)
	c.claims(ctx, n, into, c.people, opClaim, roleContributor, func(p *http.Client, k *claim) {
		then := func(kind, method, verb, body string) answered {
			a, err := ask(ctx, p, method, c.base(n)+claimPath(k.ID, verb), "", body)
			into.note(kind, a, err)
			return a
		}
		revision := k.revision()
		for range underClaims(n, hour.Busiest.Drafts) {
			saved := then(opDraft, http.MethodPut, "/draft", fmt.Sprintf(`{"values":{"answer":%q},"revision":%d}`, answer, revision))
			var now written
			if saved.status == http.StatusOK && json.Unmarshal(saved.body, &now) == nil {
				revision = now.Revision
			}
		}
		for range underClaims(n, hour.Busiest.Extends) {
			then(opExtend, http.MethodPost, "/extend", "")
		}
		then(opSubmit, http.MethodPost, "/submit", fmt.Sprintf(`{"values":{"answer":%q}}`, answer))
	})
}

// decide is a reviewer who claims a review, where there is one, and returns one of ten.
func (c *crowd) decide(ctx context.Context, n int, into *tallies) {
	verdict := `{"verdict":"approve"}`
	if n%10 == 9 {
		verdict = `{"verdict":"reject","comments":[{"field":"answer","text":"Please count again.","verdict":"wrong"}]}`
	}
	c.claims(ctx, n, into, c.reviewers, opReviews, roleReviewer, func(p *http.Client, k *claim) {
		a, err := ask(ctx, p, http.MethodPost, c.base(n)+claimPath(k.ID, "/review"), "", verdict)
		into.note(opReview, a, err)
	})
}

// Each kind of the peak that comes by itself must be served, but for the one that asks
// more often than it may; all of them come as often as in `make load`.
func TestThePeakIsThatOfTheLoad(t *testing.T) {
	t.Parallel()
	rates := map[string]float64{}
	for _, a := range (&crowd{}).peak() {
		require.NotEqual(t, a.kind == opNaive, slices.Contains(ofThePeak, a.kind), a.kind)
		rates[a.kind] = a.rate
	}
	is, drafts, extends := hour.Busiest, 0, 0
	const seconds = 100
	for n := range seconds * int(is.Tasks) {
		drafts += underClaims(n, is.Drafts)
		extends += underClaims(n, is.Extends)
	}
	rates[opDraft], rates[opExtend] = float64(drafts)/seconds, float64(extends)/seconds
	require.Equal(t, hour.Profile{
		Tasks: rates[opClaim], Verdicts: rates[opReviews], Extends: rates[opExtend], Drafts: rates[opDraft],
		Counts: rates[opQueues], Lists: rates[opPoll], Statuses: rates[opStatus], Naive: rates[opNaive],
		Explorer: rates[opExplore], Foreign: rates[opStranger], Handling: is.Handling, Reviewing: is.Reviewing,
	}, is)
}
