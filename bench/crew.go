package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// crew is people at work, by the number of the client.
type crew interface {
	// claim takes the next subtask or review; nil when there is none.
	claim(ctx context.Context, number int, subtask bool) (*held, error)
	submit(ctx context.Context, number int, claim string) error
	approve(ctx context.Context, number int, claim string) error
}

// held is a claim.
type held struct {
	ID     string `json:"claim_id"`
	TaskID int64  `json:"task_id"`
}

// create makes the tasks of a body.
func (w *world) create(ctx context.Context, body []byte) error {
	_, _, err := w.integrator().call(ctx, http.MethodPost, fmt.Sprintf("/api/v1/workflows/%d/tasks", w.pipelineID), body)
	return err
}

// storeCrew works on the store, without the HTTP layer.
type storeCrew struct{ *world }

func (w *world) onStore() crew { return storeCrew{w} }

func (s storeCrew) claim(ctx context.Context, number int, subtask bool) (*held, error) {
	kind := pipeline.KindReview
	if subtask {
		kind = pipeline.KindSubtask
	}
	c, err := s.store.ClaimNext(ctx, s.people[number].Member, kind)
	if err != nil || c == nil {
		return nil, err
	}
	return &held{ID: c.ID, TaskID: c.TaskID}, nil
}

func (s storeCrew) submit(ctx context.Context, number int, claim string) error {
	_, err := s.store.Submit(ctx, s.people[number].UserID, claim, mathcheck.Answers())
	return err
}

func (s storeCrew) approve(ctx context.Context, number int, claim string) error {
	_, err := s.store.Review(ctx, s.people[number].UserID, claim, store.Verdict{Verdict: store.VerdictApprove})
	return err
}

// httpCrew works through the console API with a session each.
type httpCrew struct {
	clients  []*apiClient
	pipeline int64
}

func (w *world) overHTTP(connections int) crew {
	shared := w.newClient(connections)
	crew := httpCrew{pipeline: w.pipelineID}
	for _, p := range w.people {
		crew.clients = append(crew.clients, shared.as(p))
	}
	return crew
}

func (c httpCrew) claim(ctx context.Context, number int, subtask bool) (*held, error) {
	role := "reviewer"
	if subtask {
		role = "contributor"
	}
	var h held
	path := fmt.Sprintf("/api/console/pipelines/%d/claim", c.pipeline)
	status, err := c.clients[number].decode(ctx, http.MethodPost, path, map[string]string{"role": role}, &h)
	if err != nil || status == http.StatusNoContent {
		return nil, err
	}
	return &h, nil
}

func (c httpCrew) submit(ctx context.Context, number int, claim string) error {
	_, err := c.clients[number].decode(ctx, http.MethodPost, "/api/console/claims/"+claim+"/submit",
		map[string]any{"values": mathcheck.Answers()}, nil)
	return err
}

func (c httpCrew) approve(ctx context.Context, number int, claim string) error {
	_, err := c.clients[number].decode(ctx, http.MethodPost, "/api/console/claims/"+claim+"/review",
		map[string]any{"verdict": store.VerdictApprove}, nil)
	return err
}
