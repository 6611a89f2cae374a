package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// storedNode is a node as its row has it; seq is the event that wrote it last.
type storedNode struct {
	pipeline.NodeState

	seq int64
}

// errBroken says that the rows of a task are not those of its pipeline version.
var errBroken = errors.New("`taskloom doctor --deep` tells more")

// loadNodes reads the rows of a task's nodes in the graph's order. The error wraps
// errBroken where there are more or fewer than the graph has.
func loadNodes(ctx context.Context, tx pgx.Tx, taskID int64, g pipeline.Graph) ([]storedNode, error) {
	rows, _ := tx.Query(ctx, `SELECT key, status, iteration, coalesce(claim_id::text, ''), lease_expires_at, sla_at,
			coalesce(actor, 0), coalesce(reserved_for, 0), skipped, passed, reworks, reason, last_seq
		FROM task_nodes WHERE task_id = $1`, taskID)
	byKey := make(map[string]storedNode)
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		var n storedNode
		var lease, sla *time.Time
		err := row.Scan(&n.Key, &n.Status, &n.Iteration, &n.Claim, &lease, &sla,
			&n.Actor, &n.ReservedFor, &n.Skipped, &n.Passed, &n.Reworks, &n.Reason, &n.seq)
		n.LeaseEnds, n.SLAEnds = orZero(lease), orZero(sla)
		byKey[n.Key] = n
		return struct{}{}, err
	})
	if err != nil {
		return nil, err
	}
	var out []storedNode
	for _, gn := range g.Nodes {
		if n, ok := byKey[gn.Key]; ok {
			out = append(out, n)
		}
	}
	if len(out) != len(byKey) || len(out) != len(g.Nodes)-2 {
		return nil, fmt.Errorf("task %d has %d node rows, its pipeline version has %d: %w", taskID, len(byKey), len(g.Nodes)-2, errBroken)
	}
	return out, nil
}
