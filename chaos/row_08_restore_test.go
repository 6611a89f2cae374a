package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/cluster"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

// TestRow08RestoredDatabaseOlderThanTemporal puts a base backup of the
// product's database back while Temporal, on a cluster of its own, keeps what
// came after: runs that are ahead of their tasks, runs that have ended for
// tasks that have not, and runs of tasks that are not there any more and whose
// numbers are given out anew, in another pipeline. Then the load begins, and beside it
// everything that is in the restored database goes on to its end within the deadline.
// Nothing that is accepted afterwards is swallowed as something already known. What
// clients saw is compared with what is there, but for what the backup did not have.
func TestRow08RestoredDatabaseOlderThanTemporal(t *testing.T) {
	var db *cluster.Cluster
	r := startRow(t, Row{Number: 8, Name: "database restored from a backup older than Temporal", Settings: func(s *Settings) {
		db = cluster.Start(t, cluster.Options{})
		s.Env = append(s.Env, "DATABASE_URL="+db.URL())
	}})
	ctx := t.Context()
	const each = 5
	chain := r.newChain(ctx)
	batchOf := func(p *prober, name string, n int) []int64 {
		questions := make([]string, n)
		for i := range questions {
			questions[i] = fmt.Sprintf("%s %s %d", r.World.Probe.Mark, name, i)
		}
		ids, err := p.persist(ctx, name, questions)
		require.NoError(t, err)
		return ids
	}
	batch := func(name string, n int) []int64 { return batchOf(r.probes, name, n) }
	handInOf := func(p *prober, ids []int64, nodes ...string) {
		for _, id := range ids {
			for _, node := range nodes {
				who := p.contributor
				if node == nodeCheck {
					who = p.reviewer
				}
				ctx, cancel := context.WithTimeout(ctx, recoverWithin)
				if err := p.work(ctx, who, id, node); err != nil {
					r.Violate("liveness: node %s of task %d was not handed in within %s: %v", node, id, recoverWithin, err)
				}
				cancel()
			}
		}
	}
	handIn := func(ids []int64, nodes ...string) { handInOf(r.probes, ids, nodes...) }

	untouched, ahead, over := batch("untouched", each), batch("ahead", each), batch("ended", each)
	before := batch("before", each)
	reviewed := batch("reviewed", each)
	handIn(before, nodeSolve, nodeTag, nodeCheck)
	handIn(reviewed, nodeSolve)
	r.drain(ctx)
	backup, taken := db.Backup(), time.Now()
	r.Logf("backup taken")

	// All of this is lost to the database, and Temporal has it.
	handIn(ahead, nodeSolve)
	handIn(over, nodeSolve, nodeTag, nodeCheck)
	handIn(reviewed[:2], nodeTag, nodeCheck)
	// A sequence jumps by up to 32 after a restore: more than that, so that
	// their numbers come again.
	lost := batch("lost", 60)
	handIn(lost[:3], nodeSolve)
	handIn(lost[30:45], nodeSolve)
	handIn(lost[33:36], nodeTag, nodeCheck)
	r.drain(ctx)
	db.Restore(backup)
	restored := time.Now()
	r.History.forget(taken, restored)
	r.World.Probe.lose(lost...)
	r.Logf("backup put back")

	r.eventually(ctx, recoverWithin, "the restored database is served", func(ctx context.Context) (bool, error) {
		_, err := r.probes.integrator.task(ctx, untouched[0])
		return err == nil, err
	})
	again := batchOf(chain, "again", 40)
	reused := 0
	for _, id := range again {
		if id >= lost[0] && id <= lost[len(lost)-1] {
			reused++
		}
	}
	require.Positive(t, reused, "no number came again; the row proves less than it says")
	r.Logf("%d numbers of lost tasks were given out anew", reused)
	// The load would take all others, and no run would be left of a task that is gone.
	require.NoError(t, r.SQL(ctx, `SELECT setval(pg_get_serial_sequence('tasks', 'id'), $1)`, max(slices.Max(lost), slices.Max(again))))
	r.Work()
	require.NoError(t, r.Floor(ctx))
	r.Logf("%d calls of the load were acknowledged in %s", r.History.AckedWithin(floorWindow, time.Now()), floorWindow)
	// The other node first, which no run has seen: what a run knows of is not
	// the only thing that goes on.
	handIn(untouched, nodeTag, nodeSolve, nodeCheck)
	handIn(ahead, nodeTag, nodeSolve, nodeCheck)
	handIn(over, nodeSolve, nodeTag, nodeCheck)
	handIn(reviewed, nodeCheck, nodeTag)
	handInOf(chain, again, nodeTag, nodeSolve, nodeCheck, nodeMore)

	probe := r.World.Probe.ID
	r.eventually(ctx, recoverWithin, "all tasks of the restored database are finished", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT count(*) FROM tasks WHERE org_id = $1 AND status <> 'finished'`, probe)
		return err == nil && n == 0, err
	})
	require.Equal(t, 5*each+len(again), r.number(ctx, `SELECT count(*) FROM tasks WHERE org_id = $1`, probe))
	require.NoError(t, r.pause(ctx, holdFor(20*time.Second)))
	acked := 0
	for _, op := range r.History.Ops() {
		if op.Call >= restored.UnixNano() && op.Outcome == OK && (op.Kind == opSubmit || op.Kind == opReview) {
			acked++
		}
	}
	r.Logf("%d submissions and verdicts acknowledged after the restore", acked)
	r.rest(ctx)
	ended, err := r.endMissing(ctx, lost)
	require.NoError(t, err)
	require.Positive(t, ended, "no task that is gone had a run; the row proves less than it says")
	r.check(ctx)
	r.verdict("row-08")
}

// newChain makes a second pipeline for the probes, with the same nodes one after the
// other, and those who work in it.
func (r *Run) newChain(ctx context.Context) *prober {
	r.t.Helper()
	const name = "qchain"
	mark, definition := r.World.Probe.Mark, r.World.Probe.definition(0)
	nodes := []string{"start", nodeTag, nodeSolve, nodeCheck, nodeMore, "end"}
	var edges []object
	for i, node := range nodes[1:] {
		edges = append(edges, object{"from": nodes[i], "to": node})
	}
	definition["name"], definition["edges"] = name, edges
	doc, err := json.Marshal(object{"organizations": []object{{"slug": mark, "name": mark, "projects": []object{
		{"name": mark, "pipelines": []object{{"status": "ACTIVE", "definition": definition}}},
	}}}})
	require.NoError(r.t, err)
	a, o := r.Apply(doc), newOrganization(mark, 1, 1)
	o.ID, o.Pipeline = a.Organizations[0].ID, a.Pipeline(name)
	p := &prober{
		run: r, integrator: r.client(o, "integrator@"+mark+".test", r.World.Probe.Key, 11),
		contributor: r.client(o, o.Contributors[0], "", 12), reviewer: r.client(o, o.Reviewers[0], "", 13),
	}
	p.login(ctx)
	return p
}

// endMissing ends the runs of tasks that a restore took away, as the doctor says
// and docs/operations.md has it. There may be none but of those.
func (r *Run) endMissing(ctx context.Context, lost []int64) (ended int, err error) {
	open, err := r.openRuns(ctx)
	if err != nil {
		return 0, err
	}
	needless, err := r.Store().NeedlessRuns(ctx, 0, open, store.NoGrace)
	if err != nil {
		return 0, err
	}
	for _, id := range needless.Missing {
		if !slices.Contains(lost, id) {
			r.Violate("I7: there is a run of task %d, which never was there", id)
		}
		if err := r.Temporal().TerminateWorkflow(ctx, workflows.TaskID(id), "", "no such task"); err != nil {
			return 0, fmt.Errorf("end the run of task %d: %w", id, err)
		}
	}
	r.Logf("%d runs of tasks that are not there any more were ended", len(needless.Missing))
	return len(needless.Missing), nil
}
