package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// PipelineOverview is a pipeline with how much work it has.
type PipelineOverview struct {
	PipelineRow
	Counts QueueCounts
	// Unpublished says that the draft says something else than the live
	// version, or that there is none.
	Unpublished bool
}

// ListPipelines lists the pipelines of the member's project by name. Drafts
// and archived ones are for admins only.
func (s *Store) ListPipelines(ctx context.Context, m Member) ([]PipelineOverview, error) {
	type row struct {
		PipelineRow
		Unpublished bool
	}
	rows, _ := s.pool.Query(ctx, `SELECT `+pipelineColumns+`,
			coalesce(p.draft_hash <> (SELECT v.hash FROM pipeline_versions v WHERE v.id = p.version_id), true) AS unpublished
		FROM pipelines p WHERE p.org_id = $1 AND p.project_id = $2
			AND ($3 OR p.status NOT IN ('DRAFT', 'PENDING_ACTIVATION', 'ARCHIVED'))
		ORDER BY p.name, p.id`, m.OrgID, m.ProjectID, m.Admin())
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
	if err != nil {
		return nil, translate(err)
	}
	ids, at := make([]int64, len(found)), map[int64]int{}
	out := make([]PipelineOverview, len(found))
	for i, p := range found {
		ids[i], at[p.ID] = p.ID, i
		out[i] = PipelineOverview{PipelineRow: p.PipelineRow, Unpublished: p.Unpublished}
	}
	counts, err := keptCounts(ctx, s.pool, ids...)
	if err != nil {
		return nil, translate(err)
	}
	for _, k := range counts {
		out[at[k.PipelineID]].Counts.add(k)
	}
	return out, nil
}
