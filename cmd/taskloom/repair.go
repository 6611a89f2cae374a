package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// repairFlags are the flags of the repair commands.
type repairFlags struct {
	tasks  []int64
	apply  bool
	output format
}

func (a *app) repairCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Mend what doctor --deep finds; a trial run unless --apply is given",
		Long: "Mend what doctor --deep finds. Without --apply it says what it would do and changes nothing. Every repair can\n" +
			"be run again and again, and while people work; what has nothing wrong with it is left alone. What is changed\n" +
			"for an organization stands in its audit log.",
	}
	var f repairFlags
	add := func(use, short string, run func(context.Context, *store.Store, repairFlags) ([]store.Repaired, error), named bool) {
		sub := &cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.repair(cmd.Context(), f, run) },
		}
		sub.Flags().BoolVar(&f.apply, "apply", false, "do it; without it nothing is changed")
		addFormat(sub, &f.output)
		if named {
			sub.Flags().Int64SliceVar(&f.tasks, "task", nil, "ids of the tasks: 17 or 17,23")
			_ = sub.MarkFlagRequired("task") // only fails for an unknown flag
		}
		cmd.AddCommand(sub)
	}
	add("task", "Write the rows of tasks anew from their journals", eachTask((*store.Store).RepairTask), true)
	add("run", "Have the runs of tasks look at their journals again", eachTask((*store.Store).RepairRun), true)
	add("counts", "Count again what is kept of pipelines", everything((*store.Store).RepairCounts), false)
	add("uploads", "Count again the rows of uploads", everything((*store.Store).RepairUploads), false)
	add("outbox", "Delete outbox rows of tasks that are not there", everything((*store.Store).RepairOutbox), false)
	return cmd
}

// everything runs a repair that finds by itself what to do.
func everything(do func(*store.Store, context.Context, bool) ([]store.Repaired, error)) func(context.Context, *store.Store, repairFlags) ([]store.Repaired, error) {
	return func(ctx context.Context, st *store.Store, f repairFlags) ([]store.Repaired, error) {
		return do(st, ctx, f.apply)
	}
}

// eachTask runs a repair on each of the named tasks. Those before one that
// fails stay repaired.
func eachTask(do func(*store.Store, context.Context, int64, bool) ([]store.Repaired, error)) func(context.Context, *store.Store, repairFlags) ([]store.Repaired, error) {
	return func(ctx context.Context, st *store.Store, f repairFlags) ([]store.Repaired, error) {
		var all []store.Repaired
		for _, id := range f.tasks {
			done, err := do(st, ctx, id, f.apply)
			if err != nil {
				return all, err
			}
			all = append(all, done...)
		}
		return all, nil
	}
}

func (a *app) repair(
	ctx context.Context, f repairFlags, run func(context.Context, *store.Store, repairFlags) ([]store.Repaired, error),
) error {
	if err := f.output.check(); err != nil {
		return err
	}
	for _, id := range f.tasks {
		if id <= 0 {
			return fault.New(fault.InvalidRequest, "--task %d is no id of a task", id)
		}
	}
	c, err := a.config("DATABASE_URL")
	if err != nil {
		return err
	}
	st, err := openStore(ctx, c)
	if err != nil {
		return err
	}
	defer st.Close()
	done, err := run(ctx, st, f)
	if err != nil {
		return err
	}
	if f.output == "json" {
		return printJSON(a.out, map[string]any{"applied": f.apply, "changes": append([]store.Repaired{}, done...)})
	}
	for _, r := range done {
		fmt.Fprintln(a.out, r.What)
	}
	switch {
	case len(done) == 0:
		fmt.Fprintln(a.out, "nothing to mend")
	case !f.apply:
		fmt.Fprintln(a.out, "nothing was changed: this was a trial; give --apply to do it")
	}
	return nil
}
