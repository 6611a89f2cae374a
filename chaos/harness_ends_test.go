package chaos

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/task"
)

// maxRework is how many rejections a review of the load's pipeline may give; the next
// one escalates.
const maxRework = 3

// endedTask is a task of the load's pipeline as it is in the end, with what brought it
// there: how often each node was claimed, and what was handed in.
type endedTask struct {
	id     int64
	status task.Status
	// claimed is the last round in which somebody had a node, by node.
	claimed map[string]int
	// handedIn are its submissions and verdicts in the order of the journal.
	handedIn []handedIn
	// more is where the node is that only some answers lead to.
	more task.NodeStatus
	// turn is that of the version of its pipeline that it was created with.
	turn int
	// resolved is how an admin last ended an escalation of its review.
	resolved resolution
	// aside is the event with which an admin last escalated its review, 0 where none did.
	aside int64
	// older says that an older version may have led it, which finished that node also
	// where the answer was sent back and led elsewhere then.
	older bool
	// failing is what admins did who failed it.
	failing failing
}

type handedIn struct {
	node      string
	iteration int
	verdict   string // of a review
	seq       int64
	answer    string // of solve
}

// resolution is what an admin decided of a node, and when: seq is 0 where nobody had to.
type resolution struct {
	outcome string
	seq     int64
}

// moreDue finds answers that lead to more, by the turn of the pipeline, odd or even.
var moreDue = [2]*regexp.Regexp{regexp.MustCompile("^" + leadsToMore(0) + "$"), regexp.MustCompile("^" + leadsToMore(1) + "$")}

// wrong says why the task cannot have come to its end, "" when it can. It knows the
// pipeline of the load (Organization.definition) and asks nothing that the product
// works out of it: a step that skips a node leaves a journal, rows and counts that agree.
func (e endedTask) wrong() string {
	if e.failing.told > 0 && e.status != task.Failed {
		return fmt.Sprintf("is %s, and an admin was told that it failed", e.status)
	}
	switch e.status {
	case task.Failed:
		if !e.failing.asked {
			return "failed, and no client asked for that"
		}
	case task.Quarantined:
		return "is quarantined"
	case task.Escalated:
		rejections, last := 0, ""
		for _, h := range e.handedIn {
			if h.node != nodeCheck || h.seq < e.resolved.seq {
				continue
			}
			if last = h.verdict; last == "reject" {
				rejections++
			}
		}
		if last != "escalate" && rejections <= maxRework && e.aside <= e.resolved.seq {
			return fmt.Sprintf("is escalated, its last verdict is %q, and it was rejected %d times", last, rejections)
		}
	case task.Finished:
		last := map[string]handedIn{}
		for _, h := range e.handedIn {
			last[h.node] = h
		}
		h := last[nodeCheck]
		passed, at := h.verdict == "approve", h.seq
		if e.resolved.seq > h.seq {
			passed, at = e.resolved.outcome != resolveRequeue, e.resolved.seq
		}
		due := []string{nodeSolve, nodeTag}
		if !passed || at == h.seq { // an admin's word stands for a verdict
			due = append(due, nodeCheck)
		}
		led := moreDue[e.turn%2].MatchString(last[nodeSolve].answer)
		if led {
			due = append(due, nodeMore)
		}
		if led != (e.more == task.NodeFinished) && !e.older {
			return fmt.Sprintf("is finished, its last answer is %q, and node %s is %s", last[nodeSolve].answer, nodeMore, e.more)
		}
		for _, node := range due {
			if h, ok := last[node]; !ok || h.iteration != e.claimed[node] {
				return fmt.Sprintf("is finished, node %s was claimed in round %d, and handed in last in round %d", node, e.claimed[node], h.iteration)
			}
		}
		if !passed || at < last[nodeSolve].seq {
			return fmt.Sprintf("is finished, its last verdict is %q as event %d, an admin's word is %q as event %d, and what they are about is event %d",
				h.verdict, h.seq, e.resolved.outcome, e.resolved.seq, last[nodeSolve].seq)
		}
	case task.Pending, task.InProgress, task.Paused: // finish is about these
	}
	return ""
}

