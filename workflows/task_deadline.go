package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/task"
)

// Bounds of the wait for a deadline. The database's clock decides what is due;
// when the run is early it asks again, slower each time, so that clocks that
// differ cannot make a run spin.
const (
	soonest = time.Second
	maxMiss = 9 // 512 s
	// sameClock is what clocks, and the way between them, may differ by.
	sameClock = time.Second
	leaseOf   = "claim lease of "
	slaLimit  = "time limit of "
)

// Due is the next moment at which something happens without anybody acting.
// The zero value says that nothing does.
type Due struct {
	What string    `json:"what"`
	At   time.Time `json:"at"`
}

func (d Due) same(o Due) bool { return d.What == o.What && d.At.Equal(o.At) }

// alarm is the one timer of a run.
type alarm struct {
	set    Due
	timer  workflow.Future
	cancel workflow.CancelFunc
	rang   bool
}

func (a *alarm) ring() {
	a.cancel() // lets go of the context of a timer that has fired
	*a = alarm{rang: true}
}

// due returns the earliest deadline of the task.
func (r *taskRun) due() Due {
	var first Due
	consider := func(what, node string, at time.Time) {
		if !at.IsZero() && (first.At.IsZero() || at.Before(first.At)) {
			first = Due{What: what + node, At: at}
		}
	}
	for _, n := range r.State.Nodes {
		switch n.Status {
		case task.NodeClaimed:
			consider(leaseOf, n.Key, n.LeaseEnds)
			consider(slaLimit, n.Key, n.SLAEnds)
		case task.NodeAvailable:
			consider(slaLimit, n.Key, n.SLAEnds)
		case task.NodePending, task.NodeDeferred, task.NodeSubmitted, task.NodeEscalated,
			task.NodeQuarantined, task.NodeFinished, task.NodeNA:
		}
	}
	return first
}

// arm sets the timer to the earliest deadline, replacing one for another.
func (r *taskRun) arm(ctx workflow.Context) {
	next := r.due()
	if next.same(r.alarm.set) {
		return
	}
	if r.alarm.cancel != nil {
		r.alarm.cancel()
	}
	r.alarm = alarm{set: next}
	if next.At.IsZero() {
		return
	}
	wait := max(next.At.Sub(workflow.Now(ctx).Add(r.Ahead)), soonest<<min(r.Misses, maxMiss))
	var timed workflow.Context
	timed, r.alarm.cancel = workflow.WithCancel(ctx)
	r.alarm.timer = workflow.NewTimerWithOptions(timed, wait, workflow.TimerOptions{Summary: next.What})
}

// checkDeadlines lets the database expire leases and escalate what took too
// long. What it did stands in the journal.
func (r *taskRun) checkDeadlines(ctx workflow.Context) error {
	before := r.due()
	r.alarm.rang = false
	asked := workflow.Now(ctx)
	got, err := dbCall[activities.StepResult](ctx, fmt.Sprintf("check the deadlines of task %d", r.taskID),
		tasks.CheckDeadlines, activities.TaskRef{TaskID: r.taskID})
	if err != nil {
		return err
	}
	r.adopt(ctx, asked, got)
	r.Known = max(r.Known, got.Seq)
	r.behind = r.behind || r.Known > r.State.Seq // nobody signals what the clock did
	if got.AppliedSeq > r.State.Seq {
		r.loaded = false
	}
	r.Misses++
	if r.behind || !r.due().same(before) {
		r.Misses = 0
	}
	return nil
}

// clock compares the database's clock with Temporal's. The database read its own
// at some moment from when it was asked until now, which can be long: an answer
// waits for a worker to take it. So each answer only bounds the difference, and
// what was known of it holds while it is within. As long as nothing is known, the
// clock is taken to be as far as it can be: so the look comes early, and is repeated,
// and never late. After a call in the worker itself Temporal's now may be behind by
// as long as a workflow task takes: then it comes early by that much, too.
func (r *taskRun) clock(ctx workflow.Context, asked, databases time.Time) {
	if databases.IsZero() {
		return
	}
	least, most := databases.Sub(workflow.Now(ctx)), databases.Sub(asked)
	if !r.Heard {
		r.Ahead, r.Heard = most, true
	}
	r.Ahead = min(max(r.Ahead, least), most)
	if r.Ahead.Abs() < sameClock {
		r.Ahead = 0
	}
}

// adopt takes the deadlines that the database holds: it sets time limits, and
// a renewed lease changes without an event.
func (r *taskRun) adopt(ctx workflow.Context, asked time.Time, got activities.StepResult) {
	r.clock(ctx, asked, got.Now)
	for i := range r.State.Nodes {
		n := &r.State.Nodes[i]
		n.LeaseEnds, n.SLAEnds = time.Time{}, time.Time{}
		for _, d := range got.Deadlines {
			if d.Node != n.Key {
				continue
			}
			n.SLAEnds = d.SLAEnds
			if n.Status == task.NodeClaimed {
				n.LeaseEnds = d.LeaseEnds
			}
		}
	}
}
