package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// VersionRow is a published version without its definition.
type VersionRow struct {
	ID     int64
	Number int
	Note   string
	// PublishedBy is nil for the command line.
	PublishedBy *int64
	CreatedAt   time.Time
	// Live says that new tasks get it.
	Live bool
	// OpenTasks were created with it and are neither finished nor failed.
	OpenTasks int
}

// VersionDetail is a published version.
type VersionDetail struct {
	Number     int
	Note       string
	CreatedAt  time.Time
	Definition json.RawMessage
}

// Versions lists the published versions of a pipeline, newest first, MaxVersions at
// most. The live one is the newest.
func (s *Store) Versions(ctx context.Context, orgID, pipelineID int64) ([]VersionRow, error) {
	if _, err := s.Pipeline(ctx, orgID, pipelineID); err != nil {
		return nil, err
	}
	rows, _ := s.pool.Query(ctx, `SELECT v.id, v.number, v.note, v.published_by, v.created_at,
			v.id IS NOT DISTINCT FROM p.version_id AS live, 0 AS open_tasks
		FROM pipeline_versions v JOIN pipelines p ON p.id = v.pipeline_id AND p.org_id = v.org_id
		WHERE v.org_id = $1 AND v.pipeline_id = $2 ORDER BY v.number DESC LIMIT $3`, orgID, pipelineID, MaxVersions)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByName[VersionRow])
	if err != nil {
		return nil, translate(fmt.Errorf("list versions: %w", err))
	}
	counts, err := keptCounts(ctx, s.pool, pipelineID)
	if err != nil {
		return nil, translate(err)
	}
	open := map[int64]int{}
	for _, k := range counts {
		if k.What == countedOpen {
			open[k.VersionID] += k.N
		}
	}
	for i, v := range out {
		out[i].OpenTasks = open[v.ID]
	}
	return out, nil
}

// VersionByNumber returns a published version.
func (s *Store) VersionByNumber(ctx context.Context, orgID, pipelineID int64, number int) (VersionDetail, error) {
	v, err := versionByNumber(ctx, s.pool, orgID, pipelineID, number)
	return v, translate(err)
}

func versionByNumber(ctx context.Context, q querier, orgID, pipelineID int64, number int) (VersionDetail, error) {
	rows, _ := q.Query(ctx, `SELECT number, note, created_at, definition FROM pipeline_versions
		WHERE org_id = $1 AND pipeline_id = $2 AND number = $3::bigint`, orgID, pipelineID, number) // any number may be asked for
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[VersionDetail])
	if errors.Is(err, pgx.ErrNoRows) {
		return v, fault.New(fault.NotFound, "pipeline %d has no version %d", pipelineID, number)
	}
	if err != nil {
		return v, fmt.Errorf("read version: %w", err)
	}
	return v, nil
}

// RestoreVersion copies a version into the draft; Conflict when the draft was
// saved since the revision that the caller last saw.
func (s *Store) RestoreVersion(ctx context.Context, m Member, pipelineID int64, number int, revision int64) (PipelineRow, error) {
	var row PipelineRow
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		p, err := lockDraft(ctx, tx, m, pipelineID, revision)
		if err != nil {
			return err
		}
		v, err := versionByNumber(ctx, tx, m.OrgID, pipelineID, number)
		if err != nil {
			return err
		}
		def, raw, err := restorable(v)
		if err != nil {
			return fmt.Errorf("parse version %d: %w", number, err)
		}
		if err := saveDraft(ctx, tx, p, person(m.UserID), def, raw); err != nil {
			return err
		}
		if err := audit(ctx, tx, m.OrgID, person(m.UserID), "pipeline.restore", object("pipeline", p.ID),
			map[string]any{"version": number}); err != nil {
			return err
		}
		row, err = pipelineByID(ctx, tx, m.OrgID, pipelineID)
		return err
	})
	return row, err
}

// restorable is a version as a draft: word for word, so that the live one is no change,
// unless an older release let keys in that no draft may have.
func restorable(v VersionDetail) (pipeline.Definition, json.RawMessage, error) {
	if def, err := pipeline.Parse(v.Definition); err == nil {
		return def, v.Definition, nil
	}
	def, err := pipeline.Stored(v.Definition)
	if err != nil {
		return def, nil, err
	}
	raw, err := json.Marshal(def)
	return def, raw, err
}
