package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
	"github.com/taskloom/taskloom/internal/store"
)

const (
	// finishWithin bounds the working through of what is left in the queues, with
	// a second more for each finishEach tasks: that is slow work for two cores.
	finishWithin = 4 * time.Minute
	finishEach   = 3
	// drainWithin bounds the coming to rest after the last person went home: a
	// lost signal is rung after a minute, a lease of the run's end runs out.
	drainWithin = 2 * time.Minute
	// checkWithin bounds the comparison of what is there with what clients saw, with
	// a second more for each checkEach tasks and files: those of two hours are read
	// one by one, and then once more by the doctor.
	checkWithin = 5 * time.Minute
	checkEach   = 50
)

// Finish ends the load and checks everything: what clients saw is compared with
// what is there.
func (r *Run) Finish(ctx context.Context) {
	r.t.Helper()
	r.rest(ctx)
	r.check(ctx)
}

// rest ends the load: nothing breaks any more, what is left is worked through,
// everybody goes home, and all comes to rest. Nothing waits for long meanwhile.
func (r *Run) rest(ctx context.Context) {
	r.t.Helper()
	r.Load.CutShare = 0
	r.calm.Store(true)
	r.cutShare(0)
	for _, p := range r.proxies() {
		p.CutNext(pgproxy.None, 0)
	}
	require.NoError(r.t, r.SQL(ctx, `UPDATE chaos_switches SET twice = false`))
	r.Recover(ctx, "the last fault", true, recoverWithin)
	end := r.staysPrompt(ctx, r.Store())
	defer end()
	close(r.refill)
	r.finish(ctx)
	r.goHome()
	r.drain(ctx)
}

// goHome ends the load, whatever is left of it.
func (r *Run) goHome() {
	r.t.Helper()
	close(r.home)
	r.stopped = true
	require.NoError(r.t, r.load.Wait())
	r.Logf("everybody went home")
}

// finish waits until people have worked through all tasks of the load. Whether they
// came to a right end is checkEnds' to say.
func (r *Run) finish(ctx context.Context) {
	r.t.Helper()
	const openSQL = `SELECT count(*) FROM tasks WHERE org_id = ANY($1) AND status NOT IN ('finished', 'failed', 'escalated')`
	open, err := r.Count(ctx, openSQL, ids(r.World.Orgs))
	require.NoError(r.t, err)
	within := finishWithin + time.Duration(open/finishEach)*time.Second
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err = r.until(ctx, func(ctx context.Context) (bool, error) {
		var err error
		open, err = r.Count(ctx, openSQL, ids(r.World.Orgs))
		return err == nil && open == 0, err
	})
	if err != nil {
		r.Violate("liveness: %d tasks are not finished %s after the last fault was healed, with everybody at work (%v)", open, within, r.waiting(err, time.Now()))
	}
}

