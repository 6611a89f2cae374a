package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
)

// toldShare is the least share of all time in statements of a size from which on
// one is told in the table; the results have those of a hundredth of that, too.
const toldShare = 0.02

// statement is what one statement of the product cost Postgres beside so many
// tasks, as pg_stat_statements has it: a mean of all processes.
type statement struct {
	Phase string  `json:"phase"`
	Text  string  `json:"text"` // its beginning
	Calls int64   `json:"calls"`
	Plan  float64 `json:"plan_ms"` // a call, as all below
	Exec  float64 `json:"exec_ms"`
	Wait  float64 `json:"read_ms"`        // of that, until pages came from the kernel
	Hit   float64 `json:"buffer_pages"`   // found in Postgres's own memory
	Read  float64 `json:"read_pages"`     // asked of the kernel
	Share float64 `json:"share_of_phase"` // of the time that all statements took
}

// countStatements begins to count. Where Postgres was started without
// pg_stat_statements there is no table, and the run says so.
func (r *run) countStatements(ctx context.Context) error {
	var loaded string
	if err := r.pool.QueryRow(ctx, `SHOW shared_preload_libraries`).Scan(&loaded); err != nil {
		return fmt.Errorf("ask for pg_stat_statements: %w", err)
	}
	if !strings.Contains(loaded, "pg_stat_statements") {
		r.note("no table of statements: Postgres runs without pg_stat_statements (taskloom-dev exec --statements)")
		return nil
	}
	if _, err := r.pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`); err != nil {
		return fmt.Errorf("count statements: %w", err)
	}
	r.counting = true
	return nil
}

// forgetStatements begins the count anew.
func (r *run) forgetStatements(ctx context.Context) error {
	if !r.counting {
		return nil
	}
	_, err := r.pool.Exec(ctx, `SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()), 0)`)
	if err != nil {
		return fmt.Errorf("begin to count statements: %w", err)
	}
	return nil
}

// statementsSQL has what was counted, dearest first. What this program asks itself, in
// $1, is no matter of the product's.
const statementsSQL = `WITH s AS (
		SELECT queryid, min(query) AS query, sum(calls)::bigint AS calls, sum(total_plan_time) AS plan, sum(total_exec_time) AS exec,
			sum(blk_read_time) AS waited, sum(shared_blks_hit) AS hit, sum(shared_blks_read) AS read
		FROM pg_stat_statements
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND query !~* ALL ($1::text[]) AND calls > 0
		GROUP BY queryid)
	SELECT '', left(btrim(regexp_replace(query, '\s+', ' ', 'g')), 160), calls, plan / calls, exec / calls, waited / calls,
		(hit / calls)::float8, (read / calls)::float8, (plan + exec) / sum(plan + exec) OVER () AS share
	FROM s ORDER BY share DESC, queryid`

// ownStatements are those of this program that take long: it removes what was
// created.
var ownStatements = []string{
	`^(CHECKPOINT|VACUUM)`, `^DELETE FROM (outbox|task_events|task_nodes) WHERE task_id = ANY`, `^DELETE FROM tasks `,
}

// takeStatements keeps what was counted since forgetStatements.
func (r *run) takeStatements(ctx context.Context, phase string) error {
	if !r.counting {
		return nil
	}
	rows, err := r.pool.Query(ctx, statementsSQL, ownStatements)
	if err != nil {
		return fmt.Errorf("read what statements cost: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[statement])
	if err != nil {
		return fmt.Errorf("read what statements cost: %w", err)
	}
	for _, s := range all {
		if s.Share >= toldShare/100 {
			s.Phase = phase
			r.statements = append(r.statements, s)
		}
	}
	return nil
}

// printStatements puts the sizes of each statement below each other, dearest
// first.
func (r *run) printStatements() error {
	if len(r.statements) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(r.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nstatement\tphase\tcalls\tplan ms\texec ms\tof that reading\tpages in memory\tread\tshare\n")
	for _, text := range dearest(r.statements) {
		for _, s := range r.statements {
			if s.Text == text {
				fmt.Fprintf(w, "%.70s\t%s\t%d\t%.3f\t%.3f\t%.3f\t%.1f\t%.1f\t%.0f %%\n",
					s.Text, s.Phase, s.Calls, s.Plan, s.Exec, s.Wait, s.Hit, s.Read, 100*s.Share)
			}
		}
	}
	return w.Flush()
}

// dearest are the texts of what takes enough of any phase to be told.
func dearest(all []statement) []string {
	most := map[string]float64{}
	var texts []string
	for _, s := range all {
		if s.Share < toldShare {
			continue
		}
		if most[s.Text] == 0 {
			texts = append(texts, s.Text)
		}
		most[s.Text] = max(most[s.Text], s.Share)
	}
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(most[b], most[a]) })
	return texts
}
