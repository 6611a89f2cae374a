package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Publication is what is published: a note for the list of versions, and the revision of
// the draft that was looked at. Where another one was saved since, that is Conflict; nil
// publishes whatever is there.
type Publication struct {
	Note     string
	Revision *int64
}

// Publish makes the draft the version that new tasks get: a new, immutable
// version unless the live one says the same. A DRAFT becomes ACTIVE; ACTIVE and
// PAUSED stay what they are. A draft with problems is fault.Validation that
// lists all of them.
func (s *Store) Publish(
	ctx context.Context, orgID, pipelineID, actor int64, opts pipeline.Options, in Publication,
) (PipelineRow, error) {
	var row PipelineRow
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		p, err := lockPipeline(ctx, tx, orgID, pipelineID, actor)
		if err != nil {
			return err
		}
		if in.Revision != nil && *in.Revision != p.Revision {
			return savedMeanwhile(ctx, tx, p, *in.Revision)
		}
		if err := publish(ctx, tx, p, person(actor), opts, in.Note); err != nil {
			return err
		}
		row, err = pipelineByID(ctx, tx, orgID, pipelineID)
		return err
	})
	return row, err
}

// SetPipelineStatus performs a verb other than publish. Completing needs every
// task to be finished or failed; tasks cannot be created meanwhile, because
// creations wait for changePipeline.
func (s *Store) SetPipelineStatus(
	ctx context.Context, orgID, pipelineID, actor int64, verb pipeline.Verb,
) (PipelineRow, error) {
	var row PipelineRow
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		p, err := lockPipeline(ctx, tx, orgID, pipelineID, actor)
		if err != nil {
			return err
		}
		if verb == pipeline.VerbPublish {
			return fault.New(fault.InvalidRequest, "publishing is a request of its own")
		}
		if err := move(ctx, tx, p, person(actor), verb); err != nil {
			return err
		}
		row, err = pipelineByID(ctx, tx, orgID, pipelineID)
		return err
	})
	return row, err
}

// lockPipeline reads a pipeline for an admin of its project and keeps others from
// changing it until the transaction ends. Tasks are created in it meanwhile
// (changePipeline).
func lockPipeline(ctx context.Context, tx pgx.Tx, orgID, pipelineID, actor int64) (PipelineRow, error) {
	if err := stillPipelineAdmin(ctx, tx, actor, pipelineID); err != nil {
		return PipelineRow{}, err
	}
	tag, err := tx.Exec(ctx, `SELECT FROM pipelines WHERE org_id = $1 AND id = $2 FOR NO KEY UPDATE`, orgID, pipelineID)
	if err != nil {
		return PipelineRow{}, fmt.Errorf("lock pipeline: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return PipelineRow{}, pipelineNotFound(pipelineID)
	}
	return pipelineByID(ctx, tx, orgID, pipelineID)
}

func publish(
	ctx context.Context, tx pgx.Tx, p PipelineRow, actor *int64, opts pipeline.Options, note string,
) error {
	status, err := pipeline.NextStatus(p.Status, p.VersionID != nil, pipeline.VerbPublish)
	if err != nil {
		return err
	}
	draft, live, err := draftAndLive(ctx, tx, p)
	if err != nil {
		return err
	}
	def, err := pipeline.Parse(draft)
	if err != nil {
		return fault.New(fault.Validation, "the draft cannot be read: %s", err)
	}
	problems := pipeline.Validate(def, opts)
	if p.VersionID != nil && !live {
		before, err := publishedDefinition(ctx, tx, p)
		if err != nil {
			return err
		}
		published, err := publishedTypes(ctx, tx, p, before, def)
		if err != nil {
			return err
		}
		problems = append(problems, pipeline.Incompatible(published, def)...)
	}
	if len(problems) > 0 {
		return fault.New(fault.Validation, "the pipeline cannot be published: %s",
			countOf(len(problems), "problem", "problems")).With(faultProblems("", problems))
	}
	version, number := p.VersionID, p.VersionNumber
	if !live {
		version, number, err = addVersion(ctx, tx, p, draft, actor, note)
		if err != nil {
			return err
		}
	}
	if live && status == p.Status {
		return nil
	}
	if err := changePipeline(ctx, tx, p.ID); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE pipelines SET status = $3, version_id = $4, updated_at = now()
		WHERE org_id = $1 AND id = $2`, p.OrgID, p.ID, status, version)
	if err != nil {
		return fmt.Errorf("publish pipeline: %w", err)
	}
	return audit(ctx, tx, p.OrgID, actor, "pipeline.publish", object("pipeline", p.ID),
		map[string]any{"from": p.Status, "to": status, "version": number})
}

// publishedDefinition returns the live version as it was published.
func publishedDefinition(ctx context.Context, q querier, p PipelineRow) (pipeline.Definition, error) {
	var raw json.RawMessage
	err := q.QueryRow(ctx, `SELECT definition FROM pipeline_versions WHERE id = $1 AND org_id = $2`, p.VersionID, p.OrgID).Scan(&raw)
	if err != nil {
		return pipeline.Definition{}, fmt.Errorf("read live version: %w", err)
	}
	return pipeline.Stored(raw)
}

// draftAndLive returns the draft and whether the live version says the same.
func draftAndLive(ctx context.Context, q querier, p PipelineRow) (draft json.RawMessage, live bool, err error) {
	err = q.QueryRow(ctx, `
		SELECT p.draft, coalesce(p.draft = v.definition, false)
		FROM pipelines p LEFT JOIN pipeline_versions v ON v.id = p.version_id AND v.org_id = p.org_id
		WHERE p.org_id = $1 AND p.id = $2`, p.OrgID, p.ID).Scan(&draft, &live)
	if err != nil {
		return nil, false, fmt.Errorf("read draft: %w", err)
	}
	return draft, live, nil
}

func addVersion(
	ctx context.Context, tx pgx.Tx, p PipelineRow, definition json.RawMessage, actor *int64, note string,
) (version *int64, number int, err error) {
	if !storable(note) {
		return nil, 0, fault.New(fault.Validation, "the note must be readable text")
	}
	err = tx.QueryRow(ctx, `
		INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition, note, published_by)
		SELECT $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5
		FROM pipeline_versions WHERE org_id = $1 AND pipeline_id = $2
		RETURNING id, number`, p.OrgID, p.ID, definition, note, actor).Scan(&version, &number)
	if err != nil {
		return nil, 0, fmt.Errorf("insert pipeline version: %w", err)
	}
	return version, number, nil
}

// move performs a verb on a locked pipeline. Tasks that are open refuse a completion before
// it holds off creations, and once more behind those that were under way.
func move(ctx context.Context, tx pgx.Tx, p PipelineRow, actor *int64, verb pipeline.Verb) error {
	status, err := pipeline.NextStatus(p.Status, p.VersionID != nil, verb)
	if err != nil {
		return err
	}
	if verb == pipeline.VerbComplete {
		if err := allDone(ctx, tx, p); err != nil {
			return err
		}
	}
	if err := changePipeline(ctx, tx, p.ID); err != nil {
		return err
	}
	if verb == pipeline.VerbComplete {
		if err := allDone(ctx, tx, p); err != nil {
			return err
		}
	}
	if verb == pipeline.VerbComplete || verb == pipeline.VerbArchive {
		if err := noImport(ctx, tx, p); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE pipelines SET status = $3, updated_at = now()
		WHERE org_id = $1 AND id = $2`, p.OrgID, p.ID, status)
	if err != nil {
		return fmt.Errorf("set pipeline status: %w", err)
	}
	return audit(ctx, tx, p.OrgID, actor, "pipeline."+string(verb), object("pipeline", p.ID),
		map[string]any{"from": p.Status, "to": status})
}

