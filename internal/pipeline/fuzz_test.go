package pipeline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// FuzzParse: no document makes parsing, validation or what follows panic, and
// a valid definition gives a graph that a task can start on.
func FuzzParse(f *testing.F) {
	for _, d := range []pipeline.Definition{{}, sound()} {
		b, err := json.Marshal(d)
		require.NoError(f, err)
		f.Add(b)
	}
	files, err := filepath.Glob("testdata/vectors/*.json")
	require.NoError(f, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(f, err)
		var v vector
		require.NoError(f, json.Unmarshal(b, &v))
		f.Add([]byte(v.Definition))
	}
	f.Add([]byte(`{"name":"x","nodes":[{"key":"a","kind":"subtask","fields":[{"name":"f","type":"table","input":"llm"}]}],"edges":[{"from":"a","to":"a","when":{"not":{}}}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > pipeline.MaxDefinition {
			return
		}
		d, err := pipeline.Parse(doc)
		if err != nil {
			return
		}
		problems := pipeline.Validate(d, pipeline.Options{LLM: len(doc)%2 == 0})
		for _, p := range problems {
			require.NotEmpty(t, p.Path)
			require.NotEmpty(t, p.Message)
		}
		g := pipeline.NewGraph(d)
		if len(problems) > 0 {
			return
		}
		p := pipeline.Compile(d)
		require.Equal(t, g, p.Graph)
		s, err := pipeline.Start(g, p.Skipped("start", form.Values{}, form.NewBudget()))
		if err == nil {
			require.Len(t, s.Nodes, len(d.Nodes)-2)
			require.True(t, s.Status().Valid())
		}
	})
}

// FuzzStep: no event makes a step panic, not even one that no command writes.
func FuzzStep(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyEvents)) }

func TestNoEventMakesAStepPanic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, anyEvents)
}

func anyEvents(t *rapid.T) {
	d := drawDefinition(t)
	g := pipeline.NewGraph(d)
	s, err := pipeline.Start(g, nil)
	require.NoError(t, err)
	keys := []string{"", "nowhere"}
	for _, n := range d.Nodes {
		keys = append(keys, n.Key)
	}
	some := rapid.SliceOfN(rapid.SampledFrom(keys), 0, 4)
	outcomes := rapid.SampledFrom([]string{
		"", pipeline.Approved, pipeline.Rejected, pipeline.EscalatedByReviewer, pipeline.ResolveRequeue,
		pipeline.ResolveAccept, pipeline.ResolveSkip, pipeline.AutoDone, pipeline.AutoFailed, "odd",
	})
	kinds := rapid.SampledFrom(append(pipeline.EventKinds(), "odd", ""))
	for range rapid.IntRange(1, 30).Draw(t, "events") {
		e := pipeline.Event{
			Seq: rapid.Int64Range(-1, 40).Draw(t, "seq"), Kind: kinds.Draw(t, "kind"),
			Node: rapid.SampledFrom(keys).Draw(t, "node"), Iteration: rapid.IntRange(-1, 4).Draw(t, "iteration"),
			Actor: 1, Claim: "c", LeaseEnds: time.Unix(0, 0), Outcome: outcomes.Draw(t, "outcome"),
			Skipped: some.Draw(t, "skipped"), Returned: some.Draw(t, "returned"),
		}
		next, changes := pipeline.Step(g, s, e)
		require.GreaterOrEqual(t, next.Seq, s.Seq)
		require.Len(t, next.Nodes, len(s.Nodes))
		require.True(t, next.Status().Valid())
		for _, n := range next.Nodes {
			require.Contains(t, task.NodeStatuses(), n.Status)
		}
		for _, c := range changes {
			require.NotEqual(t, task.NodeClaimed, c.Node.Status)
		}
		s = next
	}
}
