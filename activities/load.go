package activities

import (
	"context"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// journalPage is how many events one query brings.
const journalPage = 500

// loaded makes what a run begins with. Who holds a node stands in the journal,
// which is read only when somebody does.
func (a *Tasks) loaded(ctx context.Context, t store.LoadedTask) (LoadTaskResult, error) {
	out := LoadTaskResult{
		PipelineID: t.PipelineID, PipelineName: t.PipelineName, Identity: t.Identity, Graph: t.Graph, State: wireState(t.State), Seq: t.Seq,
		Last: Wire(t.Last), Now: t.Now,
	}
	if !held(t.State) {
		return out, nil
	}
	past, err := a.journal(ctx, t.TaskID, t.State.Seq)
	out.Holders = holders(out.State, past)
	return out, err
}

// journal reads what happened to a task since its creation, up to a number.
func (a *Tasks) journal(ctx context.Context, taskID, upTo int64) ([]pipeline.Event, error) {
	var out []pipeline.Event
	for after := int64(1); after < upTo; {
		page, err := a.Store.LoadEvents(ctx, taskID, after, int(min(journalPage, upTo-after)))
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			out = append(out, Wire(e))
		}
		after = page[len(page)-1].Seq
	}
	return out, nil
}

func held(s pipeline.State) bool {
	for _, n := range s.Nodes {
		if n.Status == task.NodeClaimed {
			return true
		}
	}
	return false
}

// holders finds who made the claims that hold nodes.
func holders(s pipeline.State, past []pipeline.Event) []Holder {
	var out []Holder
	for _, e := range past {
		n, ok := s.Node(e.Node)
		if ok && e.Kind == pipeline.EventClaim && n.Status == task.NodeClaimed && n.Claim == e.Claim {
			out = append(out, Holder{Node: e.Node, Claim: e.Claim, User: e.Actor})
		}
	}
	return out
}
