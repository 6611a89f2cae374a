package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// DuplicatePipeline copies a pipeline's draft, and where its nodes stand, into
// a new DRAFT of a project of the same organization. Without a name the copy
// is called after the original; a name that is taken gets a number.
func (s *Store) DuplicatePipeline(ctx context.Context, from Member, pipelineID int64, to Member, name string) (PipelineRow, error) {
	if to.OrgID != from.OrgID {
		return PipelineRow{}, fault.New(fault.Validation, "project %d belongs to another organization; export the pipeline and import it there", to.ProjectID)
	}
	// The copy tells all that the draft says.
	if err := s.inTx(ctx, func(tx pgx.Tx) error { return stillPipelineAdmin(ctx, tx, from.UserID, pipelineID) }); err != nil {
		return PipelineRow{}, err
	}
	original, err := s.PipelineDraft(ctx, from.OrgID, pipelineID)
	if err != nil {
		return PipelineRow{}, err
	}
	def, err := pipeline.Stored(original.Draft)
	if err != nil {
		return PipelineRow{}, fmt.Errorf("parse draft: %w", err)
	}
	if name = strings.TrimSpace(name); name == "" {
		name = withSuffix(original.Name, " (copy)")
	}
	def.Name = name
	return s.createNamed(ctx, to, def, original.Layout)
}

// ImportPipeline adds a definition as a new DRAFT of the member's project; a
// name that is taken gets a number.
func (s *Store) ImportPipeline(ctx context.Context, m Member, def pipeline.Definition) (PipelineRow, error) {
	def.Name = strings.TrimSpace(def.Name)
	return s.createNamed(ctx, m, def, nil)
}

// namesTried is how many numbers are tried to make a name unique.
const namesTried = 100

// createNamed creates a pipeline under the definition's name, or under the
// first name with a number that is free.
func (s *Store) createNamed(ctx context.Context, m Member, def pipeline.Definition, layout map[string][2]float64) (PipelineRow, error) {
	wanted := def.Name
	if err := checkName(wanted); err != nil {
		return PipelineRow{}, err
	}
	for n := 1; n <= namesTried; n++ {
		if n > 1 {
			def.Name = withSuffix(wanted, fmt.Sprintf(" (%d)", n))
		}
		row, err := s.create(ctx, m, def, layout)
		if !fault.Is(err, fault.Conflict) {
			return row, err
		}
	}
	return PipelineRow{}, nameTaken(wanted)
}

func (s *Store) create(ctx context.Context, m Member, def pipeline.Definition, layout map[string][2]float64) (PipelineRow, error) {
	raw, err := json.Marshal(def)
	if err != nil {
		return PipelineRow{}, fmt.Errorf("encode definition: %w", err)
	}
	if err := checkDraft(def, raw); err != nil {
		return PipelineRow{}, err
	}
	var row PipelineRow
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		if err := stillProjectAdmin(ctx, tx, m.UserID, m.ProjectID); err != nil {
			return err
		}
		var err error
		if row, err = createPipeline(ctx, tx, m.OrgID, m.ProjectID, person(m.UserID), def, raw); err != nil || layout == nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE pipelines SET layout = $3 WHERE org_id = $1 AND id = $2`, m.OrgID, row.ID, layout)
		return err
	})
	return row, err
}

// withSuffix appends to a name and keeps it within its limit.
func withSuffix(name, suffix string) string {
	r := []rune(name)
	return string(r[:min(len(r), pipeline.MaxName-len([]rune(suffix)))]) + suffix
}

// Definition returns what a pipeline says: a published version by its number,
// or the draft for 0.
func (s *Store) Definition(ctx context.Context, orgID, pipelineID int64, number int) (pipeline.Definition, error) {
	var raw json.RawMessage
	if number == 0 {
		d, err := s.PipelineDraft(ctx, orgID, pipelineID)
		if err != nil {
			return pipeline.Definition{}, err
		}
		raw = d.Draft
	} else {
		v, err := s.VersionByNumber(ctx, orgID, pipelineID, number)
		if err != nil {
			return pipeline.Definition{}, err
		}
		raw = v.Definition
	}
	def, err := pipeline.Stored(raw)
	if err != nil {
		return def, fmt.Errorf("parse definition: %w", err)
	}
	return def, nil
}