// checkEnds is for tasks that have come to an end: each has done what its pipeline asks
// for, and none has an end that nobody gave it.
func (r *Run) checkEnds(ctx context.Context) error {
	tasks, err := r.endedTasks(ctx)
	if err != nil {
		return err
	}
	ended, failed := map[task.Status]int{}, failings(r.History.Ops())
	for _, e := range tasks {
		ended[e.status]++
		e.failing = failed[e.id]
		if wrong := e.wrong(); wrong != "" {
			r.Violate("I4: task %d %s", e.id, wrong)
		}
	}
	r.Logf("the ends of %d tasks were looked at: %v", len(tasks), ended)
	// Of the tenants that rows make for themselves nobody fails anything either.
	n, err := r.Count(ctx, `SELECT count(*) FROM tasks WHERE status = 'failed' AND NOT pipeline_id = ANY($1)`, r.loadPipelines())
	if n > 0 {
		r.Violate("I4: %d tasks of other tenants than those of the load failed, and no client asked for that", n)
	}
	return err
}

// loadPipelines are those of all tenants of the world.
func (r *Run) loadPipelines() (ids []int64) {
	for _, o := range r.World.all() {
		ids = append(ids, o.Pipeline)
	}
	return ids
}

// endedTasks reads the tasks of all tenants of the world.
func (r *Run) endedTasks(ctx context.Context) (map[int64]*endedTask, error) {
	pipelines := r.loadPipelines()
	tasks := map[int64]*endedTask{}
	var id, seq int64
	var text, verdict, more string
	var iteration, turn int
	pool := r.Store().Pool()
	rows, _ := pool.Query(ctx, `SELECT t.id, t.status, n.status, split_part(v.definition->>'description', ' ', 2)::int
		FROM tasks t JOIN task_nodes n ON n.task_id = t.id AND n.key = $2 JOIN pipeline_versions v ON v.id = t.version_id
		WHERE t.pipeline_id = ANY($1)`, pipelines, nodeMore)
	if _, err := pgx.ForEachRow(rows, []any{&id, &text, &more, &turn}, func() error {
		tasks[id] = &endedTask{id: id, status: task.Status(text), claimed: map[string]int{}, more: task.NodeStatus(more), turn: turn, older: r.older}
		return nil
	}); err != nil {
		return nil, err
	}
	rows, _ = pool.Query(ctx, `SELECT e.task_id, e.node_key, max(e.iteration) FROM task_events e JOIN tasks t ON t.id = e.task_id
		WHERE t.pipeline_id = ANY($1) AND e.kind = 'claim' GROUP BY 1, 2`, pipelines)
	if _, err := pgx.ForEachRow(rows, []any{&id, &text, &iteration}, func() error {
		if t := tasks[id]; t != nil {
			t.claimed[text] = iteration
		}
		return nil
	}); err != nil {
		return nil, err
	}
	rows, _ = pool.Query(ctx, `SELECT DISTINCT ON (e.task_id) e.task_id, e.outcome, e.seq FROM task_events e JOIN tasks t ON t.id = e.task_id
		WHERE t.pipeline_id = ANY($1) AND e.kind = 'resolve' AND e.node_key = $2 ORDER BY e.task_id, e.seq DESC`, pipelines, nodeCheck)
	if _, err := pgx.ForEachRow(rows, []any{&id, &text, &seq}, func() error {
		if t := tasks[id]; t != nil {
			t.resolved = resolution{text, seq}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	rows, _ = pool.Query(ctx, `SELECT e.task_id, max(e.seq) FROM `+asidesSQL+` JOIN tasks t ON t.id = e.task_id
		WHERE t.pipeline_id = ANY($1) AND e.kind = 'escalate' AND e.node_key = $2 GROUP BY 1`, pipelines, nodeCheck)
	if _, err := pgx.ForEachRow(rows, []any{&id, &seq}, func() error {
		if t := tasks[id]; t != nil {
			t.aside = seq
		}
		return nil
	}); err != nil {
		return nil, err
	}
	rows, _ = pool.Query(ctx, `SELECT s.task_id, s.node_key, s.iteration, s.verdict, s.seq, coalesce(s.values->>'answer', '')
		FROM submissions s JOIN tasks t ON t.id = s.task_id
		WHERE t.pipeline_id = ANY($1) ORDER BY s.task_id, s.seq`, pipelines)
	_, err := pgx.ForEachRow(rows, []any{&id, &text, &iteration, &verdict, &seq, &more}, func() error {
		if t := tasks[id]; t != nil {
			t.handedIn = append(t.handedIn, handedIn{text, iteration, verdict, seq, more})
		}
		return nil
	})
	return tasks, err
}

func TestAnEndHasItsCause(t *testing.T) {
	t.Parallel()
	solve, tag := handedIn{nodeSolve, 1, "", 3, "q 7 of c1 on task 4"}, handedIn{nodeTag, 1, "", 5, ""}
	check := func(round int, verdict string, seq int64) handedIn {
		return handedIn{nodeCheck, round, verdict, seq, ""}
	}
	again, leads, more := handedIn{nodeSolve, 2, "", 9, "q 9 of c1 on task 4"}, handedIn{nodeSolve, 1, "", 3, "q 18 of c1 on task 4"}, handedIn{nodeMore, 1, "", 6, ""}
	all := map[string]int{nodeSolve: 1, nodeTag: 1, nodeCheck: 1, nodeMore: 1}
	once := map[string]int{nodeSolve: 1, nodeTag: 1, nodeCheck: 1}
	twice := map[string]int{nodeSolve: 2, nodeTag: 1, nodeCheck: 2}
	rejected := []handedIn{solve, tag}
	for round := range maxRework + 1 {
		rejected = append(rejected, check(round+1, "reject", int64(10+round)))
	}
	for name, c := range map[string]struct {
		status   task.Status
		claimed  map[string]int
		handedIn []handedIn
		more     task.NodeStatus
		right    bool
		turn     int
		resolved resolution
		failing  failing
	}{
		"done and approved":               {task.Finished, once, []handedIn{solve, tag, check(1, "approve", 7)}, task.NodeNA, true, 0, resolution{}, failing{}},
		"one node is missing":             {task.Finished, once, []handedIn{solve, check(1, "approve", 7)}, task.NodeNA, false, 0, resolution{}, failing{}},
		"without a verdict":               {task.Finished, once, []handedIn{solve, tag}, task.NodeNA, false, 0, resolution{}, failing{}},
		"rejected":                        {task.Finished, once, []handedIn{solve, tag, check(1, "reject", 7)}, task.NodeNA, false, 0, resolution{}, failing{}},
		"rejected, and done again":        {task.Finished, twice, []handedIn{solve, tag, check(1, "reject", 7), again, check(2, "approve", 11)}, task.NodeNA, true, 0, resolution{}, failing{}},
		"taken back, and not done again":  {task.Finished, map[string]int{nodeSolve: 2, nodeTag: 1, nodeCheck: 1}, []handedIn{solve, tag, check(1, "approve", 7)}, task.NodeNA, false, 0, resolution{}, failing{}},
		"approved before it was done":     {task.Finished, map[string]int{nodeSolve: 2, nodeTag: 1, nodeCheck: 1}, []handedIn{solve, tag, check(1, "approve", 7), again}, task.NodeNA, false, 0, resolution{}, failing{}},
		"by the reviewer":                 {task.Escalated, once, []handedIn{solve, check(1, "escalate", 7)}, task.NodeNA, true, 0, resolution{}, failing{}},
		"by nobody":                       {task.Escalated, once, []handedIn{solve, tag}, task.NodeNA, false, 0, resolution{}, failing{}},
		"after one rejection":             {task.Escalated, once, []handedIn{solve, tag, check(1, "reject", 7)}, task.NodeNA, false, 0, resolution{}, failing{}},
		"rejected once more than allowed": {task.Escalated, once, rejected, task.NodeNA, true, 0, resolution{}, failing{}},
		"as often as allowed":             {task.Escalated, once, rejected[:len(rejected)-1], task.NodeNA, false, 0, resolution{}, failing{}},
		"failed":                          {task.Failed, once, []handedIn{solve, tag, check(1, "approve", 7)}, task.NodeNA, false, 0, resolution{}, failing{}},
		"failed by an admin":              {task.Failed, once, []handedIn{solve}, task.NodeNA, true, 0, resolution{}, failing{true, 5}},
		"failed by an admin, perhaps":     {task.Failed, once, nil, task.NodeNA, true, 0, resolution{}, failing{true, 0}},
		"not failed by an admin, perhaps": {task.Finished, once, []handedIn{solve, tag, check(1, "approve", 7)}, task.NodeNA, true, 0, resolution{}, failing{true, 0}},
		"finished, and was failed":        {task.Finished, once, []handedIn{solve, tag, check(1, "approve", 7)}, task.NodeNA, false, 0, resolution{}, failing{true, 5}},
		"quarantined":                     {task.Quarantined, once, nil, task.NodeNA, false, 0, resolution{}, failing{}},
		"under way":                       {task.InProgress, once, []handedIn{solve}, task.NodeNA, true, 0, resolution{}, failing{}},
		"with more":                       {task.Finished, all, []handedIn{leads, tag, more, check(1, "approve", 7)}, task.NodeFinished, true, 0, resolution{}, failing{}},
		"more is missing":                 {task.Finished, once, []handedIn{leads, tag, check(1, "approve", 7)}, task.NodeNA, false, 0, resolution{}, failing{}},
		"more was not handed in":          {task.Finished, once, []handedIn{leads, tag, check(1, "approve", 7)}, task.NodeFinished, false, 0, resolution{}, failing{}},
		"more counts, and was left":       {task.Finished, twice, []handedIn{leads, tag, more, check(1, "reject", 7), again, check(2, "approve", 11)}, task.NodeFinished, false, 0, resolution{}, failing{}},
		"more was left":                   {task.Finished, twice, []handedIn{leads, tag, more, check(1, "reject", 7), again, check(2, "approve", 11)}, task.NodeNA, true, 0, resolution{}, failing{}},
		"with more, in another turn":      {task.Finished, all, []handedIn{leads, tag, more, check(1, "approve", 7)}, task.NodeFinished, false, 1, resolution{}, failing{}},
		"led by another turn":             {task.Finished, all, []handedIn{solve, tag, more, check(1, "approve", 7)}, task.NodeFinished, true, 3, resolution{}, failing{}},
		"escalated, and accepted":         {task.Finished, once, []handedIn{solve, tag, check(1, "escalate", 7)}, task.NodeNA, true, 0, resolution{"accept", 8}, failing{}},
		"escalated, and passed over":      {task.Finished, once, []handedIn{solve, tag, check(1, "escalate", 7)}, task.NodeNA, true, 0, resolution{"skip", 8}, failing{}},
		"escalated, and open again":       {task.Finished, once, []handedIn{solve, tag, check(1, "escalate", 7)}, task.NodeNA, false, 0, resolution{resolveRequeue, 8}, failing{}},
		"approved after it was opened":    {task.Finished, map[string]int{nodeSolve: 1, nodeTag: 1, nodeCheck: 2}, []handedIn{solve, tag, check(1, "escalate", 7), check(2, "approve", 9)}, task.NodeNA, true, 0, resolution{resolveRequeue, 8}, failing{}},
		"accepted before it was done":     {task.Finished, twice, []handedIn{solve, tag, check(1, "reject", 6), check(2, "escalate", 7), again}, task.NodeNA, false, 0, resolution{"accept", 8}, failing{}},
		"escalated before its end":        {task.Escalated, once, []handedIn{solve, tag, check(1, "escalate", 7)}, task.NodeNA, false, 0, resolution{resolveRequeue, 8}, failing{}},
	} {
		wrong := endedTask{1, c.status, c.claimed, c.handedIn, c.more, c.turn, c.resolved, 0, false, c.failing}.wrong()
		require.Equal(t, c.right, wrong == "", "%s: %s", name, wrong)
	}
}

func TestWhatAnAdminSetAsideHasItsCause(t *testing.T) {
	t.Parallel()
	done := []handedIn{{nodeSolve, 1, "", 3, "q 7 of c1 on task 4"}, {nodeTag, 1, "", 5, ""}}
	seen := append(slices.Clone(done), handedIn{nodeCheck, 1, "approve", 6, ""})
	claimed := map[string]int{nodeSolve: 1, nodeTag: 1, nodeCheck: 1}
	for name, c := range map[string]struct {
		status   task.Status
		handedIn []handedIn
		aside    int64
		resolved resolution
		right    bool
	}{
		"waits for an admin":            {task.Escalated, done, 7, resolution{}, true},
		"whose approval was there":      {task.Escalated, seen, 7, resolution{}, true},
		"by nobody":                     {task.Escalated, seen, 0, resolution{}, false},
		"opened since":                  {task.Escalated, done, 7, resolution{resolveRequeue, 8}, false},
		"opened, and set aside again":   {task.Escalated, done, 9, resolution{resolveRequeue, 8}, true},
		"accepted without a verdict":    {task.Finished, done, 7, resolution{"accept", 8}, true},
		"passed over without a verdict": {task.Finished, done, 7, resolution{"skip", 8}, true},
		"open again, and not reviewed":  {task.Finished, done, 7, resolution{resolveRequeue, 8}, false},
		"not decided":                   {task.Finished, done, 7, resolution{}, false},
		"accepted before it was done":   {task.Finished, done, 1, resolution{"accept", 2}, false},
		"accepted, and a subtask less":  {task.Finished, done[:1], 7, resolution{"accept", 8}, false},
	} {
		wrong := endedTask{id: 1, status: c.status, claimed: claimed, handedIn: c.handedIn, more: task.NodeNA, resolved: c.resolved, aside: c.aside}.wrong()
		require.Equal(t, c.right, wrong == "", "%s: %s", name, wrong)
	}
}