// drain waits until nothing moves any more.
func (r *Run) drain(ctx context.Context) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, drainWithin)
	defer cancel()
	for what, sql := range map[string]string{
		"rows in the outbox":               `SELECT count(*) FROM outbox`,
		"tasks without their consequences": `SELECT count(*) FROM tasks WHERE applied_seq < seq`,
		"claims that nobody works on":      `SELECT count(*) FROM task_nodes WHERE status = 'claimed'`,
	} {
		n := 0
		err := r.until(ctx, func(ctx context.Context) (bool, error) {
			var err error
			n, err = r.Count(ctx, sql)
			return err == nil && n == 0, err
		})
		if err != nil {
			r.Violate("I6: %d %s, %s after everybody went home (%v)", n, what, drainWithin, r.waiting(err, time.Now()))
		}
	}
	// Taking back the last claims writes to the outbox once more.
	err := r.until(ctx, func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM tasks WHERE applied_seq < seq)`)
		return err == nil && n == 0, err
	})
	if err != nil {
		r.Violate("I6: not at rest %s after everybody went home: %v", drainWithin, r.waiting(err, time.Now()))
	}
}

// check compares what clients saw with what is there.
func (r *Run) check(ctx context.Context) {
	r.t.Helper()
	n, err := r.Count(ctx, `SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM files)`)
	require.NoError(r.t, err)
	ctx, cancel := context.WithTimeout(ctx, checkWithin+time.Duration(n/checkEach)*time.Second)
	defer cancel()
	for _, c := range []struct {
		what string
		do   func(ctx context.Context) error
	}{
		{"the promises about the data", r.checkInvariants},
		{"creates", r.checkCreates},
		{"what was finished", r.checkFinished},
		{"how tasks ended", r.checkEnds},
		{"what admins resolved", r.checkResolved},
		{"versions of pipelines", r.checkVersions},
		{"submissions", r.checkSubmissions},
		{"drafts", r.checkDrafts},
		{"claims", r.checkClaims},
		{"what people gave back", r.checkGivenBack},
		{"acts of admins", r.checkAudit},
		{"what admins made", r.checkMade},
		{"uploads", r.checkUploads},
		{"files", r.checkFiles},
		{"runs in Temporal", r.checkRuns},
		{"the doctor", r.askDoctor},
	} {
		require.NoError(r.t, r.watched(ctx, c.what, c.do), "check %s", c.what)
	}
}

// checkUploads is for runs whose load has archives.
func (r *Run) checkUploads(ctx context.Context) error {
	if r.uploader == nil {
		return nil
	}
	return r.uploader.check(ctx)
}

// checkFinished compares what integrators were told is finished with what is.
func (r *Run) checkFinished(ctx context.Context) error {
	r.mu.Lock()
	told := slices.Sorted(maps.Keys(r.finished))
	r.mu.Unlock()
	rows, _ := r.Store().Pool().Query(ctx, `SELECT told.id, coalesce(t.status, 'not there') FROM unnest($1::bigint[]) AS told(id)
		LEFT JOIN tasks t USING (id) WHERE t.status IS DISTINCT FROM 'finished'`, told)
	var id int64
	var status string
	_, err := pgx.ForEachRow(rows, []any{&id, &status}, func() error {
		r.Violate("I1: task %d is %s, an integrator was told that it was finished", id, status)
		return nil
	})
	r.Logf("%d tasks that integrators saw finished were compared", len(told))
	return err
}

// checkInvariants are those that the data alone shows: I2 to I6, I8, I11 and I12. It
// asks as `taskloom doctor --deep` does.
func (r *Run) checkInvariants(ctx context.Context) error {
	findings, err := r.Store().Check(ctx, store.CheckOptions{Drained: true, Grace: store.NoGrace, NoJournal: true})
	if err != nil {
		return err
	}
	for _, f := range findings {
		for _, v := range f.Violations {
			r.Violate("%s: %s", v.Invariant, v.Where)
		}
	}
	for after, more := int64(0), true; more; more = after != 0 {
		v, last, err := r.Store().CheckJournal(ctx, after, 1000)
		if err != nil {
			return err
		}
		for _, v := range v {
			r.Violate("%s: %s", v.Invariant, v.Where)
		}
		after = last
	}
	return nil
}

// ids are those of organizations.
func ids(of []*Organization) []int64 {
	out := make([]int64, len(of))
	for i, o := range of {
		out[i] = o.ID
	}
	return out
}

// checkSubmissions is I1: what was acknowledged is there with its content, what
// was refused left nothing, and there is nothing that nobody sent.
func (r *Run) checkSubmissions(ctx context.Context) error {
	type row struct {
		Claim     string
		Task      int64
		Node      string
		Iteration int
		Verdict   string
		Values    map[string]any
	}
	rows, _ := r.Store().Pool().Query(ctx, `SELECT claim_id::text, task_id, node_key, iteration, verdict, values FROM submissions`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return err
	}
	there := map[string]row{}
	for _, s := range list {
		there[s.Claim] = s
	}
	sent, acked, refused := map[string]bool{}, map[string]bool{}, map[string]bool{}
	tried := map[int64]bool{} // what may have been done, by intent
	for _, op := range r.History.Ops() {
		if op.Kind != opSubmit && op.Kind != opReview {
			continue
		}
		sent[op.Claim] = true
		var body struct {
			Values  map[string]any `json:"values"`
			Verdict string         `json:"verdict"`
		}
		if err := json.Unmarshal(op.Content, &body); err != nil {
			return err
		}
		s, ok := there[op.Claim]
		switch op.Outcome {
		case OK:
			acked[op.Claim] = true
			switch {
			case !ok:
				r.Violate("I1: the submission under claim %s, acknowledged to %s, is not there", op.Claim, op.Who)
			case s.Task != op.Task, s.Node != op.Node, s.Iteration != op.Iteration, s.Verdict != body.Verdict, !sameValues(s.Values, body.Values):
				r.Violate("I1: %s handed in %s under claim %s, there is %+v", op.Who, op.Content, op.Claim, s)
			}
		case Refused:
			if !tried[op.Intent] || !op.forTheRole() {
				refused[op.Claim] = true
			}
		case Unknown:
			tried[op.Intent] = true
		}
	}
	for claim := range refused {
		if _, ok := there[claim]; ok && !acked[claim] {
			r.Violate("I1: the submission under claim %s was refused and is there", claim)
		}
	}
	for claim := range there {
		if !sent[claim] {
			r.Violate("I1: there is a submission under claim %s that nobody sent", claim)
		}
	}
	return nil
}

func sameValues(a, b map[string]any) bool {
	return len(a) == len(b) && maps.EqualFunc(a, b, func(x, y any) bool { return fmt.Sprint(x) == fmt.Sprint(y) })
}
