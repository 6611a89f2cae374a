package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// pipeline saves the definition and leads the pipeline to its target status by
// legal moves. at is its place in the document.
func (a *applying) pipeline(ctx context.Context, at string, projectID int64, l apply.Pipeline) (PipelineRow, error) {
	p, err := a.savePipeline(ctx, projectID, l.Definition)
	if err != nil {
		return PipelineRow{}, err
	}
	if l.Status == "" {
		return p, nil
	}
	verbs, ok := pipeline.PathTo(p.Status, p.VersionID != nil, l.Status)
	if !ok {
		// A new pipeline reaches every status, and the check saw the others.
		return PipelineRow{}, refuse([]fault.Problem{{
			Path: at + ".status", Message: fmt.Sprintf("the pipeline is %s and cannot become %s", p.Status, l.Status),
		}})
	}
	// Where tasks are created, they get the definition of the document.
	if l.Status == StatusActive || l.Status == StatusPaused {
		verbs = withPublish(verbs)
	}
	for _, verb := range verbs {
		if p, err = a.pipelineVerb(ctx, p, verb); err != nil {
			return PipelineRow{}, placed(err, at)
		}
	}
	return p, nil
}

// savePipeline adds the pipeline or replaces its draft if that says something
// else.
func (a *applying) savePipeline(
	ctx context.Context, projectID int64, def pipeline.Definition,
) (PipelineRow, error) {
	def.Name = apply.Name(def.Name)
	raw, err := json.Marshal(def)
	if err != nil {
		return PipelineRow{}, fmt.Errorf("encode definition: %w", err)
	}
	var id int64
	var same bool
	err = a.tx.QueryRow(ctx, `
		SELECT id, draft = $4::jsonb FROM pipelines
		WHERE org_id = $1 AND project_id = $2 AND name = $3 FOR NO KEY UPDATE`,
		a.org, projectID, def.Name, raw).Scan(&id, &same)
	if errors.Is(err, pgx.ErrNoRows) {
		return createPipeline(ctx, a.tx, a.org, projectID, nil, def, raw)
	}
	if err != nil {
		return PipelineRow{}, fmt.Errorf("find pipeline: %w", err)
	}
	p, err := pipelineByID(ctx, a.tx, a.org, id)
	if err != nil || same {
		return p, err
	}
	if err := saveDraft(ctx, a.tx, p, nil, def, raw); err != nil {
		return PipelineRow{}, err
	}
	return pipelineByID(ctx, a.tx, a.org, id)
}

func (a *applying) pipelineVerb(ctx context.Context, p PipelineRow, verb pipeline.Verb) (PipelineRow, error) {
	var err error
	if verb == pipeline.VerbPublish {
		err = publish(ctx, a.tx, p, nil, a.options.Pipelines, "")
	} else {
		err = move(ctx, a.tx, p, nil, verb)
	}
	if err != nil {
		return p, err
	}
	return pipelineByID(ctx, a.tx, a.org, p.ID)
}

// withPublish adds a publish, which makes no version of what is published
// already, once the pipeline is where that is possible.
func withPublish(verbs []pipeline.Verb) []pipeline.Verb {
	if slices.Contains(verbs, pipeline.VerbPublish) {
		return verbs
	}
	return append(verbs, pipeline.VerbPublish)
}

// placed gives what a move refuses its place in the document.
func placed(err error, at string) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	if len(f.Problems) == 0 {
		return refuse([]fault.Problem{{Path: at + ".status", Message: f.Message}})
	}
	problems := make([]fault.Problem, len(f.Problems))
	for i, p := range f.Problems {
		problems[i] = fault.Problem{Path: at + ".definition." + p.Path, Message: p.Message}
	}
	return refuse(problems)
}
