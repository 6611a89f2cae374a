package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// runsPage is how many runs one question to Temporal brings.
const runsPage = 1000

// Temporal's list filters for runs that are open: those of tasks, and those of any
// kind that report problems. The namespace is the deployment's own.
const (
	openTaskRuns = `WorkflowType = "TaskWorkflow" AND ExecutionStatus = "Running"`
	troubledRuns = `ExecutionStatus = "Running" AND TemporalReportedProblems IS NOT NULL`
)

// deepRuns checks promise I7, in Temporal: no run is open for nothing, and none
// fails over and over. What fails on the way is told in the findings that it costs.
func (d *doctor) deepRuns(ctx context.Context, _ *app, o deepOptions) ([]deepFinding, error) {
	ended := deepFinding{
		Name: "runs-end", Promise: "I7", Says: "no run is open for a task that has ended", Verdict: fine,
		Heal: "taskloom repair run --task ID --apply",
	}
	missing := deepFinding{
		Name: "runs-have-tasks", Promise: "I7", Says: "no run is open for a task that is not there", Verdict: fine,
		Advice: "after a restore that is what docs/operations.md says under Backup and restore; else end them",
	}
	healthy := deepFinding{
		Name: "runs-work", Promise: "I7", Says: "no run reports problems that it cannot get over", Verdict: fine,
		Advice: "look at the run in the Temporal Web UI: a worker that knows its code lets it go on (docs/operations.md, When a task looks stuck)",
	}
	all := []*deepFinding{&ended, &missing, &healthy}
	if !d.temporalUp {
		for _, f := range all {
			f.Verdict, f.Advice, f.Heal = skipped, notLookedAt(temporalCheck), ""
		}
		return []deepFinding{ended, missing, healthy}, nil
	}
	err := d.eachRun(ctx, openTaskRuns, func(runs []*workflow.WorkflowExecutionInfo) error {
		needless, err := d.store.NeedlessRuns(ctx, o.patience, tasksOf(runs), o.grace)
		for _, id := range needless.Ended {
			ended.broke(id, "task %d has ended, its run task/%d is open", id, id)
		}
		for _, id := range needless.Missing {
			missing.broke(id, "there is no task %d, its run task/%d is open", id, id)
		}
		return err
	})
	cutShort(err, &ended, &missing)
	missing.Advice += ": for id in " + missing.ids(" ") + `; do temporal workflow terminate --workflow-id "task/$id" --reason "no such task"; done`
	err = d.eachRun(ctx, troubledRuns, func(runs []*workflow.WorkflowExecutionInfo) error {
		for _, r := range runs {
			healthy.broke(0, "%s %s reports %s", r.GetType().GetName(), r.GetExecution().GetWorkflowId(),
				r.GetSearchAttributes().GetIndexedFields()["TemporalReportedProblems"].GetData())
		}
		return nil
	})
	// An older server has no such attribute, and nothing is wrong with it.
	_, older := errors.AsType[*serviceerror.InvalidArgument](err)
	if !older {
		cutShort(err, &healthy)
	}
	for _, f := range all {
		f.complete()
	}
	if older {
		healthy.Verdict, healthy.Advice = skipped, "this Temporal does not tell: "+oneLine(err)
	}
	return []deepFinding{ended, missing, healthy}, nil
}

// eachRun calls fn with every page of runs that match.
func (d *doctor) eachRun(ctx context.Context, query string, fn func([]*workflow.WorkflowExecutionInfo) error) error {
	var next []byte
	for {
		page, err := d.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: d.config.TemporalNamespace, Query: query, PageSize: runsPage, NextPageToken: next,
		})
		if err != nil {
			return &partError{"Temporal, asked for its open runs,", err}
		}
		if err := fn(page.GetExecutions()); err != nil {
			return err
		}
		if next = page.GetNextPageToken(); len(next) == 0 {
			return nil
		}
	}
}

// tasksOf returns the tasks that runs are of.
func tasksOf(runs []*workflow.WorkflowExecutionInfo) (ids []int64) {
	for _, r := range runs {
		number, ok := strings.CutPrefix(r.GetExecution().GetWorkflowId(), "task/")
		if id, err := strconv.ParseInt(number, 10, 64); ok && err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
