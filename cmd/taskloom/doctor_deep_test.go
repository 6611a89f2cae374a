package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// ward is a database with some work in it that is sound, to be made sick.
type ward struct {
	*dbtest.World
	t       *testing.T
	environ []string
	// free is a task that nobody took up, held one that the first contributor
	// holds, done one that was submitted and waits for its review, failed one
	// that was given up.
	free, held, done, failed int64
}

func newWard(t *testing.T) *ward {
	t.Helper()
	ctx := t.Context()
	url := dbtest.URL(t)
	st, err := store.Open(ctx, url, store.Options{MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	w := &ward{World: dbtest.Org(t, st), t: t, environ: []string{"DATABASE_URL=" + url}}
	// Who was made past all doors is noted as if they had come through one.
	w.exec(`INSERT INTO audit_log (org_id, action, object)
		SELECT org_id, 'member.set', 'user/' || user_id FROM org_members
		UNION ALL SELECT org_id, 'key.create', 'key/' || id FROM api_keys
		UNION ALL SELECT org_id, unnest(ARRAY['pipeline.create', 'pipeline.publish']), 'pipeline/' || id FROM pipelines`)

	p, err := st.Version(ctx, w.VersionID)
	require.NoError(t, err)
	in := store.CreateTasks{OrgID: w.OrgID, PipelineID: w.PipelineID, VersionID: w.VersionID, Actor: w.Admin}
	for range 4 {
		start, err := pipeline.Start(p.Graph, nil)
		require.NoError(t, err)
		in.Tasks = append(in.Tasks, store.NewTask{Input: form.Values{"question": json.RawMessage(`"6 times 7?"`)}, State: start})
	}
	made, err := st.CreateTasks(ctx, in)
	require.NoError(t, err)
	w.done, w.held, w.failed, w.free = made.IDs[0], made.IDs[1], made.IDs[2], made.IDs[3]
	c := w.claim(0)
	require.Equal(t, w.done, c.TaskID)
	_, err = st.Submit(ctx, w.Contributors[0], c.ID, form.Values{"answer": json.RawMessage(`"42"`)})
	require.NoError(t, err)
	require.Equal(t, w.held, w.claim(0).TaskID)
	require.NoError(t, st.FailTask(ctx, w.member(w.ProjectAdmin), w.failed, "no use"))
	w.settle()
	return w
}

func (w *ward) member(user int64) store.Member {
	w.t.Helper()
	m, err := w.Store.MemberOfPipeline(w.t.Context(), user, w.PipelineID)
	require.NoError(w.t, err)
	return m
}

func (w *ward) claim(contributor int) *store.Claim {
	w.t.Helper()
	c, err := w.Store.ClaimNext(w.t.Context(), w.member(w.Contributors[contributor]), pipeline.KindSubtask)
	require.NoError(w.t, err)
	require.NotNil(w.t, c)
	return c
}

// settle does what the dispatcher and the runs do.
func (w *ward) settle() {
	w.t.Helper()
	ctx := w.t.Context()
	w.exec(`DELETE FROM outbox o USING tasks t WHERE t.id = o.task_id`)
	for _, id := range []int64{w.free, w.held, w.done, w.failed} {
		l, err := w.Store.LoadTask(ctx, id)
		require.NoError(w.t, err)
		events, err := w.Store.LoadEvents(ctx, id, l.State.Seq, 100)
		require.NoError(w.t, err)
		in := store.StepInput{TaskID: id, From: l.State.Seq, To: l.State.Seq}
		s := l.State
		for _, e := range events {
			var changes []pipeline.Change
			s, changes = pipeline.Step(l.Graph, s, e)
			in.Changes, in.To = append(in.Changes, changes...), e.Seq
		}
		_, err = w.Store.ApplyStep(ctx, in)
		require.NoError(w.t, err)
	}
}

func (w *ward) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := w.Store.Pool().Exec(w.t.Context(), sql, args...)
	require.NoError(w.t, err, sql)
}

// upload makes a completed upload of one row, which made the task.
func (w *ward) upload(task int64) uuid.UUID {
	w.t.Helper()
	u := w.AddUpload(w.t, "org/x", 1, "etag", store.UploadRow{Fields: form.Values{}})
	w.exec(`UPDATE upload_rows SET status = 'created', task_id = $2 WHERE upload_id = $1`, u.ID, task)
	w.exec(`UPDATE uploads SET inspected_at = now(), rows_total = 1, rows_done = 1, success_count = 1, status = 'completed', finished_at = now(),
		ring_at = NULL WHERE id = $1`, u.ID)
	return u.ID
}

// deep runs the command as an operator does, on a database that is at rest.
func (w *ward) deep(flags ...string) outcome {
	return command(w.t, w.environ, "", append([]string{"doctor", "--deep", "--grace", "0s", "--pause", "0s"}, flags...)...)
}

// sickness is how an invariant is broken on purpose.
type sickness struct {
	// make breaks it and returns words that the doctor must say.
	make func(w *ward) string
	// flags are those without which the doctor does not ask.
	flags []string
	// also, when set, is what heals where no command can know what is right.
	also func(w *ward)
}

const otherClaim = `'00000000-0000-8000-8000-000000000001'`

// sicknesses break every invariant, by its name.
var sicknesses = map[string]sickness{
	"claim-in-journal": {make: func(w *ward) string {
		w.exec(`UPDATE task_nodes SET claimed_by = $2 WHERE task_id = $1 AND status = 'claimed'`, w.held, w.Contributors[1])
		return fmt.Sprintf("task %d node solve: held by user %d", w.held, w.Contributors[1])
	}},
	"claim-id-once": {make: func(w *ward) string {
		w.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends)
			SELECT task_id, seq + 1, kind, node_key, iteration, actor, claim_id, lease_ends FROM task_events WHERE task_id = $1 AND kind = 'claim'`, w.held)
		return fmt.Sprintf("task %d claim ", w.held)
	}},
	"one-submission": {make: func(w *ward) string {
		w.exec(`ALTER TABLE submissions DROP CONSTRAINT submissions_task_id_node_key_iteration_key`)
		w.exec(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq)
			SELECT `+otherClaim+`, org_id, task_id, node_key, iteration, author, seq FROM submissions WHERE task_id = $1`, w.done)
		return fmt.Sprintf("task %d node solve round 1: 2 submissions", w.done)
	}},
	"submission-by-holder": {make: func(w *ward) string {
		w.exec(`UPDATE submissions SET author = $2 WHERE task_id = $1`, w.done, w.Contributors[1])
		return fmt.Sprintf("task %d node solve round 1: submitted by user %d", w.done, w.Contributors[1])
	}},
	"submission-in-journal": {make: func(w *ward) string {
		w.exec(`DELETE FROM submissions WHERE task_id = $1`, w.done)
		return fmt.Sprintf("task %d event 3: submit under claim", w.done)
	}},
	"nothing-done-twice": {make: func(w *ward) string {
		w.exec(`UPDATE task_nodes SET status = 'available' WHERE task_id = $1 AND key = 'solve'`, w.done)
		return fmt.Sprintf("task %d node solve round 1: available, but claim", w.done)
	}},
	"claim-alone": {make: func(w *ward) string {
		w.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends)
			SELECT task_id, seq + 1, kind, node_key, iteration, $2, `+otherClaim+`, lease_ends FROM task_events WHERE task_id = $1 AND kind = 'claim'`,
			w.held, w.Contributors[1])
		return fmt.Sprintf("task %d node solve: event 3 gave it to user %d", w.held, w.Contributors[1])
	}},
	"journal-gap-free": {make: func(w *ward) string {
		w.exec(`DELETE FROM task_events WHERE task_id = $1 AND seq = 2`, w.done)
		return fmt.Sprintf("task %d: 2 events, numbered 1 to 3", w.done)
	}},
	"nothing-without-task": {
		make: func(w *ward) string {
			w.exec(`INSERT INTO outbox (topic, task_id, seq) VALUES ('task_sync', 987654, 0)`)
			return " of task 987654"
		},
		also: func(w *ward) {
			require.Contains(w.t, command(w.t, w.environ, "", "repair", "outbox", "--apply").out, "outbox row of task 987654")
		},
	},
	"events-applied": {flags: []string{"--drained"}, make: func(w *ward) string {
		w.exec(`UPDATE tasks SET applied_seq = 1 WHERE id = $1`, w.done)
		return fmt.Sprintf("task %d: 1 of 3 events", w.done)
	}},
	"node-summary": {make: func(w *ward) string {
		w.exec(`UPDATE tasks SET n_finished = 1, n_in_progress = 0, n_pending = 1 WHERE id = $1`, w.held)
		return fmt.Sprintf("task %d: total 2, finished 1, in progress 0", w.held)
	}},
	"ended-is-done": {make: func(w *ward) string {
		w.exec(`UPDATE tasks SET status = 'finished' WHERE id = $1`, w.free)
		return fmt.Sprintf("task %d: finished, but node solve is available", w.free)
	}},
	"failed-stays-failed": {make: func(w *ward) string {
		w.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends)
			VALUES ($1, 3, 'claim', 'solve', 1, $2, `+otherClaim+`, now())`, w.failed, w.Contributors[0])
		return fmt.Sprintf("task %d event 3: claim after it was failed by event 2", w.failed)
	}},
	"kept-counts": {make: func(w *ward) string {
		w.exec(`INSERT INTO count_changes VALUES ($1, $2, 'finished', 5)`, w.PipelineID, w.VersionID)
		return fmt.Sprintf("pipeline %d version %d: of finished there are -5 more than kept", w.PipelineID, w.VersionID)
	}},
	"rows-follow-journal": {make: func(w *ward) string {
		w.exec(`UPDATE task_nodes SET status = 'quarantined' WHERE task_id = $1 AND key = 'solve'`, w.free)
		return fmt.Sprintf("task %d node solve: the row says quarantined round 1, the journal available round 1", w.free)
	}},
	"row-made-task": {make: func(w *ward) string {
		id := w.upload(w.done)
		w.exec(`UPDATE upload_rows SET task_id = 987654`)
		return fmt.Sprintf("upload %s row 0: task 987654 is not there", id)
	}},
	"task-of-one-row": {make: func(w *ward) string {
		w.upload(w.done)
		w.upload(w.done)
		return fmt.Sprintf("task %d: made by upload", w.done)
	}},
	"upload-counts": {make: func(w *ward) string {
		id := w.upload(w.done)
		w.exec(`UPDATE uploads SET success_count = 0, error_count = 1`)
		return fmt.Sprintf("upload %s (completed): 0 created, 1 failed of 1", id)
	}},
	"key-made-tasks": {make: func(w *ward) string {
		w.exec(`INSERT INTO idempotency_keys (api_key_id, route, key, body_hash, status, answer)
			SELECT $1, 'POST /x', k, '', 201, json_build_object('task_ids', ARRAY[$2::bigint]) FROM unnest(ARRAY['batch-1', 'batch-2']) AS k`, w.KeyID, w.done)
		return fmt.Sprintf("task %d: answered under the Idempotency-Keys batch-", w.done)
	}},
	"outbox-has-event": {make: func(w *ward) string {
		w.exec(`INSERT INTO outbox (topic, task_id, seq) VALUES ('task_event', $1, 9)`, w.done)
		return fmt.Sprintf("task %d: the outbox tells event 9", w.done)
	}},
	"outbox-prompt": {flags: []string{"--grace", "60s"}, make: func(w *ward) string {
		w.exec(`INSERT INTO worker_heartbeats (worker_id, queues, temporal_ok) VALUES ('w', '{tasks}', true)`)
		w.exec(`INSERT INTO outbox (topic, task_id, seq, created_at, next_attempt_at)
			VALUES ('task_event', $1, 3, now() - interval '2 minutes', now() - interval '2 minutes')`, w.done)
		return fmt.Sprintf("task %d event 3: waits since", w.done)
	}},
	"events-on-the-way": {make: func(w *ward) string {
		w.exec(`UPDATE tasks SET applied_seq = 2 WHERE id = $1`, w.done)
		return fmt.Sprintf("task %d: 2 of 3 events are applied, nothing more is on its way", w.done)
	}},
	"outbox-empty": {flags: []string{"--drained"}, make: func(w *ward) string {
		w.exec(`INSERT INTO outbox (topic, task_id, seq) VALUES ('task_sync', $1, 0)`, w.done)
		return fmt.Sprintf("task %d event 0", w.done)
	}},
	"tenant-of-task": {make: func(w *ward) string {
		other := w.other()
		w.exec(`UPDATE tasks SET org_id = $2 WHERE id = $1`, w.free, other)
		return fmt.Sprintf("task %d: organization %d, pipeline %d", w.free, other, w.PipelineID)
	}},
	"tenant-of-parts": {make: func(w *ward) string {
		other := w.other()
		w.exec(`UPDATE submissions SET org_id = $2 WHERE task_id = $1`, w.done, other)
		return fmt.Sprintf("task %d of organization %d: submission under claim", w.done, w.OrgID)
	}},
	"tenant-of-worker": {make: func(w *ward) string {
		w.exec(`INSERT INTO drafts (task_id, node_key, user_id, org_id, values, revision) VALUES ($1, 'solve', 987654, $2, '{}', 1)`, w.free, w.OrgID)
		return fmt.Sprintf("task %d of organization %d: a draft was written by user 987654", w.free, w.OrgID)
	}},
	"tenant-of-file": {make: func(w *ward) string {
		other := w.other()
		id := uuid.New()
		w.exec(`INSERT INTO files (id, org_id, object_key, name, size, sha256, content_type) VALUES ($1, $2, $3, 'a', 1, '', '')`,
			id, w.OrgID, fmt.Sprintf("org/%d/files/x", other))
		return fmt.Sprintf("file %s of organization %d: key org/%d/files/x", id, w.OrgID, other)
	}},
	"keys-audited": {make: func(w *ward) string {
		w.exec(`DELETE FROM audit_log WHERE action = 'key.create'`)
		return fmt.Sprintf("API key %d (test) of organization %d: no row says who created it", w.KeyID, w.OrgID)
	}},
	"members-audited": {make: func(w *ward) string {
		w.RemoveUser(w.t, w.Outsider)
		return fmt.Sprintf("user %d in organization %d: no row says who removed them", w.Outsider, w.OrgID)
	}},
	"publishes-audited": {make: func(w *ward) string {
		w.exec(`INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition) SELECT org_id, pipeline_id, 2, definition FROM pipeline_versions`)
		return fmt.Sprintf("pipeline %d (Math check) of organization %d: 2 versions, 1 rows of publishing", w.PipelineID, w.OrgID)
	}},
	"acts-audited": {make: func(w *ward) string {
		w.exec(`UPDATE tasks SET priority = 7 WHERE id = $1`, w.free)
		return fmt.Sprintf("task %d: priority 7, but no row says who set it", w.free)
	}},
}

