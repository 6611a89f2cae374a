package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// Statuses of a pipeline (spec section 3).
const (
	StatusDraft             = "DRAFT"
	StatusActive            = "ACTIVE"
	StatusPaused            = "PAUSED"
	StatusCompleted         = "COMPLETED"
	StatusArchived          = "ARCHIVED"
	StatusPendingActivation = "PENDING_ACTIVATION"
)

// PipelineRow is a pipeline without its definition.
type PipelineRow struct {
	ID        int64
	OrgID     int64
	ProjectID int64
	Name      string
	Status    string
	// VersionID is the version that new tasks get, nil before the first
	// publish; VersionNumber is then 0.
	VersionID     *int64
	VersionNumber int
	// Revision counts saves of the draft.
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// PipelineDraft is a pipeline with what the builder edits.
type PipelineDraft struct {
	PipelineRow
	Draft json.RawMessage
	// Layout is where the builder shows the nodes, by their keys: x and y.
	Layout map[string][2]float64
	// SavedBy is nil when the command line saved the draft last.
	SavedBy *int64
	SavedAt time.Time
}

const pipelineColumns = `p.id, p.org_id, p.project_id, p.name, p.status, p.version_id,
	coalesce((SELECT v.number FROM pipeline_versions v WHERE v.id = p.version_id), 0) AS version_number,
	p.revision, p.created_at, p.updated_at`

// Pipeline returns a pipeline of the organization.
func (s *Store) Pipeline(ctx context.Context, orgID, pipelineID int64) (PipelineRow, error) {
	row, err := pipelineByID(ctx, s.pool, orgID, pipelineID)
	return row, translate(err)
}

// PipelineDraft returns a pipeline of the organization with its draft.
func (s *Store) PipelineDraft(ctx context.Context, orgID, pipelineID int64) (PipelineDraft, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+pipelineColumns+`, p.draft, p.layout, p.saved_by, p.saved_at
		FROM pipelines p WHERE p.org_id = $1 AND p.id = $2`, orgID, pipelineID)
	d, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[PipelineDraft])
	if errors.Is(err, pgx.ErrNoRows) {
		return d, pipelineNotFound(pipelineID)
	}
	if err != nil {
		return d, translate(fmt.Errorf("read pipeline draft: %w", err))
	}
	return d, nil
}

func pipelineByID(ctx context.Context, q querier, orgID, pipelineID int64) (PipelineRow, error) {
	rows, _ := q.Query(ctx, `SELECT `+pipelineColumns+`
		FROM pipelines p WHERE p.org_id = $1 AND p.id = $2`, orgID, pipelineID)
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[PipelineRow])
	if errors.Is(err, pgx.ErrNoRows) {
		return row, pipelineNotFound(pipelineID)
	}
	if err != nil {
		return row, fmt.Errorf("read pipeline: %w", err)
	}
	return row, nil
}

func pipelineNotFound(pipelineID int64) error {
	return fault.New(fault.NotFound, "pipeline %d not found", pipelineID)
}
