package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
)

const password = "taskloom-chaos"

// The nodes of the pipeline. solve and tag are side by side, check reviews
// solve. more is beside check, where the answer of solve leads: what check sends
// back may lead elsewhere the next time.
const (
	nodeSolve = "solve"
	nodeTag   = "tag"
	nodeMore  = "more"
	nodeCheck = "check"
)

// fieldOf is what a contributor fills in for a node.
var fieldOf = map[string]string{nodeSolve: "answer", nodeTag: "label", nodeMore: "rest"}

// leadsToMore is the pattern of answers that lead to more: every other one that a
// person gives, and none of the probes'. With each turn of a pipeline it is the others,
// so that a task that went by another version than its own comes to another end.
func leadsToMore(turn int) string {
	return `.* [0-9]*[` + [2]string{"02468", "13579"}[turn%2] + `] of .*`
}

// Organization is one tenant. Its mark stands in everything that belongs to
// it: names, addresses, questions, answers. A body that reaches a client of
// another tenant and has it is a leak.
type Organization struct {
	Mark                    string
	ID, Pipeline            int64
	Key                     string
	Contributors, Reviewers []string
	// Visitors have no role in its project, unless an admin gives them one.
	Visitors []string

	mu    sync.Mutex
	tasks map[int64]bool
	order []int64 // the same
}

// own notes tasks that were made for the organization.
func (o *Organization) own(ids ...int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		if !o.tasks[id] {
			o.tasks[id], o.order = true, append(o.order, id)
		}
	}
}

// lose notes that tasks are not there any more: their numbers may be given to others.
func (o *Organization) lose(ids ...int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		delete(o.tasks, id)
	}
	o.order = slices.DeleteFunc(o.order, func(id int64) bool { return !o.tasks[id] })
}

func (o *Organization) owns(id int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tasks[id]
}

// some is one of its tasks; false while it has none.
func (o *Organization) some(r *rand.Rand) (int64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.order) == 0 {
		return 0, false
	}
	return o.order[r.IntN(len(o.order))], true
}

// newest is one of its last so many tasks; false while it has none.
func (o *Organization) newest(r *rand.Rand, of int) (int64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.order) == 0 {
		return 0, false
	}
	return o.order[len(o.order)-1-r.IntN(min(of, len(o.order)))], true
}

// World is all tenants: those that the load works in, and one for the probes
// that see whether everything works again.
type World struct {
	Orgs  []*Organization
	Probe *Organization
	// Guests are tenants that a run made for itself before its load began. What they
	// do is checked by who made them; nobody else may be answered with it.
	Guests []*Organization
}

func (w *World) all() []*Organization { return append(slices.Clone(w.Orgs), w.Probe) }

func newWorld(l Load) *World {
	w := &World{
		Orgs:  []*Organization{newOrganization("qalpha", l.Contributors, l.Reviewers), newOrganization("qbeta", l.Contributors, l.Reviewers)},
		Probe: newOrganization("qprobe", 2, 1),
	}
	for _, o := range w.Orgs {
		for i := range 3 {
			o.Visitors = append(o.Visitors, fmt.Sprintf("v%d@%s.test", i, o.Mark))
		}
	}
	return w
}

func newOrganization(mark string, contributors, reviewers int) *Organization {
	o := &Organization{Mark: mark, tasks: map[int64]bool{}}
	for i := range contributors {
		o.Contributors = append(o.Contributors, fmt.Sprintf("c%d@%s.test", i, mark))
	}
	for i := range reviewers {
		o.Reviewers = append(o.Reviewers, fmt.Sprintf("r%d@%s.test", i, mark))
	}
	return o
}

type object = map[string]any

// document is the world for `taskloom apply`.
func (w *World) document(t testing.TB) []byte {
	t.Helper()
	var orgs []object
	for _, o := range w.all() {
		users := []object{{"email": "admin@" + o.Mark + ".test", "name": "Admin " + o.Mark, "password": password, "role": "org_admin"}}
		for _, email := range o.Visitors {
			users = append(users, object{"email": email, "name": email, "password": password, "role": "member"})
		}
		var members []object
		for role, emails := range map[string][]string{"contributor": o.Contributors, "reviewer": o.Reviewers} {
			for _, email := range emails {
				users = append(users, object{"email": email, "name": email, "password": password, "role": "member"})
				members = append(members, object{"email": email, "role": role})
			}
		}
		orgs = append(orgs, object{
			"slug": o.Mark, "name": o.Mark, "users": users,
			"projects": []object{{"name": o.Mark, "members": members, "pipelines": []object{{"status": "ACTIVE", "definition": o.definition(0)}}}},
			"api_keys": []object{{"name": o.Mark, "created_by": "admin@" + o.Mark + ".test", "expires": "never"}},
		})
	}
	doc, err := json.Marshal(object{"organizations": orgs})
	require.NoError(t, err)
	return doc
}

