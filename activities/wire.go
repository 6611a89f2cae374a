package activities

import "github.com/taskloom/taskloom/internal/pipeline"

// Wire returns the event as it may enter a history. Histories hold ids,
// numbers and outcomes: what a person gave as a reason stays in Postgres, and
// only that a person had one goes on.
func Wire(e pipeline.Event) pipeline.Event {
	e.Reason = wireReason(e.Reason)
	return e
}

func wireState(s pipeline.State) pipeline.State {
	for i := range s.Nodes {
		s.Nodes[i].Reason = wireReason(s.Nodes[i].Reason)
	}
	return s
}

func wireReason(reason string) string {
	switch reason {
	case "", pipeline.ReasonMaxRework, pipeline.ReasonNoRoute, pipeline.ReasonSLA, pipeline.ReasonReviewer,
		pipeline.ReasonAutomation, pipeline.ReasonNoTarget:
		return reason
	}
	return pipeline.ReasonPerson
}
