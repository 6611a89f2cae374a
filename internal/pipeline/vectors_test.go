package pipeline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// vector is one walk; testdata/vectors/README.md tells the shape.
type vector struct {
	About        string          `json:"about"`
	Definition   json.RawMessage `json:"definition"`
	StartSkipped []string        `json:"start_skipped"`
	Start        picture         `json:"start"`
	Steps        []struct {
		Event pipeline.Event `json:"event"`
		picture
	} `json:"steps"`
}

// picture is what a vector says about a task.
type picture struct {
	Nodes      map[string]task.NodeStatus `json:"nodes"`
	Iterations map[string]int             `json:"iterations,omitempty"`
	Reserved   map[string]int64           `json:"reserved_for,omitempty"`
	Reasons    map[string]string          `json:"reasons,omitempty"`
	Task       task.Status                `json:"task"`
	Summary    task.Summary               `json:"summary"`
}

func pictureOf(s pipeline.State) picture {
	p := picture{Nodes: map[string]task.NodeStatus{}, Task: s.Status(), Summary: s.Summary()}
	for _, n := range s.Nodes {
		p.Nodes[n.Key] = n.Status
		if n.Iteration != 1 {
			p.Iterations = with(p.Iterations, n.Key, n.Iteration)
		}
		if n.ReservedFor != 0 {
			p.Reserved = with(p.Reserved, n.Key, n.ReservedFor)
		}
		if n.Reason != "" {
			p.Reasons = with(p.Reasons, n.Key, n.Reason)
		}
	}
	return p
}

func with[V any](m map[string]V, key string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = v
	return m
}

func TestVectors(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/vectors/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 20)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			v := readVector(t, file)
			d, err := pipeline.Parse(v.Definition)
			require.NoError(t, err)
			require.Empty(t, pipeline.Validate(d, pipeline.Options{LLM: true}))
			g := pipeline.NewGraph(d)
			s, err := pipeline.Start(g, v.StartSkipped)
			require.NoError(t, err)
			require.Equal(t, v.Start, pictureOf(s), "at creation")
			for _, step := range v.Steps {
				s, _ = pipeline.Step(g, s, step.Event)
				require.Equal(t, step.picture, pictureOf(s), "after event %d, %s of %s", step.Event.Seq, step.Event.Kind, step.Event.Node)
			}
		})
	}
}

func readVector(t *testing.T, file string) vector {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var v vector
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&v))
	return v
}
