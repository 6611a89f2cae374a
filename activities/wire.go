package activities

import (
	"context"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Wire returns the event as it may enter a history. Histories hold ids,
// numbers and outcomes: what a person gave as a reason stays in Postgres, and
// only that a person had one goes on.
func Wire(e pipeline.Event) pipeline.Event {
	if e.Kind == pipeline.EventEscalate || e.Kind == pipeline.EventQuarantine {
		e.Reason = wireReason(e.Reason)
	} else {
		e.Reason = "" // nothing follows from it
	}
	return e
}

func wireState(s pipeline.State) pipeline.State {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Status == task.NodeEscalated || n.Status == task.NodeQuarantined {
			n.Reason = wireReason(n.Reason)
		}
	}
	return s
}

// wireReason keeps the reasons that the pipeline gives by itself.
func wireReason(reason string) string {
	switch reason {
	case "", pipeline.ReasonMaxRework, pipeline.ReasonNoRoute, pipeline.ReasonSLA, pipeline.ReasonReviewer,
		pipeline.ReasonAutomation, pipeline.ReasonNoTarget:
		return reason
	}
	return pipeline.ReasonPerson
}

// unwire puts the reasons that people gave back into the changes that will be
// written: each comes from the event of its change.
func (a *Tasks) unwire(ctx context.Context, taskID int64, changes []pipeline.Change) error {
	for i := range changes {
		c := &changes[i]
		if c.Node.Reason != pipeline.ReasonPerson {
			continue
		}
		events, err := a.Store.LoadEvents(ctx, taskID, c.Seq-1, 1)
		if err != nil {
			return err
		}
		if len(events) == 1 && events[0].Node == c.Node.Key {
			c.Node.Reason = events[0].Reason
		}
	}
	return nil
}
