package main

import (
	"context"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// temporalCost is what one run cost Temporal, on average.
type temporalCost struct {
	Runs             float64            `json:"runs"`
	Events           float64            `json:"history_events"`
	Bytes            float64            `json:"history_bytes"`
	StateTransitions float64            `json:"state_transitions"`
	ByType           map[string]float64 `json:"events_by_type"`
	Completed        float64            `json:"completed"`
}

// whole fails when some tasks had no run, or one that did not come to its end:
// averages over what is missing say too little.
func (c temporalCost) whole() error {
	const least = 0.999
	if c.Runs < least || c.Completed < least {
		return fmt.Errorf("a task has %.4g runs, and %.4g that completed, of which both should be 1: look in the Temporal Web UI for what is open",
			c.Runs, c.Completed)
	}
	return nil
}

// historyCost averages over the runs of tasks.
func historyCost(ctx context.Context, c client.Client, tasks []int64) (temporalCost, error) {
	out := temporalCost{ByType: map[string]float64{}}
	n := float64(max(1, len(tasks)))
	for _, task := range tasks {
		id := fmt.Sprintf("task/%d", task)
		about, err := c.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			return out, fmt.Errorf("ask Temporal for %s: %w", id, err)
		}
		info := about.GetWorkflowExecutionInfo()
		out.Runs += 1 / n
		out.Events += float64(info.GetHistoryLength()) / n
		out.Bytes += float64(info.GetHistorySizeBytes()) / n
		out.StateTransitions += float64(info.GetStateTransitionCount()) / n
		if info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED {
			out.Completed += 1 / n
		}
		events := c.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				return out, fmt.Errorf("read history of %s: %w", id, err)
			}
			out.ByType[e.GetEventType().String()] += 1 / n
		}
	}
	return out, nil
}
