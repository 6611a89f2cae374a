package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// zombieAPI breaks a serve past the lease of a claim whose submission it has
// just been sent. Somebody else claims the node and hands in. When that serve goes
// on, the submission must be refused, with its content kept as a draft.
type zombieAPI struct {
	at      int // the serve that breaks
	answers chan zombieAnswer
	task    int64
	claim   string
	// insists sends the submission there again until it is accepted or refused.
	insists bool
}

type zombieAnswer struct {
	status int
	err    error
}

const zombieText = "qprobe written by a zombie"

// during is a fault of that serve with a submission on its way.
func (z *zombieAPI) during(f Fault) Fault {
	return Fault{
		Name: f.Name + " with a submission on its way", Serves: f.Serves,
		Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
			key := fmt.Sprintf("zombie-%d", time.Now().UnixNano())
			ids, err := r.probes.integrator.create(ctx, key, []string{"qprobe zombie"})
			if err != nil {
				return nil, err
			}
			z.task = ids[0]
			k, err := r.probes.contributor.claimNode(ctx, roleContributor, z.task, nodeSolve)
			if err != nil {
				return nil, err
			}
			z.claim = k.ID
			heal, err := f.Inject(ctx, r)
			if err != nil {
				return nil, err
			}
			z.answers = make(chan zombieAnswer, 1)
			go z.send(ctx, r, k)
			return heal, nil
		},
		During: func(ctx context.Context, r *Run) error {
			g, gctx := errgroup.WithContext(ctx)
			g.Go(func() error { return z.heir(gctx, r) })
			if f.During != nil {
				g.Go(func() error { return f.During(gctx, r) })
			}
			return g.Wait()
		},
	}
}

// send hands in at the serve that breaks and waits for as long as it takes. The
// history has each call as it comes out.
func (z *zombieAPI) send(ctx context.Context, r *Run, k *claim) {
	for {
		a := z.once(ctx, r, k)
		if !z.insists || a.err == nil && a.status < http.StatusInternalServerError || wait(ctx, pauseAfterUnknown) != nil {
			z.answers <- a
			return
		}
	}
}

func (z *zombieAPI) once(ctx context.Context, r *Run, k *claim) zombieAnswer {
	body, err := json.Marshal(object{"values": object{"answer": zombieText}})
	if err != nil {
		return zombieAnswer{err: err}
	}
	patient := &http.Client{Jar: r.probes.contributor.http.Jar, Timeout: 2 * recoverWithin}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.bases[z.at]+claimPath(k.ID, "/submit"), bytes.NewReader(body))
	if err != nil {
		return zombieAnswer{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	op := k.of(opSubmit)
	op.Who, op.Org, op.Server, op.Content, op.Outcome = r.probes.contributor.who, r.World.Probe.Mark, r.bases[z.at], body, Unknown
	op.Call = time.Now().UnixNano()
	res, err := patient.Do(req)
	op.Return = time.Now().UnixNano()
	if err == nil {
		_ = res.Body.Close()
		op.Status = res.StatusCode
		switch {
		case op.Status < http.StatusBadRequest:
			op.Outcome = OK
		case op.Status < http.StatusInternalServerError:
			op.Outcome = Refused
		}
	}
	r.History.add(op)
	return zombieAnswer{op.Status, err}
}

// heir takes the node over once the lease is out, and hands in.
func (z *zombieAPI) heir(ctx context.Context, r *Run) error {
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	heir := r.client(r.World.Probe, r.World.Probe.Contributors[1], "", 4)
	heir.at = 1 - z.at
	if err := heir.login(ctx); err != nil {
		return err
	}
	if err := r.probes.work(ctx, heir, z.task, nodeSolve); err != nil {
		r.Violate("liveness: nobody else could work on the node that was held at a broken API (%v)", err)
	}
	return nil
}

// check looks at what became of the submission once that serve went on.
func (z *zombieAPI) check(ctx context.Context, r *Run) error {
	var a zombieAnswer
	select {
	case a = <-z.answers:
	case <-ctx.Done():
		return ctx.Err()
	}
	if a.err != nil {
		return fmt.Errorf("the zombie's submission got no answer: %w", a.err)
	}
	if a.status != http.StatusConflict {
		r.Violate("I2: the submission at a broken API was answered with %d after somebody else had handed in", a.status)
	}
	var draft string
	err := r.Store().Pool().QueryRow(ctx, `SELECT coalesce(max(d.values->>'answer'), '') FROM drafts d JOIN users u ON u.id = d.user_id
		WHERE d.task_id = $1 AND d.node_key = $2 AND u.email = $3`, z.task, nodeSolve, r.probes.contributor.who).Scan(&draft)
	if err == nil && draft != zombieText {
		r.Violate("the refused submission under claim %s is not kept as a draft; there is %q", z.claim, draft)
	}
	return err
}

// TestRow03Zombie pauses the API for two leases, and each worker for as long as
// it takes the other one to have all of its work; then both of each.
func TestRow03Zombie(t *testing.T) {
	z := &zombieAPI{}
	RunRow(t, Row{
		Number: 3, Name: "zombie: a holder paused past its lease",
		Hold: 2 * time.Duration(DefaultLoad(1).LeaseSeconds) * time.Second,
		Faults: []Fault{
			z.during(ServePaused(targetA)), ServePaused(targetB), zombieWorker(targetA), zombieWorker(targetB), ServePaused(targetBoth), WorkerPaused(targetBoth),
		},
		After: func(ctx context.Context, r *Run) error {
			ctx, cancel := context.WithTimeout(ctx, recoverWithin)
			defer cancel()
			return errors.Join(z.check(ctx, r))
		},
	})
}
