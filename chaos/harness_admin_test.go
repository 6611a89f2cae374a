package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// What admins do.
const (
	opPriority = "priority"
	opNewKey   = "new key"
	opExpiry   = "key expiry"
	opRevoke   = "revoke key"
	opForeign  = "foreign task"
	opHold     = "hold"
	opUnhold   = "unhold"
	opFail     = "fail"      // ends a task for good
	opPutBack  = "put back"  // ends whatever claim is on a node, or on a task
	opSetAside = "set aside" // escalates a review
	opResolve  = "resolve"   // ends an escalation
	opLook     = "look up"   // before one of these acts
	opSave     = "save"      // the draft of the pipeline
	opPublish  = "publish"
	opAdmit    = "admit"   // gives somebody a role in the project
	opDismiss  = "dismiss" // ends it
	opPause    = "pause"   // the pipeline
	opResume   = "resume"
)

// admin does what takes privileges, each of which must leave a row in the audit
// log (I12, see checkAudit), and with each new key looks for a task of another
// organization, which must not be there for it (I11).
type admin struct {
	*client

	others []*Organization
	keys   int
	// held are tasks that the admin has held and that may not be over.
	held []int64
	// refill is closed when all that is there is to come to its end.
	refill <-chan struct{}
	// turn is that of the pipeline's draft.
	turn int
	// visitors are those whom the admin gives a role, one after the other, project and
	// users the ids that it takes.
	visitors []*person
	visits   int
	// pauses says that the admin has paused the pipeline: a call that was given up may
	// pause it once more.
	pauses  bool
	project int64
	users   map[string]int64
	// own is the project that the admin has made, made how often they did something there.
	own  int64
	made int
}

// live works until home is closed.
func (a *admin) live(ctx context.Context, home <-chan struct{}) error {
	err := a.login(ctx)
	for err == nil && !closed(home) {
		if err = a.round(ctx); err == nil {
			err = wait(ctx, 500*time.Millisecond+time.Duration(a.rand.Int64N(int64(time.Second))))
		}
		if errors.Is(err, errRefused) {
			err = nil // it is a violation already
		}
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // being stopped is how a run ends
	}
	return err
}

func (a *admin) round(ctx context.Context) error {
	if a.pauses {
		if err := a.steer(ctx, opResume); err != nil {
			return err
		}
	}
	if err := a.prioritize(ctx); err != nil {
		return err
	}
	load := a.run.Load
	for _, act := range []struct {
		chance int
		do     func(context.Context) error
	}{
		{load.Hold, a.hold},
		{load.Fail, a.fail},
		{load.PutBack, a.putBack},
		{load.SetAside, a.setAside},
		{load.Resolve, a.resolve},
		{load.Publish, a.publish},
		{load.Visit, a.visit},
		{load.Pause, a.pause},
		{load.Own, a.toTheirOwn},
		{30, a.key},
	} {
		if !a.chance(act.chance) {
			continue
		}
		if err := act.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prioritize sets the priority of one task, or of a few at once.
func (a *admin) prioritize(ctx context.Context) error {
	var tasks []int64
	for range 1 + a.rand.IntN(3) {
		id, ok := a.org.some(a.rand)
		if a.chance(25) { // most of all tasks are over, and of those nothing is set
			id, ok = a.org.newest(a.rand, a.run.Load.Backlog)
		}
		if ok && !slices.Contains(tasks, id) {
			tasks = append(tasks, id)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	var out struct {
		Done []int64 `json:"done"` // without those that are over
		Left []int64 `json:"left"`
	}
	_, err := a.do(ctx, request{
		Op: Op{Kind: opPriority}, method: http.MethodPost, path: a.pipeline("/tasks/bulk"),
		in: object{"action": "set_priority", "priority": a.rand.IntN(201) - 100, "task_ids": tasks}, out: &out,
		note: func(op *Op) { op.Tasks, op.Left = out.Done, out.Left },
	})
	return err
}

// key makes an API key, looks around with it, changes when it ends, and revokes it.
func (a *admin) key(ctx context.Context) error {
	a.keys++
	name := fmt.Sprintf("%s key %d", a.org.Mark, a.keys)
	path := fmt.Sprintf("/api/console/orgs/%d/keys", a.org.ID)
	var made struct {
		ID    int64  `json:"id"`
		Value string `json:"value"`
	}
	_, err := a.do(ctx, request{
		Op: Op{Kind: opNewKey}, method: http.MethodPost, path: path, in: object{"name": name, "expires": "30d"}, out: &made,
		refusals: []int{http.StatusConflict}, // an earlier try made one of this name
	})
	switch {
	case errors.Is(err, errRefused): // its value is lost
		if made.ID, err = a.idOf(ctx, path, "keys", name); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if err := a.look(ctx, made.Value); err != nil {
			return err
		}
	}
	_, err = a.do(ctx, request{
		Op: Op{Kind: opExpiry}, method: http.MethodPost, path: fmt.Sprintf("%s/%d/expiry", path, made.ID), in: object{"expires": "90d"},
	})
	if err != nil {
		return err
	}
	_, err = a.do(ctx, request{Op: Op{Kind: opRevoke}, method: http.MethodPost, path: fmt.Sprintf("%s/%d/revoke", path, made.ID)})
	return err
}

// look asks with a key of the own organization for a task of another one, by its
// right address and under the own pipeline.
func (a *admin) look(ctx context.Context, key string) error {
	other := a.others[a.rand.IntN(len(a.others))]
	id, ok := other.some(a.rand)
	if !ok {
		return nil
	}
	stranger := &client{run: a.run, org: a.org, who: a.who, key: key, http: a.http, rand: a.rand, at: a.at, silent: a.silent}
	for _, pipeline := range []int64{a.org.Pipeline, other.Pipeline} {
		_, err := stranger.do(ctx, request{
			Op: Op{Kind: opForeign}, method: http.MethodGet, path: fmt.Sprintf("/api/v1/workflows/%d/tasks/%d", pipeline, id),
			refusals: []int{http.StatusNotFound},
		})
		if err == nil {
			a.run.Violate("I11: %s of %s was given task %d of %s", a.who, a.org.Mark, id, other.Mark)
		} else if !errors.Is(err, errRefused) {
			return err
		}
	}
	return nil
}
