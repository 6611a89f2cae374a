package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// PublishedTypes returns with which types the pipeline has published the fields
// of what may become its next version.
func (s *Store) PublishedTypes(ctx context.Context, p PipelineRow, next pipeline.Definition) (map[string]form.Type, error) {
	if p.VersionID == nil {
		return nil, nil
	}
	live, err := s.Version(ctx, *p.VersionID)
	if err != nil {
		return nil, err
	}
	types, err := publishedTypes(ctx, s.pool, p, live.Definition, next)
	return types, translate(err)
}

// publishedTypes knows the fields of the live version. Older versions are only
// asked for names that it has not: to read them all takes time, and a new name
// is rare.
func publishedTypes(
	ctx context.Context, q querier, p PipelineRow, live, next pipeline.Definition,
) (map[string]form.Type, error) {
	types := pipeline.FieldTypes(live)
	var others []string
	for name := range pipeline.FieldTypes(next) {
		if _, ok := types[name]; !ok && storable(name) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return types, nil
	}
	// Two versions may differ, since earlier releases only looked at the live one.
	rows, _ := q.Query(ctx, `
		SELECT DISTINCT ON (f ->> 'name') f ->> 'name' AS name, f ->> 'type' AS type
		FROM pipeline_versions v CROSS JOIN LATERAL jsonb_path_query(v.definition, '$.nodes[*].fields[*]') f
		WHERE v.org_id = $1 AND v.pipeline_id = $2 AND f ->> 'name' = ANY($3)
		ORDER BY f ->> 'name', v.number DESC`, p.OrgID, p.ID, others)
	var name string
	var typ form.Type
	_, err := pgx.ForEachRow(rows, []any{&name, &typ}, func() error {
		types[name] = typ
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the types of published fields: %w", err)
	}
	return types, nil
}