// openCounted is how far the tasks are counted that keep a pipeline from being completed.
const openCounted = 1000

// openTasksSQL counts the open tasks of pipeline $1 of organization $2, to one more than
// openCounted: a walk per status, as pageSQL does.
var openTasksSQL = func() string {
	var walks []string
	for _, s := range task.Statuses() {
		if !s.Terminal() {
			walks = append(walks, fmt.Sprintf(`(SELECT 1 FROM tasks t
				WHERE t.pipeline_id = $1 AND EXISTS (SELECT FROM pipelines p WHERE p.id = $1 AND p.org_id = $2) AND t.status = '%s'
				ORDER BY -t.id LIMIT %d)`, s, openCounted+1))
		}
	}
	return fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM (%s) t LIMIT %d) t`, strings.Join(walks, " UNION ALL "), openCounted+1)
}()

// allDone refuses to complete a pipeline whose tasks are not all done.
func allDone(ctx context.Context, q querier, p PipelineRow) error {
	var n int
	if err := q.QueryRow(ctx, openTasksSQL, p.ID, p.OrgID).Scan(&n); err != nil {
		return fmt.Errorf("count open tasks: %w", err)
	}
	open := countOf(n, "open task", "open tasks")
	switch {
	case n == 0:
		return nil
	case n > openCounted:
		open = "more than " + countOf(openCounted, "open task", "open tasks")
	}
	return fault.New(fault.Conflict, "the pipeline still has %s; finish or fail them before it is completed", open)
}

// noImport refuses to close a pipeline while rows of an upload wait to become tasks of it:
// they would fail one after the other, for good, also where it is opened again at once. One
// that is to be cancelled is no reason to wait, as its rows become none anyway.
func noImport(ctx context.Context, q querier, p PipelineRow) error {
	var n int
	err := q.QueryRow(ctx, `SELECT count(*) FROM uploads WHERE org_id = $1 AND pipeline_id = $2 AND status = 'processing' AND cancel_at IS NULL`,
		p.OrgID, p.ID).Scan(&n)
	if err != nil {
		return fmt.Errorf("count running uploads: %w", err)
	}
	if n > 0 {
		return fault.New(fault.Conflict, "the pipeline still has %s under way; wait for the end, or cancel what is not wanted",
			countOf(n, "upload of tasks", "uploads of tasks"))
	}
	return nil
}

// faultProblems gives the problems of a definition the place of the document
// that holds it.
func faultProblems(prefix string, problems []pipeline.Problem) []fault.Problem {
	out := make([]fault.Problem, len(problems))
	for i, p := range problems {
		out[i] = fault.Problem{Path: prefix + p.Path, Node: p.Node, Field: p.Field, Message: p.Message}
	}
	return out
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
