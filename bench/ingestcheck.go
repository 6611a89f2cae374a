package main

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// checkedObjects of an archive are read back and compared byte by byte; of the
// others the sizes are.
const checkedObjects = 16

// wrongRows counts what should not be there, over all samples.
type wrongRows struct{ missing, double, wrong int }

func (w *wrongRows) add(o wrongRows) {
	w.missing += o.missing
	w.double += o.double
	w.wrong += o.wrong
}

func (w wrongRows) String() string {
	if w == (wrongRows{}) {
		return "right"
	}
	return fmt.Sprintf("%d missing, %d double, %d wrong", w.missing, w.double, w.wrong)
}

func (w wrongRows) into(f *finding) {
	f.add(
		figure{Name: "rows missing", Value: float64(w.missing), None: true},
		figure{Name: "rows double", Value: float64(w.double), None: true},
		figure{Name: "rows wrong", Value: float64(w.wrong), None: true})
}

// storedFile is a file as somebody says that it is stored.
type storedFile struct {
	name, key string
	size      int64
	sum       string // in hexadecimal; "" where nobody says
}

// check compares tasks, files and objects with the archive: every file exactly
// one task, with its size and hash, and an object that is so.
func (r *ingestRun) check(ctx context.Context) (wrongRows, error) {
	rows, _ := r.pool.Query(ctx, `SELECT f.name, f.object_key, f.size, f.sha256 FROM tasks t
		LEFT JOIN files f ON f.id = (t.input->'scan'->>'file_id')::uuid AND f.org_id = t.org_id
			AND f.name = t.input->'scan'->>'name' AND f.size = (t.input->'scan'->>'size')::bigint AND f.sha256 = t.input->'scan'->>'sha256'
		WHERE t.org_id = $1 AND t.pipeline_id = $2`, r.org, r.workflow)
	found, err := pgx.CollectRows(rows, scanStored)
	if err != nil {
		return wrongRows{}, fmt.Errorf("read tasks: %w", err)
	}
	return r.compareFiles(ctx, found, r.filesPrefix())
}

func scanStored(row pgx.CollectableRow) (storedFile, error) {
	var name, key, sum *string
	var size *int64
	if err := row.Scan(&name, &key, &size, &sum); err != nil || name == nil {
		return storedFile{}, err // a task whose file is not there
	}
	f := storedFile{name: *name, key: *key, size: *size}
	if sum != nil {
		f.sum = *sum
	}
	return f, nil
}

func (r *ingestRun) compareFiles(ctx context.Context, found []storedFile, prefix string) (w wrongRows, err error) {
	objects, err := r.bucket.list(ctx, prefix)
	if err != nil {
		return w, err
	}
	numbers := make(map[string]int, r.archive.Files)
	for i := range r.archive.Files {
		numbers[r.archive.Name(i)] = i
	}
	seen := map[string]bool{}
	for _, f := range found {
		i, known := numbers[f.name]
		size, stored := objects[f.key]
		switch {
		case !known || !stored || f.size != r.archive.Size || size != f.size || f.sum != "" && f.sum != hex.EncodeToString(r.sums[i][:]):
			w.wrong++
		case seen[f.name]:
			w.double++
		case i%max(1, r.archive.Files/checkedObjects) == 0:
			sum, err := r.bucket.sum(ctx, f.key)
			if err != nil {
				return w, err
			}
			if sum != r.sums[i] {
				w.wrong++
			}
		}
		seen[f.name] = true
	}
	for name := range numbers {
		if !seen[name] {
			w.missing++
		}
	}
	// Objects that no row names are litter, such as a killed run may leave.
	w.wrong += max(0, len(objects)-len(seen))
	return w, nil
}
