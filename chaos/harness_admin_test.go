package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// What admins do.
const (
	opPriority = "priority"
	opNewKey   = "new key"
	opRevoke   = "revoke key"
	opForeign  = "foreign task"
	opHold     = "hold"
	opUnhold   = "unhold"
	opPutBack  = "put back" // ends whatever claim is on a node
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
	if id, ok := a.org.some(a.rand); ok {
		var out struct {
			Done []int64 `json:"done"` // empty when the task is over
		}
		_, err := a.do(ctx, request{
			Op: Op{Kind: opPriority, Task: id}, method: http.MethodPost, path: a.pipeline("/tasks/bulk"),
			in: object{"action": "set_priority", "priority": a.rand.IntN(201) - 100, "task_ids": []int64{id}}, out: &out,
			note: func(op *Op) { op.Tasks = out.Done },
		})
		if err != nil {
			return err
		}
	}
	if a.chance(a.run.Load.Hold) {
		if err := a.hold(ctx); err != nil {
			return err
		}
	}
	if a.chance(a.run.Load.PutBack) {
		if err := a.putBack(ctx); err != nil {
			return err
		}
	}
	if !a.chance(30) {
		return nil
	}
	a.keys++
	var made struct {
		ID    int64  `json:"id"`
		Value string `json:"value"`
	}
	_, err := a.do(ctx, request{
		Op: Op{Kind: opNewKey}, method: http.MethodPost, path: fmt.Sprintf("/api/console/orgs/%d/keys", a.org.ID),
		in: object{"name": fmt.Sprintf("%s key %d", a.org.Mark, a.keys), "expires": "30d"}, out: &made,
		refusals: []int{http.StatusConflict}, // the first try made one of this name
	})
	if err != nil {
		return err
	}
	if err := a.look(ctx, made.Value); err != nil {
		return err
	}
	_, err = a.do(ctx, request{
		Op: Op{Kind: opRevoke}, method: http.MethodPost, path: fmt.Sprintf("/api/console/orgs/%d/keys/%d/revoke", a.org.ID, made.ID),
	})
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
