package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/taskloom/taskloom/internal/apply"
)

// datasets adds or replaces datasets; one with the same rows is left alone.
func (a *applying) datasets(ctx context.Context, org apply.Organization) error {
	for _, d := range org.Datasets {
		id, err := a.dataset(ctx, d)
		if err != nil {
			return err
		}
		a.out.Datasets = append(a.out.Datasets, apply.DatasetResult{Name: apply.Name(d.Name), ID: id, Rows: len(d.Rows)})
	}
	return nil
}

func (a *applying) dataset(ctx context.Context, d apply.Dataset) (int64, error) {
	rows := make([]string, len(d.Rows))
	for i, r := range d.Rows {
		rows[i] = string(r.Data)
	}
	var id int64
	var created bool
	err := a.tx.QueryRow(ctx, `
		WITH added AS (
			INSERT INTO datasets (org_id, name, columns) VALUES ($1, $2, $3)
			ON CONFLICT (org_id, name) DO NOTHING RETURNING id
		)
		SELECT id, true FROM added
		UNION ALL SELECT id, false FROM datasets WHERE org_id = $1 AND name = $2`,
		a.org, apply.Name(d.Name), columnsOf(d)).Scan(&id, &created)
	if err != nil {
		return 0, fmt.Errorf("apply dataset: %w", err)
	}
	if !created {
		same, err := a.sameRows(ctx, id, rows)
		if err != nil || same {
			return id, err
		}
		if _, err := a.tx.Exec(ctx, `DELETE FROM dataset_rows WHERE dataset_id = $1`, id); err != nil {
			return 0, fmt.Errorf("clear dataset: %w", err)
		}
		_, err = a.tx.Exec(ctx, `UPDATE datasets SET columns = $3 WHERE org_id = $1 AND id = $2`, a.org, id, columnsOf(d))
		if err != nil {
			return 0, fmt.Errorf("set columns of dataset: %w", err)
		}
	}
	_, err = a.tx.Exec(ctx, `
		INSERT INTO dataset_rows (dataset_id, position, data)
		SELECT $1, n - 1, data::jsonb FROM unnest($2::text[]) WITH ORDINALITY AS r (data, n)`, id, rows)
	if err != nil {
		return 0, fmt.Errorf("insert rows of dataset: %w", err)
	}
	return id, a.audit(ctx, "dataset.set", object("dataset", id), map[string]any{"name": d.Name, "rows": len(rows)})
}

func (a *applying) sameRows(ctx context.Context, id int64, rows []string) (same bool, err error) {
	err = a.tx.QueryRow(ctx, `
		SELECT NOT EXISTS (
			SELECT FROM unnest($2::text[]) WITH ORDINALITY AS r (data, n)
			FULL JOIN (SELECT position, data FROM dataset_rows WHERE dataset_id = $1) d ON d.position = r.n - 1
			WHERE r.data::jsonb IS DISTINCT FROM d.data)`, id, rows).Scan(&same)
	if err != nil {
		return false, fmt.Errorf("compare rows of dataset: %w", err)
	}
	return same, nil
}

// columnsOf returns every column in the order in which the rows name them.
func columnsOf(d apply.Dataset) []string {
	columns := []string{}
	seen := map[string]bool{}
	for _, r := range d.Rows {
		for _, c := range r.Columns {
			if !seen[c] {
				seen[c] = true
				columns = append(columns, c)
			}
		}
	}
	return slices.Clip(columns)
}