// other makes a second organization and returns its id.
func (w *ward) other() int64 {
	w.t.Helper()
	o := dbtest.Org(w.t, w.Store, dbtest.WithSlug("other"))
	return o.OrgID
}

var healWith = regexp.MustCompile(`→ heal with: taskloom (.+)`)

// TestTheDoctorNamesEveryBrokenPromise breaks each promise about the data on
// purpose: the doctor names it with its id, and the command that it prints,
// where it prints one, heals it. A second healing finds nothing to do.
func TestTheDoctorNamesEveryBrokenPromise(t *testing.T) {
	t.Parallel()
	sound := newWard(t).deep("--drained")
	require.NotContains(t, sound.out, "FAIL", "a sound database")

	for _, inv := range store.InvariantList() {
		t.Run(inv.Name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, inv.Says)
			require.NotEqual(t, inv.Heal == "", inv.Advice == "", "one way out, and only one")
			s, ok := sicknesses[inv.Name]
			require.True(t, ok, "nobody breaks this promise on purpose")
			w := newWard(t)
			words := s.make(w)
			got := w.deep(s.flags...)
			require.Equal(t, 1, got.code, got.err)
			told := section(t, got.out, inv.Name)
			require.Contains(t, told, "FAIL  "+inv.Name+": "+inv.Says)
			require.Contains(t, told, words)

			switch heal := healWith.FindStringSubmatch(told); inv.Heal {
			case "":
				require.Nil(t, heal)
				require.Contains(t, told, "→ "+inv.Advice)
				if s.also == nil {
					return
				}
				s.also(w)
			default:
				require.NotNil(t, heal, told)
				w.heal(heal[1])
			}
			require.NotContains(t, w.deep(s.flags...).out, "FAIL  "+inv.Name)
		})
	}
}

