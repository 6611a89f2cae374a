package main

import (
	"context"

	"github.com/taskloom/taskloom/internal/measure/freshdb"
)

// poolSize is how many connections each side may use, the product's default.
const poolSize = 16

// newDatabase makes a migrated database that lives as long as the run.
func (b *bench) newDatabase(ctx context.Context) (string, error) {
	d, err := freshdb.New(ctx, b.databaseURL, "taskloom_bench_")
	if err != nil {
		return "", err
	}
	b.later(func() {
		if err := d.Drop(); err != nil {
			b.say("%v", err)
		}
	})
	return d.URL, nil
}
