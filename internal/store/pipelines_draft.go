package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// pipelineName is the constraint that keeps names unique in a project.
const pipelineName = "pipelines_project_id_name_key"

// CreatePipeline adds a DRAFT to the member's project. raw is the document that
// def was read from; it is kept as it is.
func (s *Store) CreatePipeline(
	ctx context.Context, m Member, def pipeline.Definition, raw json.RawMessage,
) (PipelineRow, error) {
	if err := checkDraft(def, raw); err != nil {
		return PipelineRow{}, err
	}
	var row PipelineRow
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		if err := stillProjectAdmin(ctx, tx, m.UserID, m.ProjectID); err != nil {
			return err
		}
		var err error
		row, err = createPipeline(ctx, tx, m.OrgID, m.ProjectID, person(m.UserID), def, raw)
		return err
	})
	return row, err
}

func createPipeline(
	ctx context.Context, tx pgx.Tx, orgID, projectID int64, actor *int64, def pipeline.Definition, raw json.RawMessage,
) (PipelineRow, error) {
	var id int64
	err := tx.QueryRow(ctx, `INSERT INTO pipelines (org_id, project_id, name, draft, saved_by)
		SELECT org_id, id, $3, $4, $5 FROM projects WHERE org_id = $1 AND id = $2 RETURNING id`,
		orgID, projectID, def.Name, raw, actor).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return PipelineRow{}, fault.New(fault.NotFound, "project %d not found", projectID)
	case violates(err, pipelineName):
		return PipelineRow{}, nameTaken(def.Name)
	case err != nil:
		return PipelineRow{}, fmt.Errorf("insert pipeline: %w", err)
	}
	if err := audit(ctx, tx, orgID, actor, "pipeline.create", object("pipeline", id),
		map[string]any{"name": def.Name}); err != nil {
		return PipelineRow{}, err
	}
	return pipelineByID(ctx, tx, orgID, id)
}

// DraftSave is what a save of a draft brings.
type DraftSave struct {
	Definition json.RawMessage
	// Revision is the one that the caller last saw.
	Revision int64
	// Layout is where the builder shows the nodes; nil leaves it.
	Layout map[string][2]float64
}

// SavePipelineDraft replaces the draft; when it was saved since the revision
// that the caller last saw, the answer is fault.Conflict. The pipeline takes
// the draft's name. A save that says what is there already keeps the revision:
// where the nodes stand is no change that another admin must see first.
func (s *Store) SavePipelineDraft(ctx context.Context, m Member, pipelineID int64, save DraftSave) (PipelineRow, error) {
	def, err := parseDraft(save.Definition)
	if err != nil {
		return PipelineRow{}, err
	}
	if err := checkLayout(save.Layout); err != nil {
		return PipelineRow{}, err
	}
	var row PipelineRow
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		p, err := lockDraft(ctx, tx, m, pipelineID, save.Revision)
		if err != nil {
			return err
		}
		if save.Layout != nil {
			_, err := tx.Exec(ctx, `UPDATE pipelines SET layout = $3 WHERE org_id = $1 AND id = $2`, p.OrgID, p.ID, save.Layout)
			if err != nil {
				return fmt.Errorf("save layout: %w", err)
			}
		}
		if err := saveDraft(ctx, tx, p, person(m.UserID), def, save.Definition); err != nil {
			return err
		}
		row, err = pipelineByID(ctx, tx, m.OrgID, pipelineID)
		return err
	})
	return row, err
}

// lockDraft locks a pipeline whose draft the member is to replace, when it is still
// at the revision that they saw.
func lockDraft(ctx context.Context, tx pgx.Tx, m Member, pipelineID, revision int64) (PipelineRow, error) {
	p, err := lockPipeline(ctx, tx, m.OrgID, pipelineID, m.UserID)
	switch {
	case err != nil:
		return p, err
	case p.Revision != revision:
		return p, savedMeanwhile(ctx, tx, p, revision)
	case p.Status == StatusArchived:
		return p, fault.New(fault.Conflict, "the pipeline is archived; take it out of the archive to change it")
	}
	return p, nil
}