// heal runs a command that the doctor printed: first as a trial, which changes
// nothing, then for good, then once more.
func (w *ward) heal(line string) {
	w.t.Helper()
	args := strings.Fields(line)
	trial := command(w.t, w.environ, "", args[:len(args)-1]...)
	require.Zero(w.t, trial.code, trial.err)
	require.Contains(w.t, trial.out, "nothing was changed: this was a trial")
	done := command(w.t, w.environ, "", args...)
	require.Zero(w.t, done.code, done.err)
	require.NotContains(w.t, done.out, "trial")
	require.Contains(w.t, trial.out, done.out, "the trial said what was done")
	again := command(w.t, w.environ, "", args...)
	require.Zero(w.t, again.code, again.err)
	require.Regexp(w.t, `nothing to mend|will be told already`, again.out)
	// What the run would do now.
	w.settle()
}

// section cuts what the doctor says about one promise out of what it prints.
func section(t *testing.T, out, name string) string {
	t.Helper()
	at := strings.Index(out, "  "+name+": ")
	require.GreaterOrEqual(t, at, 0, out)
	begin := strings.LastIndex(out[:at], "\n") + 1
	end := regexp.MustCompile(`(?m)^(ok|FAIL|skip) `).FindStringIndex(out[at:])
	if end == nil {
		return out[begin:]
	}
	return out[begin : at+end[0]]
}

func TestDeepForScripts(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.exec(`UPDATE tasks SET n_finished = 1, n_in_progress = 0, n_pending = 1 WHERE id = $1`, w.held)
	got := w.deep("--json")
	require.Equal(t, 1, got.code)
	var doc struct {
		Checks   []toldCheck   `json:"checks"`
		Promises []deepFinding `json:"promises"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc), got.out)
	require.NotEmpty(t, doc.Checks)
	for _, f := range doc.Promises {
		if f.Name == "node-summary" {
			require.EqualValues(t, 1, f.Total)
			require.Equal(t, fmt.Sprintf("taskloom repair task --task %d --apply", w.held), f.Heal)
			continue
		}
		require.NotEqual(t, failure, f.Verdict, f)
	}
}
