package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
	// invites counts those made: the last one's token is this byte.
	invites byte
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
	w.exec(`INSERT INTO audit_log (org_id, action, object, detail)
		SELECT id, 'organization.create', 'organization/' || id, '{}'::jsonb FROM organizations
		UNION ALL SELECT org_id, 'project.create', 'project/' || id, json_build_object('name', name)::jsonb FROM projects
		UNION ALL SELECT org_id, 'member.set', 'user/' || user_id, json_build_object('role', role)::jsonb FROM org_members
		UNION ALL SELECT org_id, 'project.member', 'project/' || project_id, json_build_object('user', user_id, 'role', role)::jsonb FROM project_members
		UNION ALL SELECT org_id, 'key.create', 'key/' || id, '{}' FROM api_keys
		UNION ALL SELECT org_id, 'pipeline.create', 'pipeline/' || id, '{}' FROM pipelines
		UNION ALL SELECT org_id, 'pipeline.publish', 'pipeline/' || id, json_build_object('to', status)::jsonb FROM pipelines`)

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

// worker has one be heard every second, for as long as the test lasts.
func (w *ward) worker() {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	beat := func() error { return w.Store.Beat(ctx, "w", []string{"tasks"}, true) }
	require.NoError(w.t, beat())
	var over sync.WaitGroup
	over.Go(func() {
		turn := time.NewTicker(time.Second)
		defer turn.Stop()
		for {
			select {
			case <-turn.C:
				if err := beat(); ctx.Err() == nil {
					assert.NoError(w.t, err)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	w.t.Cleanup(func() {
		stop()
		over.Wait()
	})
}

// deep runs the command as an operator does, on a database that is at rest.
func (w *ward) deep(flags ...string) outcome {
	return command(w.t, w.environ, "", append([]string{"doctor", "--deep", "--grace", "0s", "--pause", "0s"}, flags...)...)
}

var healWith = regexp.MustCompile(`→ heal with: taskloom (.+)`)

// TestTheDoctorNamesEveryBrokenPromise breaks each promise about the data on
// purpose, in each way that its check looks for: the doctor names it with its id,
// and the command that it prints, where it prints one, heals it. A second healing
// finds nothing to do.
func TestTheDoctorNamesEveryBrokenPromise(t *testing.T) {
	t.Parallel()
	sound := newWard(t).deep("--drained")
	require.NotContains(t, sound.out, "FAIL", "a sound database")

	for _, inv := range store.InvariantList() {
		t.Run(inv.Name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, inv.Says)
			require.NotEqual(t, inv.Heal == "", inv.Advice == "", "one way out, and only one")
			require.NotEmpty(t, sicknesses[inv.Name], "nobody breaks this promise on purpose")
			for _, s := range sicknesses[inv.Name] {
				t.Run(s.branch, func(t *testing.T) {
					t.Parallel()
					s.suffer(newWard(t), inv)
				})
			}
		})
	}
}

// suffer breaks the invariant, sees what the doctor says, and heals it.
func (s sickness) suffer(w *ward, inv store.Invariant) {
	w.t.Helper()
	words := s.make(w)
	got := w.deep(s.flags...)
	require.Equal(w.t, 1, got.code, got.err)
	require.NotContains(w.t, got.out, "the database failed", "one broken promise hides another")
	told := section(w.t, got.out, inv.Name)
	require.Contains(w.t, told, "FAIL  "+inv.Name+": "+inv.Says)
	require.Contains(w.t, told, words)

	switch heal := healWith.FindStringSubmatch(told); inv.Heal {
	case "":
		require.Nil(w.t, heal)
		advice, _, _ := strings.Cut(inv.Advice, store.PlaceOfIDs)
		require.Contains(w.t, told, "→ "+advice)
		require.NotContains(w.t, told, store.PlaceOfIDs, "a command that cannot be run as it is printed")
		if s.also == nil {
			return
		}
		s.also(w)
	default:
		require.NotNil(w.t, heal, told)
		w.heal(heal[1])
	}
	require.NotContains(w.t, w.deep(s.flags...).out, "FAIL  "+inv.Name)
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