// savedMeanwhile says who saved the draft since a revision, and when.
func savedMeanwhile(ctx context.Context, tx pgx.Tx, p PipelineRow, revision int64) error {
	var by string
	var at time.Time
	err := tx.QueryRow(ctx, `SELECT coalesce((SELECT u.name FROM users u WHERE u.id = p.saved_by), 'the command line'), p.saved_at
		FROM pipelines p WHERE p.org_id = $1 AND p.id = $2`, p.OrgID, p.ID).Scan(&by, &at)
	if err != nil {
		return fmt.Errorf("read who saved: %w", err)
	}
	return fault.New(fault.Conflict, "the draft was saved by %s at %s UTC: it is at revision %d, yours is %d; load it again",
		cut(by), at.UTC().Format("2006-01-02 15:04:05"), p.Revision, revision)
}

// maxCoordinate keeps positions from what no screen shows.
const maxCoordinate = 1e7

func checkLayout(layout map[string][2]float64) error {
	if len(layout) > pipeline.MaxNodes {
		return fault.New(fault.Validation, "the layout has %d nodes; at most %d are allowed", len(layout), pipeline.MaxNodes)
	}
	for key, at := range layout {
		if math.Abs(at[0]) > maxCoordinate || math.Abs(at[1]) > maxCoordinate {
			return fault.New(fault.Validation, "the layout puts node %q too far away; at most %d each way", cut(key), int(maxCoordinate))
		}
		if !storable(key) || utf8.RuneCountInString(key) > pipeline.MaxName {
			return fault.New(fault.Validation, "the layout has a key that no node can have")
		}
	}
	return nil
}

// saveDraft replaces the draft unless it says the same already.
func saveDraft(ctx context.Context, tx pgx.Tx, p PipelineRow, by *int64, def pipeline.Definition, raw json.RawMessage) error {
	_, err := tx.Exec(ctx, `UPDATE pipelines SET draft = $3, name = $4, revision = revision + 1, updated_at = now(),
			saved_by = $5, saved_at = now()
		WHERE org_id = $1 AND id = $2 AND (draft <> $3::jsonb OR name <> $4)`, p.OrgID, p.ID, raw, def.Name, by)
	if violates(err, pipelineName) {
		return nameTaken(def.Name)
	}
	if err != nil {
		return fmt.Errorf("save draft: %w", err)
	}
	return nil
}

func nameTaken(name string) error {
	return fault.New(fault.Conflict, "the project has a pipeline named %q already; choose another name", name)
}

// parseDraft reads a draft. Only its shape must be right: publish checks the
// sense.
func parseDraft(raw json.RawMessage) (pipeline.Definition, error) {
	if len(raw) > pipeline.MaxDefinition {
		return pipeline.Definition{}, draftTooLarge(raw)
	}
	def, err := pipeline.Parse(raw)
	if err != nil {
		return def, fault.New(fault.Validation, "the definition cannot be read: %s", err)
	}
	return def, checkDraft(def, raw)
}

// checkDraft refuses what could not be kept.
func checkDraft(def pipeline.Definition, raw json.RawMessage) error {
	if len(raw) > pipeline.MaxDefinition {
		return draftTooLarge(raw)
	}
	if err := checkName(def.Name); err != nil {
		return err
	}
	if place, why := Unstorable(raw); why != "" {
		return fault.New(fault.Validation, "the definition holds %s", why).
			With([]fault.Problem{{Path: place, Message: "holds " + why}})
	}
	if n := storedBytes(raw); n > pipeline.MaxDefinition {
		return fault.New(fault.PayloadTooLarge, "the definition has %d bytes, the exponents of its numbers written out; at most %d are allowed",
			n, pipeline.MaxDefinition)
	}
	return nil
}

func checkName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fault.New(fault.Validation, "the pipeline needs a name")
	case utf8.RuneCountInString(name) > pipeline.MaxName:
		return fault.New(fault.Validation, "the name of a pipeline has at most %d characters", pipeline.MaxName)
	}
	return nil
}

func draftTooLarge(raw json.RawMessage) error {
	return fault.New(fault.PayloadTooLarge, "the definition has %d bytes; at most %d are allowed",
		len(raw), pipeline.MaxDefinition)
}
