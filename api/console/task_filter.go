package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// TaskFilter is what a list of tasks can be narrowed by, beside the status.
// huma documents it; Resolve reads it, because an absent priority is not 0.
type TaskFilter struct {
	Node          string    `query:"node" maxLength:"64" doc:"Only tasks that are at this node: it is open, or has node_status."`
	NodeStatus    string    `query:"node_status" enum:"pending,deferred,available,claimed,submitted,escalated,quarantined,finished,na" doc:"Only tasks with a node of this status; with node, that node."`
	Person        int64     `query:"person" minimum:"1" doc:"Only tasks of which this person holds a node."`
	Priority      int       `query:"priority" minimum:"-100" maximum:"100" doc:"Only tasks of this priority."`
	Held          bool      `query:"held" doc:"Only tasks that are on hold, or only those that are not."`
	CreatedAfter  time.Time `query:"created_after" doc:"Only tasks created then or later."`
	CreatedBefore time.Time `query:"created_before" doc:"Only tasks created before."`
	ID            int64     `query:"id" minimum:"1" doc:"Only this task."`

	query store.TaskSearch
}

// filterNames are the parameters of TaskFilter, in the order of canonical.
var filterNames = []string{"node", "node_status", "person", "priority", "held", "created_after", "created_before", "id"}

// Resolve is called by huma before the handler.
func (f *TaskFilter) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil // the page's own Resolve tells
	}
	if err := f.read(query); err != nil {
		return []error{err}
	}
	return nil
}

func (f *TaskFilter) read(query url.Values) error {
	for _, name := range filterNames {
		if n := len(query[name]); n > 1 {
			return fault.New(fault.InvalidRequest, "%s is given %d times; give it once", name, n)
		}
	}
	r := filterReader{query: query}
	f.query = store.TaskSearch{
		Node: query.Get("node"), NodeStatus: r.nodeStatus(), Person: r.id("person"), ID: r.id("id"),
		Priority: r.priority(), Held: r.flag("held"),
		CreatedAfter: r.time("created_after"), CreatedBefore: r.time("created_before"),
	}
	return r.err
}

// canonical is the filter as a text, for the cursor's scope: "" for none.
func (f *TaskFilter) canonical() string {
	q := f.query
	var b strings.Builder
	add := func(name, value string) { b.WriteString(" " + name + "=" + strconv.Quote(value)) }
	if q.Node != "" {
		add("node", q.Node)
	}
	if q.NodeStatus != "" {
		add("node_status", string(q.NodeStatus))
	}
	if q.Person != 0 {
		add("person", strconv.FormatInt(q.Person, 10))
	}
	if q.Priority != nil {
		add("priority", strconv.Itoa(*q.Priority))
	}
	if q.Held != nil {
		add("held", strconv.FormatBool(*q.Held))
	}
	if !q.CreatedAfter.IsZero() {
		add("after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		add("before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	if q.ID != 0 {
		add("id", strconv.FormatInt(q.ID, 10))
	}
	return b.String()
}

// filterReader reads single parameters and keeps the first error.
type filterReader struct {
	query url.Values
	err   error
}

func (r *filterReader) fail(name, want string) {
	if r.err == nil {
		r.err = fault.New(fault.InvalidRequest, "%s must be %s, got %s", name, want, edge.Quote(r.query.Get(name)))
	}
}

func (r *filterReader) id(name string) int64 {
	if !r.query.Has(name) {
		return 0
	}
	n, err := strconv.ParseInt(r.query.Get(name), 10, 64)
	if err != nil || n < 1 {
		r.fail(name, "a positive integer")
	}
	return n
}

func (r *filterReader) priority() *int {
	if !r.query.Has("priority") {
		return nil
	}
	n, err := strconv.Atoi(r.query.Get("priority"))
	if err != nil || n < -store.MaxPriority || n > store.MaxPriority {
		r.fail("priority", "an integer from -100 to 100")
	}
	return &n
}

func (r *filterReader) flag(name string) *bool {
	if !r.query.Has(name) {
		return nil
	}
	on := r.query.Get(name) == "true"
	if !on && r.query.Get(name) != "false" {
		r.fail(name, "true or false")
	}
	return &on
}

func (r *filterReader) time(name string) time.Time {
	if !r.query.Has(name) {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, r.query.Get(name))
	if err != nil {
		r.fail(name, "a time such as 2026-01-31T09:00:00Z")
	}
	return t
}

func (r *filterReader) nodeStatus() task.NodeStatus {
	s := task.NodeStatus(r.query.Get("node_status"))
	if r.query.Has("node_status") && !slices.Contains(task.NodeStatuses(), s) {
		var known []string
		for _, n := range task.NodeStatuses() {
			known = append(known, string(n))
		}
		r.fail("node_status", "one of "+strings.Join(known, ", "))
	}
	return s
}
