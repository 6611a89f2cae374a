package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
	err := tx.QueryRow(ctx, `INSERT INTO pipelines (org_id, project_id, name, draft)
		SELECT org_id, id, $3, $4 FROM projects WHERE org_id = $1 AND id = $2 RETURNING id`,
		orgID, projectID, def.Name, raw).Scan(&id)
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

// SavePipelineDraft replaces the draft. revision is the one that the caller
// last saw; when somebody else saved meanwhile the answer is fault.Conflict.
// The pipeline takes the draft's name.
func (s *Store) SavePipelineDraft(
	ctx context.Context, m Member, pipelineID int64, raw json.RawMessage, revision int64,
) (PipelineRow, error) {
	def, err := parseDraft(raw)
	if err != nil {
		return PipelineRow{}, err
	}
	var row PipelineRow
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		p, err := lockPipeline(ctx, tx, m.OrgID, pipelineID)
		if err != nil {
			return err
		}
		if p.Revision != revision {
			return fault.New(fault.Conflict, "the draft was saved by somebody else meanwhile: it is at revision %d, "+
				"yours is %d; load it again", p.Revision, revision)
		}
		if p.Status == StatusArchived {
			return fault.New(fault.Conflict, "the pipeline is archived; take it out of the archive to change it")
		}
		if err := saveDraft(ctx, tx, p, def, raw); err != nil {
			return err
		}
		row, err = pipelineByID(ctx, tx, m.OrgID, pipelineID)
		return err
	})
	return row, err
}

func saveDraft(ctx context.Context, tx pgx.Tx, p PipelineRow, def pipeline.Definition, raw json.RawMessage) error {
	_, err := tx.Exec(ctx, `UPDATE pipelines SET draft = $3, name = $4, revision = revision + 1, updated_at = now()
		WHERE org_id = $1 AND id = $2`, p.OrgID, p.ID, raw, def.Name)
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
	switch {
	case len(raw) > pipeline.MaxDefinition:
		return draftTooLarge(raw)
	case strings.TrimSpace(def.Name) == "":
		return fault.New(fault.Validation, "the pipeline needs a name")
	case utf8.RuneCountInString(def.Name) > pipeline.MaxName:
		return fault.New(fault.Validation, "the name of a pipeline has at most %d characters", pipeline.MaxName)
	}
	if place, why := Unstorable(raw); why != "" {
		return fault.New(fault.Validation, "the definition holds %s", why).
			With([]fault.Problem{{Path: place, Message: "holds " + why}})
	}
	return nil
}

func draftTooLarge(raw json.RawMessage) error {
	return fault.New(fault.PayloadTooLarge, "the definition has %d bytes; at most %d are allowed",
		len(raw), pipeline.MaxDefinition)
}
