package stacktest

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"

	"github.com/stretchr/testify/require"
)

// Taskloom runs a command of the product and decodes the JSON that it prints
// into out, when out is not nil.
func (s *Stack) Taskloom(out any, args ...string) {
	s.t.Helper()
	s.command(nil, out, args...)
}

func (s *Stack) command(stdin io.Reader, out any, args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), s.binary, args...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = s.env, stdin, &stderr
	raw, err := cmd.Output()
	require.NoError(s.t, err, "taskloom %v: %s%s", args, raw, &stderr)
	if out != nil {
		require.NoError(s.t, json.Unmarshal(raw, out), "taskloom %v: %s", args, raw)
	}
}

// Applied are the ids, and the values of new keys, that `taskloom apply` prints.
type Applied struct {
	Organizations []struct {
		ID       int64  `json:"id"`
		Slug     string `json:"slug"`
		Projects []struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
		} `json:"projects"`
		Pipelines []struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
		} `json:"pipelines"`
		APIKeys []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"api_keys"`
	} `json:"organizations"`

	stack *Stack
}

// Apply applies a document (docs/apply.md).
func (s *Stack) Apply(document []byte) Applied {
	s.t.Helper()
	a := Applied{stack: s}
	s.command(bytes.NewReader(document), &a, "apply", "-f", "-", "--output", "json")
	return a
}

// Pipeline returns the id of a pipeline that the document names.
func (a Applied) Pipeline(name string) int64 {
	a.stack.t.Helper()
	for _, o := range a.Organizations {
		for _, p := range o.Pipelines {
			if p.Name == name {
				return p.ID
			}
		}
	}
	require.Failf(a.stack.t, "no such pipeline", "the document has no pipeline %q", name)
	return 0
}

// Key returns the value of an API key that the document names and that was made
// just now.
func (a Applied) Key(name string) string {
	a.stack.t.Helper()
	for _, o := range a.Organizations {
		for _, k := range o.APIKeys {
			if k.Name == name && k.Value != "" {
				return k.Value
			}
		}
	}
	require.Failf(a.stack.t, "no such key", "the document has no new API key %q", name)
	return ""
}

// NewKey makes an API key that never expires.
func (s *Stack) NewKey(org, name, createdBy string) string {
	s.t.Helper()
	var out struct {
		Value string `json:"value"`
	}
	s.Taskloom(&out, "key", "create", "--org", org, "--name", name, "--created-by", createdBy, "--expires", "never", "--output", "json")
	require.NotEmpty(s.t, out.Value)
	return out.Value
}