// definition is the pipeline of the load in one of its turns, which only tell apart
// which answers lead to more.
func (o *Organization) definition(turn int) object {
	return object{
		"name": o.Mark, "description": o.turned(turn),
		"nodes": []object{
			{"key": "start", "kind": "start"},
			{"key": nodeSolve, "kind": "subtask", "title": "Solve " + o.Mark, "lease": "1m", "fields": []object{
				{"name": "question", "title": "Question", "type": "long_text", "input": "seeded", "required": true},
				{"name": "answer", "title": "Answer", "type": "long_text", "input": "contributor", "required": true},
				{"name": fieldScan, "title": "Scan", "type": "file_upload", "input": "contributor"},
			}},
			{"key": nodeTag, "kind": "subtask", "title": "Tag " + o.Mark, "lease": "1m", "fields": []object{
				{"name": "label", "title": "Label", "type": "short_text", "input": "contributor", "required": true},
			}},
			{"key": nodeMore, "kind": "subtask", "title": "More " + o.Mark, "lease": "1m", "fields": []object{
				{"name": "rest", "title": "Rest", "type": "short_text", "input": "contributor", "required": true},
			}},
			{
				"key": nodeCheck, "kind": "review", "title": "Check " + o.Mark, "lease": "1m", "max_rework": maxRework,
				"reviews": []object{{"node": nodeSolve, "fields": []string{"answer"}}},
			},
			{"key": "end", "kind": "end"},
		},
		"edges": []object{
			{"from": "start", "to": nodeSolve},
			{"from": nodeSolve, "to": nodeCheck},
			{"from": nodeCheck, "to": "end"},
			{"from": nodeSolve, "to": nodeMore, "when": object{"field": "answer", "op": "matches", "value": leadsToMore(turn)}},
			{"from": nodeMore, "to": "end"},
			{"from": "start", "to": nodeTag},
			{"from": nodeTag, "to": "end"},
		},
	}
}

// turned is what a pipeline says of itself in one of its turns.
func (o *Organization) turned(turn int) string { return fmt.Sprintf("%s %d", o.Mark, turn) }

// settle takes over the ids that applying the document gave.
func (w *World) settle(a stacktest.Applied) {
	for _, o := range w.all() {
		o.Pipeline, o.Key = a.Pipeline(o.Mark), a.Key(o.Mark)
		for _, made := range a.Organizations {
			if made.Slug == o.Mark {
				o.ID = made.ID
			}
		}
	}
}

// leak looks for what belongs to another tenant in a body that a client of
// this one was given, and returns what it found, "" when there is nothing.
func (w *World) leak(own *Organization, body []byte) string {
	var doc any
	parsed := json.Unmarshal(body, &doc) == nil
	for _, o := range append(w.all(), w.Guests...) {
		if o.Mark == own.Mark {
			continue
		}
		if bytes.Contains(body, []byte(o.Mark)) {
			return "the mark " + o.Mark
		}
		if parsed {
			if found := o.idsIn(doc, ""); found != "" {
				return found + " of " + o.Mark
			}
		}
	}
	return ""
}

// idsIn walks a JSON document to numbers that are ids by their name.
func (o *Organization) idsIn(doc any, name string) string {
	switch v := doc.(type) {
	case map[string]any:
		for k, e := range v {
			if found := o.idsIn(e, k); found != "" {
				return found
			}
		}
	case []any:
		for _, e := range v {
			if found := o.idsIn(e, name); found != "" {
				return found
			}
		}
	case float64:
		id := int64(v)
		switch name {
		case "id", "task_id", "task_ids":
			if o.owns(id) {
				return fmt.Sprintf("task %d", id)
			}
		case "workflow_id", "pipeline_id":
			if id == o.Pipeline {
				return fmt.Sprintf("pipeline %d", id)
			}
		case "org_id":
			if id == o.ID {
				return fmt.Sprintf("organization %d", id)
			}
		}
	}
	return ""
}
