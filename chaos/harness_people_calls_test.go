package chaos

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// claim is work that somebody holds.
type claim struct {
	ID        string         `json:"claim_id"`
	TaskID    int64          `json:"task_id"`
	Node      string         `json:"node"`
	Pipeline  int64          `json:"pipeline_id"`
	Iteration int            `json:"iteration"`
	LeaseEnds time.Time      `json:"lease_expires_at"`
	Values    map[string]any `json:"values"`
	Draft     *written       `json:"draft"`
}

// written is a draft.
type written struct {
	Revision int64          `json:"revision"`
	Values   map[string]any `json:"values"`
}

func (c *claim) revision() int64 {
	if c.Draft == nil {
		return 0
	}
	return c.Draft.Revision
}

// of names the claim in an Op.
func (c *claim) of(kind string) Op {
	return Op{Kind: kind, Claim: c.ID, Task: c.TaskID, Node: c.Node, Iteration: c.Iteration}
}

func noteClaim(into *claim) func(op *Op) {
	return func(op *Op) {
		op.Claim, op.Task, op.Node, op.Iteration = into.ID, into.TaskID, into.Node, into.Iteration
		op.LeaseEnds = into.LeaseEnds.UnixNano()
	}
}

// claimNext takes the next work: nil when there is none, errUnknown when it may
// have been given some, errRefused while the pipeline is paused (see checkPauses). For
// anything else only visitors may be refused it.
func (c *client) claimNext(ctx context.Context, role string, refusals ...int) (*claim, error) {
	var got claim
	_, err := c.attempts(ctx, request{
		Op: Op{Kind: opClaim}, method: http.MethodPost, path: c.pipeline("/claim"),
		in: map[string]string{"role": role}, out: &got, note: noteClaim(&got), refusals: append(refusals, http.StatusConflict),
	}, true)
	if err != nil || got.ID == "" {
		return nil, err
	}
	return &got, nil
}

// claimNode claims one node by name, errRefused when it is not free.
func (c *client) claimNode(ctx context.Context, role string, task int64, node string) (*claim, error) {
	var got claim
	_, err := c.attempts(ctx, request{
		Op: Op{Kind: opClaim}, method: http.MethodPost, path: c.pipeline("/claim"),
		in:  map[string]any{"role": role, "task_id": task, "node": node},
		out: &got, note: noteClaim(&got), refusals: []int{http.StatusConflict},
	}, true)
	if err != nil {
		return nil, err
	}
	return &got, nil
}

// insist claims a node by name that is free, as soon as it can be had.
func (c *client) insist(ctx context.Context, role string, task int64, node string) (*claim, error) {
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	for {
		k, err := c.claimNode(ctx, role, task, node)
		if !errors.Is(err, errRefused) {
			return k, err
		}
		if waited := wait(ctx, 50*time.Millisecond); waited != nil {
			return nil, errors.Join(err, waited)
		}
	}
}

// mine lists what the caller holds.
func (c *client) mine(ctx context.Context) ([]claim, error) {
	var out struct {
		Claims []claim `json:"claims"`
	}
	_, err := c.do(ctx, request{Op: Op{Kind: opMine}, method: http.MethodGet, path: "/api/console/claims", out: &out})
	return out.Claims, err
}

func (c *client) pipeline(rest string) string {
	return "/api/console/pipelines/" + strconv.FormatInt(c.org.Pipeline, 10) + rest
}

func claimPath(id, verb string) string { return "/api/console/claims/" + id + verb }

// lost are the answers to a call under a claim that is over.
var lost = []int{http.StatusConflict}

func (c *client) draft(ctx context.Context, k *claim, values object, revision int64) (int64, error) {
	var out struct {
		Revision int64 `json:"revision"`
	}
	_, err := c.do(ctx, request{
		Op: k.of(opDraft), method: http.MethodPut, path: claimPath(k.ID, "/draft"), refusals: lost,
		in: object{"values": values, "revision": revision}, out: &out, note: func(op *Op) { op.Revision = out.Revision },
	})
	return out.Revision, err
}

// readDraft asks for what is written under a claim.
func (c *client) readDraft(ctx context.Context, k *claim) (*written, error) {
	var got claim
	_, err := c.do(ctx, request{Op: k.of(opRead), method: http.MethodGet, path: claimPath(k.ID, ""), refusals: lost, out: &got})
	return got.Draft, err
}

func (c *client) submit(ctx context.Context, k *claim, values object, refusals ...int) error {
	_, err := c.do(ctx, request{
		Op: k.of(opSubmit), method: http.MethodPost, path: claimPath(k.ID, "/submit"), refusals: append(refusals, lost...),
		in: object{"values": values},
	})
	return err
}

func (c *client) verdict(ctx context.Context, k *claim, verdict string) error {
	_, err := c.do(ctx, request{
		Op: k.of(opReview), method: http.MethodPost, path: claimPath(k.ID, "/review"), refusals: lost,
		in: object{"verdict": verdict},
	})
	return err
}

// extend lets the claim hold for another lease.
func (c *client) extend(ctx context.Context, k *claim) error {
	var out struct {
		LeaseEnds time.Time `json:"lease_expires_at"`
	}
	_, err := c.do(ctx, request{
		Op: k.of(opExtend), method: http.MethodPost, path: claimPath(k.ID, "/extend"), refusals: lost, out: &out,
		note: func(op *Op) { op.LeaseEnds = out.LeaseEnds.UnixNano() },
	})
	if err == nil {
		k.LeaseEnds = out.LeaseEnds
	}
	return err
}

func (c *client) release(ctx context.Context, k *claim) error {
	return c.giveBack(ctx, k.of(opRelease), "")
}

// skip gives the node back, and is not served it again until reset.
func (c *client) skip(ctx context.Context, k *claim) error {
	op := k.of(opRelease)
	op.Skip = true
	return c.giveBack(ctx, op, "?skip=true")
}

func (c *client) giveBack(ctx context.Context, op Op, how string) error {
	_, err := c.do(ctx, request{Op: op, method: http.MethodDelete, path: claimPath(op.Claim, how), refusals: lost})
	return err
}

// reset brings back what the caller skipped.
func (c *client) reset(ctx context.Context) error {
	_, err := c.do(ctx, request{Op: Op{Kind: opReset}, method: http.MethodPost, path: c.pipeline("/queue/reset")})
	return err
}

// undo takes back what was handed in under a claim, and returns the claim that the
// caller has for it.
func (c *client) undo(ctx context.Context, k *claim) (*claim, error) {
	var got claim
	_, err := c.do(ctx, request{
		Op: k.of(opUndo), method: http.MethodPost, path: claimPath(k.ID, "/undo"), refusals: lost,
		out: &got, note: noteClaim(&got),
	})
	if err != nil {
		return nil, err
	}
	return &got, nil
}
