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

// askDoctor lets `taskloom doctor --deep` look at what is at rest, as an operator
// would: at the data, at Temporal and at the object store. What it finds broken, or
// cannot look at, is a violation. Its other checks are about processes and settings,
// which faults may have left as they are.
func (r *Run) askDoctor(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, stacktest.Binary(r.t, "taskloom"), "doctor", "--deep", "--drained", "--grace", "0s", "--json")
	cmd.Env = r.Env()
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	ended := cmd.Run() // not 0 where it found something, which its answer says
	var out struct {
		Promises []struct {
			Name, Promise, Says, Verdict, Advice string

			Total      int64
			Violations []string
		} `json:"promises"`
	}
	if err := json.Unmarshal(said.Bytes(), &out); err != nil || len(out.Promises) == 0 {
		return errors.Join(ended, err, fmt.Errorf("taskloom doctor told no findings: %.500s %.500s", said.String(), complained.String()))
	}
	for _, p := range out.Promises {
		if p.Verdict != "ok" {
			r.Violate("%s: the doctor says %s of %s, %q: %d places: %v; %s", p.Promise, p.Verdict, p.Name, p.Says, p.Total, p.Violations, p.Advice)
		}
	}
	r.Logf("the doctor looked at %d promises", len(out.Promises))
	return nil
}
