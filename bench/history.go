package main

import (
	"context"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// history is what a run cost Temporal, on average.
type history struct{ events, workflowTasks, signals, localActivities, timers float64 }

// readHistories averages over the named runs.
func readHistories(ctx context.Context, c client.Client, ids []string) (history, error) {
	var h history
	for _, id := range ids {
		events := c.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				return h, fmt.Errorf("read history of %s: %w", id, err)
			}
			h.events++
			switch e.GetEventType() { //nolint:exhaustive // the others are only counted
			case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
				h.workflowTasks++
			case enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
				h.signals++
			case enums.EVENT_TYPE_MARKER_RECORDED:
				if e.GetMarkerRecordedEventAttributes().GetMarkerName() == "LocalActivity" {
					h.localActivities++
				}
			case enums.EVENT_TYPE_TIMER_STARTED:
				h.timers++
			}
		}
	}
	n := float64(max(1, len(ids)))
	return history{h.events / n, h.workflowTasks / n, h.signals / n, h.localActivities / n, h.timers / n}, nil
}

// into notes the figures of one side.
func (h history) into(extra map[string]float64, side string) {
	extra[side+"_history_events"] = h.events
	extra[side+"_workflow_tasks"] = h.workflowTasks
	extra[side+"_signals"] = h.signals
	extra[side+"_local_activities"] = h.localActivities
	extra[side+"_timers"] = h.timers
}
