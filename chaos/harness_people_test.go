package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
)

// person works through the queue until the run lets them go home.
type person struct {
	*client

	role string
	load Load
	// answers numbers what the person wrote, so that no two answers are alike.
	answers int
	// known are claims that the person has dealt with, or left on purpose.
	known map[string]bool
	// skipped says that the queue keeps something from the person.
	skipped bool
}

// live works until home is closed and what is at hand is done, or until ctx
// ends.
func (p *person) live(ctx context.Context, home <-chan struct{}) error {
	if err := p.login(ctx); err != nil {
		return p.end(ctx, err)
	}
	for !closed(home) {
		k, err := p.next(ctx)
		switch {
		case err != nil:
			return p.end(ctx, err)
		case k == nil && p.skipped:
			p.skipped = false
			err = p.reset(ctx)
		case k == nil:
			err = wait(ctx, emptyPause+p.think())
		default:
			p.known[k.ID] = true
			if err = p.handle(ctx, k, home); err == nil {
				err = wait(ctx, p.think())
			}
		}
		if err != nil && !errors.Is(err, errRefused) { // refused: the claim was lost meanwhile
			return p.end(ctx, err)
		}
	}
	return nil
}

// end turns the end of the run into success.
func (p *person) end(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // being stopped is how a run ends
	}
	return fmt.Errorf("%s: %w", p.who, err)
}

// emptyPause is the wait on an empty queue.
const emptyPause = 100 * time.Millisecond

func (p *person) think() time.Duration {
	return time.Duration(1+p.rand.Int64N(p.load.ThinkMS)) * time.Millisecond
}

// next claims work, nil when there is none. After an unknown outcome the person looks what they hold,
// or goes on without looking: then the lease brings the node back.
func (p *person) next(ctx context.Context) (*claim, error) {
	k, err := p.claimNext(ctx, p.role)
	switch {
	case errors.Is(err, errRefused): // the pipeline is paused: nothing is there
		return nil, nil //nolint:nilnil // as documented
	case !errors.Is(err, errUnknown):
		return k, err
	}
	if p.chance(30) {
		return nil, wait(ctx, pauseAfterUnknown)
	}
	held, err := p.mine(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range held {
		if !p.known[k.ID] && k.Pipeline == p.org.Pipeline {
			return &k, nil
		}
	}
	return nil, nil //nolint:nilnil // the claim did not come through
}

// handle does one piece of work, or does not.
func (p *person) handle(ctx context.Context, k *claim, home <-chan struct{}) error {
	quick := closed(home)
	if !quick && p.chance(p.load.Extend) {
		if err := p.extend(ctx, k); err != nil {
			return err
		}
	}
	switch {
	case !quick && p.chance(p.load.Abandon):
		return nil
	case !quick && p.chance(p.load.Release):
		return p.release(ctx, k)
	case !quick && p.chance(p.load.Skip):
		p.skipped = true
		return p.skip(ctx, k)
	case !quick && p.chance(p.load.Late):
		if err := wait(ctx, time.Until(p.run.local(k.LeaseEnds))+p.think()); err != nil {
			return err
		}
	}
	if p.role == roleReviewer {
		return p.review(ctx, k)
	}
	return p.contribute(ctx, k, quick)
}

// The roles of a claim.
const (
	roleContributor = "contributor"
	roleReviewer    = "reviewer"
)

// contribute works on a subtask and hands it in; when it is not to be quick, perhaps
// never.
func (p *person) contribute(ctx context.Context, k *claim, quick bool) error {
	field := fieldOf[k.Node]
	if p.chance(p.load.Draft) {
		left, err := p.write(ctx, k, field, quick)
		if err != nil || left {
			return err
		}
	} else if p.chance(p.load.Tabs) {
		if err := p.twoTabs(ctx, k, field); err != nil {
			return err
		}
	}
	values := object{field: p.answer(k)}
	if k.Node == nodeSolve && p.chance(p.load.Upload) {
		file, err := p.attach(ctx, k)
		if err != nil {
			return err
		}
		values[fieldScan] = file
	}
	if err := p.submit(ctx, k, values); err != nil {
		return err
	}
	if p.chance(p.load.Repeat) {
		if err := p.again(p.submit(ctx, k, values), k); err != nil {
			return err
		}
	}
	if p.chance(p.load.Undo) {
		return p.changeMind(ctx, k, values, quick)
	}
	return nil
}

// changeMind takes back what was handed in under a claim, where nobody was quicker
// and it is not final, and hands in something else.
func (p *person) changeMind(ctx context.Context, k *claim, values object, quick bool) error {
	next, err := p.undo(ctx, k)
	if errors.Is(err, errRefused) {
		return nil
	}
	if err != nil {
		return err
	}
	p.known[next.ID] = true
	switch {
	case next.TaskID != k.TaskID || next.Node != k.Node || next.Iteration != k.Iteration+1:
		p.run.Violate("%s undid claim %s on node %s of task %d in round %d and was given %+v", p.who, k.ID, k.Node, k.TaskID, k.Iteration, *next)
	case next.Draft == nil || !sameValues(next.Draft.Values, values):
		p.run.Violate("I1: %s undid claim %s, under which they had handed in %v, and has the draft %+v", p.who, k.ID, values, next.Draft)
	}
	return p.contribute(ctx, next, quick)
}

// twoTabs saves a draft from two tabs of the same age at once. One of them may be
// told that it is late; what the same revision is given to twice is lost once (see
// checkDrafts).
func (p *person) twoTabs(ctx context.Context, k *claim, field string) error {
	other := &client{
		run: p.run, org: p.org, who: p.who, http: p.http, at: p.at + 1, silent: map[int]time.Time{},
		rand: rand.New(rand.NewPCG(p.rand.Uint64(), 0x7ab)),
	}
	revision := k.revision()
	g, gctx := errgroup.WithContext(ctx)
	for _, tab := range []*client{p.client, other} {
		values := object{field: p.answer(k)}
		g.Go(func() error {
			if _, err := tab.draft(gctx, k, values, revision); !errors.Is(err, errRefused) {
				return err
			}
			return nil
		})
	}
	return g.Wait()
}

func (p *person) review(ctx context.Context, k *claim) error {
	verdict := "approve"
	switch {
	case k.Iteration < 3 && p.chance(p.load.Reject):
		verdict = "reject"
	case p.chance(p.load.Escalate):
		verdict = "escalate"
	}
	if err := p.verdict(ctx, k, verdict); err != nil {
		return err
	}
	if p.chance(p.load.Repeat) {
		return p.again(p.verdict(ctx, k, verdict), k)
	}
	return nil
}

// again checks a call that was acknowledged and sent once more, the same: it
// gets the first answer.
func (p *person) again(err error, k *claim) error {
	if errors.Is(err, errRefused) {
		p.run.Violate("%s handed in under claim %s, was told so, sent it once more, and was refused", p.who, k.ID)
	}
	return err
}

// answer is something that nobody else writes. It carries the tenant's mark.
func (p *person) answer(k *claim) string {
	p.answers++
	return fmt.Sprintf("%s %d of %s on task %d", p.org.Mark, p.answers, p.who, k.TaskID)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
