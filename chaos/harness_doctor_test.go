package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// checked is a check of the doctor's, promised a promise that it looked at.
type (
	checked  struct{ Name, Verdict, Text string }
	promised struct {
		Name, Promise, Says, Verdict, Advice string

		Total      int64
		Violations []string
	}
)

// doctor lets `taskloom doctor` look, as an operator would.
func (r *Run) doctor(ctx context.Context, flags ...string) ([]checked, []promised, error) {
	cmd := exec.CommandContext(ctx, stacktest.Binary(r.t, "taskloom"), append([]string{"doctor", "--json"}, flags...)...)
	cmd.Env = r.Env()
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	ended := cmd.Run() // not 0 where it found something, which its answer says
	var out struct {
		Checks   []checked
		Promises []promised
	}
	if err := json.Unmarshal(said.Bytes(), &out); err != nil || len(out.Promises) == 0 {
		return nil, nil, errors.Join(ended, err, fmt.Errorf("taskloom doctor told no findings: %.500s %.500s", said.String(), complained.String()))
	}
	return out.Checks, out.Promises, nil
}

// askDoctor lets `taskloom doctor --deep` look at what is at rest: at the data, at
// Temporal and at the object store. What it finds broken, or cannot look at, is a
// violation. Its other checks are about processes and settings, which faults may have
// left as they are.
func (r *Run) askDoctor(ctx context.Context) error {
	flags := []string{"--deep", "--drained", "--grace", "0s"}
	if r.swept { // what is left now is left for good
		flags = append(flags, "--orphan-age", "0s")
	}
	_, promises, err := r.doctor(ctx, flags...)
	if err != nil {
		return err
	}
	for _, p := range promises {
		if p.Verdict != "ok" {
			r.Violate("%s: the doctor says %s of %s, %q: %d places: %v; %s", p.Promise, p.Verdict, p.Name, p.Says, p.Total, p.Violations, p.Advice)
		}
	}
	r.Logf("the doctor looked at %d promises", len(promises))
	return nil
}
