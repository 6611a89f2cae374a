package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/demo"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

func (a *app) demoCommand() *cobra.Command {
	var tasks int
	var seed uint64
	var problems string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Let simulated people work through real tasks on a running deployment",
		Long: "Makes a pipeline of its own in the organization demo, creates tasks over the External API, and lets\n" +
			"eight contributors and two reviewers work through the console API until every task is finished.\n" +
			"Some claims are released, some abandoned until their lease runs out, some submissions rejected.\n" +
			"At the end the promises about the data are checked in the database.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tasks < 1 || tasks > 100_000 {
				return fault.New(fault.InvalidRequest, "--tasks %d is out of range; choose 1 to 100000", tasks)
			}
			return a.demo(cmd.Context(), demo.Options{Tasks: tasks, Seed: seed}, problems)
		},
	}
	cmd.Flags().IntVar(&tasks, "tasks", 1000, "how many tasks to create")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "repeats what the simulated people decide")
	cmd.Flags().StringVar(&problems, "problems", "",
		"a file with lines of {\"question\", \"answer\"}; without one a built-in sample serves")
	return cmd
}

func (a *app) demo(ctx context.Context, o demo.Options, problems string) error {
	c, err := a.config("DATABASE_URL")
	if err != nil {
		return err
	}
	var given bool
	if o.Problems, given, err = demo.Load(problems); err != nil {
		return fault.New(fault.InvalidRequest, "cannot read the problems: %s", err)
	}
	if !given && problems != "" {
		fmt.Fprintf(a.out, "%s is not there; the built-in sample of %d problems serves instead\n", problems, len(o.Problems))
	}
	if o.Store, err = openStore(ctx, c); err != nil {
		return err
	}
	defer o.Store.Close()
	orgID, admin, err := setUpDemo(ctx, &o)
	if err != nil {
		return err
	}
	if o.APIKey, err = demoKey(ctx, o.Store, orgID, admin); err != nil {
		return err
	}
	o.BaseURL, o.Out, o.Live = c.PublicURL, a.out, terminal(a.out)
	fmt.Fprintf(a.out, "%d tasks in pipeline %d (%s) at %s, seed %d\n", o.Tasks, o.PipelineID, demo.Pipeline, o.BaseURL, o.Seed)
	return demo.Run(ctx, o)
}

// setUpDemo applies the demo's document and finds its pipeline.
func setUpDemo(ctx context.Context, o *demo.Options) (orgID, admin int64, err error) {
	doc, err := apply.Read(demo.Document)
	if err != nil {
		return 0, 0, err
	}
	result, err := o.Store.Apply(ctx, doc, store.ApplyOptions{Rand: rand.Reader, Pipelines: pipeline.Options{}})
	if err != nil {
		return 0, 0, err
	}
	org := result.Organizations[0]
	for _, p := range org.Pipelines {
		if p.Name == demo.Pipeline {
			o.PipelineID = p.ID
		}
	}
	user, err := o.Store.UserByEmail(ctx, demo.Admin)
	return org.ID, user.ID, err
}

// demoKey makes a key for this run that lives for thirty days.
func demoKey(ctx context.Context, st *store.Store, orgID, admin int64) (string, error) {
	value, err := apikey.Generate(rand.Reader)
	if err != nil {
		return "", err
	}
	now := time.Now()
	name := "demo " + now.UTC().Format("2006-01-02 15:04:05.000")
	_, err = st.CreateKey(ctx, orgID, admin, name, apikey.Hash(value), apikey.Last4(value), apikey.ExpiresAt("30d", now), admin)
	return value, err
}

// terminal reports whether output goes to a person's screen.
func terminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !strings.EqualFold(os.Getenv("TERM"), "dumb")
}
