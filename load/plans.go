package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/taskloom/taskloom/internal/measure/freshdb"
)

// explainSlow has Postgres log the plan of every statement in our database that
// takes longer than -explain, for connections made from now on.
func (r *run) explainSlow(ctx context.Context) error {
	for _, setting := range []string{
		"session_preload_libraries = 'auto_explain'",
		fmt.Sprintf("auto_explain.log_min_duration = '%dms'", r.explain.Milliseconds()),
		"auto_explain.log_analyze = on", "auto_explain.log_timing = off", "auto_explain.log_buffers = on",
	} {
		if err := freshdb.Admin(ctx, r.server, "ALTER DATABASE "+r.db.Name+" SET "+setting); err != nil {
			return fmt.Errorf("-explain: %w", err)
		}
	}
	return nil
}

// keepPlans copies the plans beside the results.
func (r *run) keepPlans() error {
	raw, err := os.ReadFile(postgresLog())
	if err != nil {
		return fmt.Errorf("-explain: %w", err)
	}
	name := strings.TrimSuffix(r.results, ".json") + ".plans.log"
	if err := os.WriteFile(name, raw, 0o644); err != nil {
		return fmt.Errorf("-explain: %w", err)
	}
	fmt.Fprintf(r.stdout, "Postgres's log with %d slow statements: %s\n", strings.Count(string(raw), "duration: "), name)
	return nil
}

// postgresLog is where the stack keeps the log of its Postgres.
func postgresLog() string { return filepath.Join(os.Getenv("DEV_DIR"), "logs", "postgres.log") }
