package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/conformance"
	"github.com/taskloom/taskloom/internal/fault"
)

// conformanceFlags are what the command is told beside the target.
type conformanceFlags struct {
	file, item, output string
	only               []string
	light, noSkips     bool
}

// keyVariable may hold the API key, so that it is in no list of processes.
const keyVariable = "TASKLOOM_API_KEY"

func (a *app) conformanceCommand() *cobra.Command {
	var t conformance.Target
	var f conformanceFlags
	cmd := &cobra.Command{
		Use:   "conformance --url URL --key KEY --workflow ID",
		Short: "Check a deployment of the External API against its contract, from outside",
		Long: "Checks a deployment of the External API, one check for each sentence of its contract, over HTTP only. It creates\n" +
			"tasks in the workflows that are named, some hundred in all, and leaves them there. What is not named skips the\n" +
			"checks that need it; the report says which. The exit code is 1 when a check fails. See docs/conformance.md.",
		Example: "  taskloom conformance --url https://taskloom.example.com --key pk_live_… --workflow 12\n" +
			"  taskloom conformance prepare > target.json && taskloom conformance --target target.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.conformance(cmd, t, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&t.BaseURL, "url", "", "address of the deployment, with or without /api/v1")
	flags.StringVar(&t.Key, "key", "", "an API key; "+keyVariable+" in the environment serves, too")
	flags.StringVar(&f.item, "item", "", "fields of a task for --workflow, as JSON; made from the schema's examples otherwise")
	for _, w := range workflowFlags(&t) {
		flags.Int64Var(w.value, w.name, 0, w.usage)
	}
	flags.StringVar(&t.RevokedKey, "revoked-key", "", "a key of the same organization that was revoked")
	flags.StringVar(&t.ExpiredKey, "expired-key", "", "one that has expired")
	flags.StringVar(&t.RemovedCreatorKey, "removed-creator-key", "", "a good one whose creator was removed from the organization")
	flags.StringVar(&t.SpareKey, "spare-key", "", "a good one that nothing else uses: its rate limit is exhausted")
	flags.StringVar(&f.file, "target", "", "a file with all of these as JSON, as `prepare` prints it; flags override it")
	flags.StringSliceVar(&f.only, "only", nil, "ids of checks, or their beginnings, such as 4.1,x-etag")
	flags.BoolVar(&f.light, "light", false, "leave out bodies of 32 MB, 5,000 items, and requests until a rate limit shows")
	flags.BoolVar(&f.noSkips, "no-skips", false, "count a skipped check as a failed one")
	flags.StringVarP(&f.output, "output", "o", "text", "text, json or junit")
	cmd.AddCommand(a.conformancePrepareCommand())
	return cmd
}

type workflowFlag struct {
	name, usage string
	value       *int64
}

func workflowFlags(t *conformance.Target) []workflowFlag {
	return []workflowFlag{
		{"workflow", "an ACTIVE workflow without file upload fields, in which tasks are created", &t.Workflow},
		{"file-workflow", "an ACTIVE workflow whose one field is a file upload", &t.FileWorkflow},
		{"folder-workflow", "an ACTIVE workflow with several fields, all of them file uploads", &t.FolderWorkflow},
		{"mixed-workflow", "an ACTIVE workflow with file uploads and other fields", &t.MixedWorkflow},
		{"foreign-workflow", "a workflow of another organization", &t.ForeignWorkflow},
		{"paused-workflow", "a PAUSED workflow without file upload fields", &t.PausedWorkflow},
		{"draft-workflow", "a DRAFT workflow", &t.DraftWorkflow},
		{"completed-workflow", "a COMPLETED workflow", &t.CompletedWorkflow},
		{"archived-workflow", "an ARCHIVED workflow", &t.ArchivedWorkflow},
	}
}

func (a *app) conformance(cmd *cobra.Command, t conformance.Target, f conformanceFlags) error {
	if f.output != "text" && f.output != "json" && f.output != "junit" {
		return fault.New(fault.InvalidRequest, "--output %s is unknown; choose text, json or junit", f.output)
	}
	t, err := a.conformanceTarget(cmd, t, f)
	if err != nil {
		return err
	}
	report, err := conformance.Run(cmd.Context(), t, conformance.Options{
		Client: conformanceClient(), Only: f.only, WithoutHeavy: f.light,
		Log: func(format string, args ...any) { fmt.Fprintf(a.err, "conformance: "+format+"\n", args...) },
	})
	if err != nil {
		return fault.New(fault.InvalidRequest, "%s", err)
	}
	switch f.output {
	case "json":
		err = report.JSON(a.out)
	case "junit":
		err = report.JUnit(a.out)
	default:
		err = report.Text(a.out)
	}
	if err == nil && (report.Count(conformance.Failed) > 0 || f.noSkips && report.Count(conformance.Skipped) > 0) {
		return errSilent
	}
	return err
}

// conformanceTarget puts the file, the flags and the environment together.
func (a *app) conformanceTarget(cmd *cobra.Command, given conformance.Target, f conformanceFlags) (conformance.Target, error) {
	t := given
	if f.file != "" {
		doc, err := os.ReadFile(f.file)
		if err != nil {
			return t, fault.New(fault.NotFound, "cannot read the target: %s", err)
		}
		t = conformance.Target{}
		if err := json.Unmarshal(doc, &t); err != nil {
			return t, fault.New(fault.Validation, "%s is no target: %s", f.file, err)
		}
		override(cmd, &t, given)
	}
	if f.item != "" {
		if err := json.Unmarshal([]byte(f.item), &t.Item); err != nil {
			return t, fault.New(fault.InvalidRequest, "--item is no JSON object: %s", err)
		}
	}
	for _, pair := range a.environ {
		if name, value, _ := strings.Cut(pair, "="); name == keyVariable && t.Key == "" {
			t.Key = value
		}
	}
	return t, nil
}

// override lets the flags that were given win over the file.
func override(cmd *cobra.Command, t *conformance.Target, given conformance.Target) {
	set := func(name string, apply func()) {
		if cmd.Flags().Changed(name) {
			apply()
		}
	}
	set("url", func() { t.BaseURL = given.BaseURL })
	set("key", func() { t.Key = given.Key })
	set("revoked-key", func() { t.RevokedKey = given.RevokedKey })
	set("expired-key", func() { t.ExpiredKey = given.ExpiredKey })
	set("removed-creator-key", func() { t.RemovedCreatorKey = given.RemovedCreatorKey })
	set("spare-key", func() { t.SpareKey = given.SpareKey })
	theirs := workflowFlags(&given)
	for i, w := range workflowFlags(t) {
		set(w.name, func() { *w.value = *theirs[i].value })
	}
}

// conformanceClient shows redirects as they are: the contract has none.
func conformanceClient() *http.Client {
	const connections = 32
	return &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: connections, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
