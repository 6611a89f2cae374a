package demo

import (
	"context"
	_ "embed"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
)

// Document is the apply document that the demo works in: the organization,
// its people and a pipeline whose claims hold for a minute.
//
//go:embed demo.yaml
var Document []byte

// Password is everybody's in Document.
const Password = "taskloom-demo"

// Pipeline is the name of the pipeline in Document.
const Pipeline = "Grade-school math, simulated"

// The people of Document by role.
var (
	Contributors = []string{
		"ada@demo.test", "ben@demo.test", "cleo@demo.test", "dan@demo.test",
		"eve@demo.test", "finn@demo.test", "gia@demo.test", "hal@demo.test",
	}
	Reviewers = []string{"rita@demo.test", "raj@demo.test"}
)

// How often somebody does not just do the work, in a hundred.
const (
	releases = 5
	abandons = 2
	drafts   = 20
	mistakes = 10 // each of which a reviewer rejects
	doubts   = 25
)

// patience is the round from which on nobody is wrong: a fourth rejection would
// escalate.
const patience = 4

// person is one simulated member of the team.
type person struct {
	ctx   context.Context //nolint:containedctx // a person lives as long as the run
	email string
	api   *api
	rand  *rand.Rand
	tally *tally
}

func (r *run) person(ctx context.Context, email string, number int) *person {
	return &person{
		ctx: ctx, email: email, api: r.api.session(), tally: r.tally,
		rand: rand.New(rand.NewPCG(r.Seed, uint64(number))), //nolint:gosec // a play needs no secrets
	}
}

func (p *person) chance(inHundred int) bool { return p.rand.IntN(100) < inHundred }

// contribute logs in and works through the queue until the run is over.
func (p *person) contribute(truth map[string]string) error {
	return p.live("contributor", func(c *claim) error {
		switch {
		case p.chance(abandons) && c.Iteration == 1:
			p.tally.add(abandoned)
			return nil
		case p.chance(releases):
			p.tally.add(released)
			return p.api.release(p.ctx, c.ID)
		}
		answer := p.answer(truth, c)
		if p.chance(drafts) {
			if err := p.api.draft(p.ctx, c.ID, answer, c.revision()); err != nil {
				return err
			}
			p.tally.add(drafted)
		}
		if err := p.api.submit(p.ctx, c.ID, answer); err != nil {
			return err
		}
		if c.Iteration > 1 {
			p.tally.add(reworked)
		}
		p.tally.add(submitted)
		return nil
	})
}

// answer is wrong one time in ten; somebody unsure says why.
func (p *person) answer(truth map[string]string, c *claim) map[string]any {
	question, _ := c.Values["question"].(string)
	out := map[string]any{"answer": truth[question], "confident": true}
	if c.Iteration < patience && p.chance(mistakes) {
		out["answer"] = truth[question] + "0"
	}
	if p.chance(doubts) {
		out["confident"], out["doubt"] = false, "Not sure that I read the question right."
	}
	return out
}

// review logs in and checks what comes until the run is over.
func (p *person) review(truth map[string]string) error {
	return p.live("reviewer", func(c *claim) error {
		question, _ := c.Values["question"].(string)
		if c.Values["answer"] != truth[question] {
			p.tally.add(rejected)
			return p.api.verdict(p.ctx, c.ID, map[string]any{
				"verdict":  "reject",
				"comments": []map[string]string{{"field": "answer", "text": "Please work it out once more."}},
			})
		}
		p.tally.add(approved)
		return p.api.verdict(p.ctx, c.ID, map[string]any{"verdict": "approve"})
	})
}

// live claims and handles work until the run is over. A lost claim is part of
// the play; any other failure ends it.
func (p *person) live(role string, handle func(*claim) error) error {
	if err := p.api.login(p.ctx, p.email, Password); err != nil {
		return p.end(err)
	}
	idle := 50 * time.Millisecond
	for {
		c, err := p.api.claim(p.ctx, role)
		if err != nil {
			return p.end(err)
		}
		if c == nil {
			if err := wait(p.ctx, idle); err != nil {
				return p.end(err)
			}
			idle = min(2*idle, time.Second)
			continue
		}
		idle = 50 * time.Millisecond
		var refused *refusal
		if err := handle(c); errors.As(err, &refused) && refused.Status == 409 {
			p.tally.add(lost)
		} else if err != nil {
			return p.end(err)
		}
	}
}

// end turns the end of the run into success.
func (p *person) end(err error) error {
	if p.ctx.Err() != nil {
		return nil //nolint:nilerr // being stopped is how the play ends
	}
	return &playError{who: strings.TrimSuffix(p.email, "@demo.test"), err: err}
}

type playError struct {
	who string
	err error
}

func (e *playError) Error() string { return e.who + ": " + e.err.Error() }
func (e *playError) Unwrap() error { return e.err }

// Admin is who makes the demo's API key.
const Admin = "admin@demo.test"
