package workflows_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
	"github.com/taskloom/taskloom/workflows"
)

// scenario is a task's life that is recorded.
type scenario struct {
	name       string
	definition pipeline.Definition
	play       func(*player)
}

// Short times, because scenarios play in real time.
const (
	shortLease = 1500 * time.Millisecond
	shortLimit = 1500 * time.Millisecond
)

func scenarios() []scenario {
	return []scenario{
		{"approve", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.claim("solve", 7))
			p.then(p.submit("solve", 7))
			p.then(p.claim("check", 8))
			p.then(p.review("check", 8, pipeline.Approved))
		}},
		{"rework", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.claim("solve", 7))
			p.then(p.submit("solve", 7))
			p.then(p.claim("check", 8))
			p.then(p.review("check", 8, pipeline.Rejected))
			p.finish()
		}},
		{"release", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.claim("solve", 7))
			p.then(p.add(pipeline.Event{Kind: pipeline.EventRelease, Node: "solve"}))
			p.finish()
		}},
		{"expiry", solveAndCheck(), func(p *player) {
			p.lease = shortLease
			p.start()
			p.then(p.claim("solve", 7))
			p.is("solve", task.NodeAvailable)
			p.lease = leaseTime
			p.finish()
		}},
		{"renewal", solveAndCheck(), func(p *player) {
			p.lease = shortLease
			p.start()
			p.then(p.claim("solve", 7))
			p.renew("solve")
			p.until(func() bool { return p.called("CheckDeadlines") > 0 })
			p.is("solve", task.NodeAvailable)
			p.lease = leaseTime
			p.finish()
		}},
		{"escalate-resolve", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.add(pipeline.Event{Kind: pipeline.EventEscalate, Node: "solve", Reason: "odd"}))
			p.then(p.add(pipeline.Event{Kind: pipeline.EventResolve, Node: "solve", Outcome: pipeline.ResolveRequeue, Iteration: 2}))
			p.finish()
		}},
		{"quarantine-skip", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.add(pipeline.Event{Kind: pipeline.EventQuarantine, Node: "solve", Reason: "odd"}))
			p.then(p.add(pipeline.Event{Kind: pipeline.EventResolve, Node: "solve", Outcome: pipeline.ResolveSkip}))
		}},
		{"max-rework", solveAndCheck(), func(p *player) {
			p.start()
			for range 2 {
				p.then(p.claim("solve", 7), p.submit("solve", 7))
				p.then(p.claim("check", 8), p.review("check", 8, pipeline.Rejected))
			}
			p.then(p.add(pipeline.Event{Kind: pipeline.EventResolve, Node: "check", Outcome: pipeline.ResolveAccept}))
		}},
		{"hold", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.add(pipeline.Event{Kind: pipeline.EventHold}))
			p.then(p.add(pipeline.Event{Kind: pipeline.EventUnhold}))
			p.finish()
		}},
		{"fail", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.claim("solve", 7))
			p.then(p.add(pipeline.Event{Kind: pipeline.EventFail}))
		}},
		{"time-limit", solveAndCheck(), func(p *player) {
			p.sla = shortLimit
			p.mu.Lock()
			p.applyUpTo(1)
			p.mu.Unlock()
			p.start()
			p.is("solve", task.NodeEscalated)
			p.then(p.add(pipeline.Event{Kind: pipeline.EventResolve, Node: "solve", Outcome: pipeline.ResolveSkip}))
		}},
		{"parallel", sideBySide(), func(p *player) {
			p.start()
			p.then(p.claim("left", 1))
			p.then(p.claim("right", 2))
			p.then(p.submit("right", 2))
			p.then(p.submit("left", 1))
			p.then(p.claim("check", 3), p.review("check", 3, pipeline.Approved))
		}},
		{"conditional", fork(), func(p *player) {
			p.start()
			p.then(p.claim("triage", 7))
			p.then(p.submit("triage", 7, "long"))
			p.then(p.claim("short", 7))
			p.then(p.submit("short", 7))
		}},
		{"disorder", sideBySide(), func(p *player) {
			p.start()
			a, b := p.claim("left", 1), p.claim("right", 2)
			p.then(b, a, b)
			c, d := p.submit("left", 1), p.submit("right", 2)
			p.then(d, c, a)
			p.claim("check", 3) // never told
			p.then(p.review("check", 3, pipeline.Approved))
		}},
		{"first-claim", solveAndCheck(), func(p *player) { p.finish() }}, // a run that its first event starts
		{"nudge", solveAndCheck(), func(p *player) {
			p.start()
			p.claim("solve", 7)
			p.then(pipeline.Event{})
			p.submit("solve", 7)
			p.claim("check", 8)
			p.review("check", 8, pipeline.Approved)
			p.then(pipeline.Event{})
		}},
		{"terminate", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.claim("solve", 7))
			require.NoError(p.t, p.c.TerminateWorkflow(p.t.Context(), workflows.TaskID(taskID), "", "test"))
			p.submit("solve", 7)
			p.then(pipeline.Event{}) // the reconciler starts the next run
			p.then(p.claim("check", 8))
			p.then(p.review("check", 8, pipeline.Approved))
		}},
		{"cancel", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.claim("solve", 7))
			require.NoError(p.t, p.c.CancelWorkflow(p.t.Context(), workflows.TaskID(taskID), ""))
		}},
		{"stale", solveAndCheck(), func(p *player) {
			p.start()
			e := p.claim("solve", 7)
			p.mu.Lock()
			p.applyUpTo(e.Seq)
			p.mu.Unlock()
			p.then(e, p.submit("solve", 7))
			p.then(p.claim("check", 8), p.review("check", 8, pipeline.Approved))
		}},
		{"undo", solveAndCheck(), func(p *player) { // the command has written what follows from it
			p.start()
			c := p.claim("solve", 7)
			p.then(c)
			p.then(p.submit("solve", 7))
			undo := p.undo("solve", c)
			p.mu.Lock()
			p.applyUpTo(undo.Seq)
			p.mu.Unlock()
			p.then(undo)
			p.finish()
		}},
		{"undo-late", solveAndCheck(), func(p *player) { // the run does it
			p.start()
			c := p.claim("solve", 7)
			p.then(c, p.submit("solve", 7), p.undo("solve", c))
			p.finish()
		}},
		{"outage", solveAndCheck(), func(p *player) {
			p.start()
			p.mu.Lock()
			down := 4
			p.fail = func(string) error {
				if down--; down >= 0 {
					return fault.New(fault.Unavailable, "the database is away")
				}
				return nil
			}
			p.mu.Unlock()
			p.then(p.claim("solve", 7))
			p.then(p.submit("solve", 7), p.claim("check", 8), p.review("check", 8, pipeline.Approved))
		}},
		{"continue-as-new", solveAndCheck(), func(p *player) {
			p.start()
			p.then(p.claim("solve", 7))
			first := p.runs[0]
			for range 4200 { // repeats of what is applied; the server suggests it at 4,096 events
				require.NoError(p.t, p.c.SignalWorkflow(p.t.Context(), workflows.TaskID(taskID), "", workflows.ClaimSignal, p.journal[1]))
			}
			p.until(func() bool {
				d, err := p.c.DescribeWorkflowExecution(p.t.Context(), workflows.TaskID(taskID), "")
				return err == nil && d.GetWorkflowExecutionInfo().GetExecution().GetRunId() != first
			})
			p.then(p.submit("solve", 7))
			p.then(p.claim("check", 8))
			p.then(p.review("check", 8, pipeline.Approved))
		}},
	}
}

// finish walks solveAndCheck to its end from where solve is open.
func (p *player) finish() {
	p.t.Helper()
	p.then(p.claim("solve", 7))
	p.then(p.submit("solve", 7))
	p.then(p.claim("check", 8))
	p.then(p.review("check", 8, pipeline.Approved))
}

// is waits until a node has a status.
func (p *player) is(node string, want task.NodeStatus) {
	p.t.Helper()
	p.until(func() bool {
		n, _ := p.state().Node(node)
		return n.Status == want
	})
}
