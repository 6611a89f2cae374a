package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/alerttest"
)

// refusalsAreTold checks where an operator sees that Temporal refuses rows: the alert,
// the worker's log, the doctor, and for people the page of the task.
func (r *Run) refusalsAreTold(ctx context.Context, o *Organization, before alerttest.Scrape, tasks []int64) {
	r.t.Helper()
	after := r.scrape()
	alerttest.Fires(r.t, "DeliveriesRefused", before, after)
	counted := after.Sum("taskloom_deliveries_total", `result="refused"`) - before.Sum("taskloom_deliveries_total", `result="refused"`)
	if least := float64(refusedRows - hurriedRows + hurriedRows*refusedTimes); counted < least {
		r.Violate("the workers tell of %g refused deliveries, and there were %g at least", counted, least)
	}
	r.Logf("the alert DeliveriesRefused fires, with %g refused deliveries", counted)

	logs := r.Workers[0].Log() + r.Workers[1].Log()
	for _, id := range tasks {
		if line := fmt.Sprintf(`"task":%d,"event":1,"attempt":%d,`, id, refusedTimes); !strings.Contains(logs, line) {
			r.Violate("no worker's log has %s", line)
		}
	}

	findings, promises, err := r.doctor(ctx, "--deep", "--grace", "1s")
	require.NoError(r.t, err)
	for _, f := range findings {
		if f.Name == "outbox" && !strings.Contains(f.Text, "does not like") {
			r.Violate("the doctor says %s of the outbox, without Temporal's reason: %s", f.Verdict, f.Text)
		}
	}
	for _, p := range promises {
		if p.Name != "outbox-prompt" {
			continue
		}
		r.Logf("the doctor says %s of %s: %d places: %.300s", p.Verdict, p.Name, p.Total, p.Violations)
		if p.Total < hurriedRows {
			r.Violate("the doctor tells of %d tasks whose rows Temporal refuses, of %d at least: %v", p.Total, hurriedRows, p.Violations)
		}
		for _, told := range p.Violations {
			if !strings.Contains(told, "does not like") {
				r.Violate("the doctor tells of a row that Temporal refuses, without the reason: %s", told)
			}
		}
	}

	admin := r.client(o, "admin@"+o.Mark+".test", "", 98)
	require.NoError(r.t, admin.login(ctx))
	var page struct {
		Waiting []struct{ Code, Message string }
	}
	_, err = admin.do(ctx, request{Op: Op{Kind: opRead}, method: http.MethodGet, path: fmt.Sprintf("/api/console/tasks/%d", tasks[0]), out: &page})
	require.NoError(r.t, err)
	raw, _ := json.Marshal(page.Waiting) // strings only
	if !strings.Contains(string(raw), "attempts failed so far") {
		r.Violate("the page of task %d does not say that its start is refused: %s", tasks[0], raw)
	}
	r.Logf("the page of a task says %.200s", raw)
}

// ringsAreTold waits until the steps that are refused were rung, and checks that the
// alert fires.
func (r *Run) ringsAreTold(ctx context.Context, before alerttest.Scrape) {
	r.t.Helper()
	var after alerttest.Scrape
	r.eventually(ctx, 2*time.Minute, "the tasks of the refused steps were rung", func(context.Context) (bool, error) {
		after = r.scrape()
		return after.Sum("taskloom_tasks_rung_total", "")-before.Sum("taskloom_tasks_rung_total", "") >= refusedSteps, nil
	})
	alerttest.Fires(r.t, "TasksAreRung", before, after)
	r.Logf("the alert TasksAreRung fires")
}
