package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// repair mends, or says what it would do, and returns what it refused beside what
// it did.
type repair func(context.Context, *store.Store, repairFlags) ([]store.Repaired, []error)

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
	add := func(use, short string, run repair, named bool) {
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
func everything(do func(*store.Store, context.Context, bool) ([]store.Repaired, error)) repair {
	return func(ctx context.Context, st *store.Store, f repairFlags) ([]store.Repaired, []error) {
		done, err := do(st, ctx, f.apply)
		if err != nil {
			return done, []error{err}
		}
		return done, nil
	}
}

// eachTask runs a repair on each of the named tasks. One that cannot be repaired
// keeps none of the others from it; when the database fails, all that follow would.
func eachTask(do func(*store.Store, context.Context, int64, bool) ([]store.Repaired, error)) repair {
	return func(ctx context.Context, st *store.Store, f repairFlags) (all []store.Repaired, refused []error) {
		for _, id := range f.tasks {
			done, err := do(st, ctx, id, f.apply)
			all = append(all, done...)
			if err != nil {
				refused = append(refused, err)
			}
			if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
				break
			}
		}
		return all, refused
	}
}

func (a *app) repair(ctx context.Context, f repairFlags, run repair) error {
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
	done, refused := run(ctx, st, f)
	if err := a.tellRepaired(f, done, len(refused) > 0); err != nil {
		return err
	}
	for _, err := range refused {
		a.explain(err)
	}
	if len(refused) > 0 {
		return errSilent
	}
	return nil
}

func (a *app) tellRepaired(f repairFlags, done []store.Repaired, refused bool) error {
	if f.output == "json" {
		return printJSON(a.out, map[string]any{"applied": f.apply, "changes": append([]store.Repaired{}, done...)})
	}
	var then []string
	for _, r := range done {
		fmt.Fprintln(a.out, r.What)
		if r.Then != "" && !slices.Contains(then, r.Then) {
			then = append(then, r.Then)
		}
	}
	for _, next := range then {
		fmt.Fprintln(a.out, "then:", next)
	}
	switch {
	case len(done) == 0 && !refused:
		fmt.Fprintln(a.out, "nothing to mend")
	case len(done) > 0 && !f.apply:
		fmt.Fprintln(a.out, "nothing was changed: this was a trial; give --apply to do it")
	}
	return nil
}
