package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// visitFor is how long a visitor has a role at most.
const visitFor = time.Second

// visit gives somebody a role in the project, lets them work, and ends it while they are
// at it. What they held then is ended too, and they are served nothing any more.
func (a *admin) visit(ctx context.Context) error {
	if a.users == nil {
		if err := a.meet(ctx); err != nil {
			return err
		}
	}
	v := a.visitors[a.visits%len(a.visitors)]
	a.visits++
	path := fmt.Sprintf("/api/console/projects/%d/members/%d", a.project, a.users[v.who])
	_, err := a.do(ctx, request{
		Op: Op{Kind: opAdmit, Person: v.who}, method: http.MethodPut, path: path, in: object{"role": roleContributor},
	})
	if err != nil {
		return err
	}
	dismissed := make(chan struct{})
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return v.visit(gctx, dismissed) })
	err = wait(ctx, time.Duration(a.rand.Int64N(int64(visitFor))))
	if err == nil {
		_, err = a.do(ctx, request{
			Op: Op{Kind: opDismiss, Person: v.who}, method: http.MethodDelete, path: path,
			refusals: []int{http.StatusNotFound}, // the first try has
		})
	}
	close(dismissed)
	if errors.Is(err, errRefused) {
		err = nil
	}
	return errors.Join(err, g.Wait())
}

// meet looks up the ids of the project and of the visitors, who log in.
func (a *admin) meet(ctx context.Context) error {
	var own struct {
		Projects []struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
		} `json:"projects"`
	}
	if _, err := a.do(ctx, request{Op: Op{Kind: opLook}, method: http.MethodGet, path: "/api/console/projects", out: &own}); err != nil {
		return err
	}
	for _, p := range own.Projects {
		if p.Name == a.org.Mark {
			a.project = p.ID
		}
	}
	var people struct {
		Members []struct {
			Person struct {
				ID    int64  `json:"id"`
				Email string `json:"email"`
			} `json:"person"`
		} `json:"members"`
	}
	_, err := a.do(ctx, request{Op: Op{Kind: opLook}, method: http.MethodGet, path: fmt.Sprintf("/api/console/orgs/%d/members", a.org.ID), out: &people})
	if err != nil {
		return err
	}
	for _, v := range a.visitors {
		if err := v.login(ctx); err != nil {
			return err
		}
	}
	a.users = map[string]int64{}
	for _, m := range people.Members {
		a.users[m.Person.Email] = m.Person.ID
	}
	return nil
}

// notAMember are the answers to who has no role, or not this one.
var notAMember = []int{http.StatusForbidden, http.StatusNotFound}

// visit works until it is refused, or has asked once more after the role is ended.
func (p *person) visit(ctx context.Context, dismissed <-chan struct{}) error {
	for {
		over := closed(dismissed)
		k, err := p.claimNext(ctx, p.role, notAMember...)
		switch {
		case errors.Is(err, errRefused): // or the pipeline is paused
			return nil
		case errors.Is(err, errUnknown):
			err = wait(ctx, pauseAfterUnknown)
		case err == nil && k == nil:
			err = wait(ctx, emptyPause)
		case err == nil:
			if err = p.submit(ctx, k, object{fieldOf[k.Node]: p.answer(k)}, notAMember...); errors.Is(err, errRefused) {
				err = nil // the claim was ended, or the role
			}
		}
		if err != nil || over {
			return err
		}
	}
}

// visitorClaim is a claim of a visitor, and when it ended; zero while it has not.
type visitorClaim struct {
	given

	Ended *time.Time
}

// checkVisits compares what visitors were served with when they had a role, given when
// tasks failed, which ends the claims on them. It returns
// their claims that were ended by the end of a role, as calls that may end them at any
// time from then on.
func (r *Run) checkVisits(ctx context.Context, journal []given, failedAt map[int64]time.Time, ops []Op) (left []Op, err error) {
	var visitors []string
	for _, o := range r.World.Orgs {
		visitors = append(visitors, o.Visitors...)
	}
	ends := map[string]time.Time{} // by claim, the first
	rows, _ := r.Store().Pool().Query(ctx, `SELECT c.claim_id::text, c.task_id, c.node_key, c.iteration, u.email, e.created_at,
			e.kind = 'release' AND e.actor = c.actor
		FROM task_events c JOIN users u ON u.id = c.actor JOIN task_events e ON e.task_id = c.task_id AND e.claim_id = c.claim_id AND e.kind <> 'claim'
		WHERE c.kind = 'claim' AND u.email = ANY($1) ORDER BY e.created_at`, visitors)
	var g given
	var own bool
	_, err = pgx.ForEachRow(rows, []any{&g.Claim, &g.Task, &g.Node, &g.Iteration, &g.Who, &g.At, &own}, func() error {
		if _, again := ends[g.Claim]; !again {
			ends[g.Claim] = g.At
		}
		if own { // they give nothing back themselves
			left = append(left, g.endedFrom(g.At))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var claims []visitorClaim
	for _, g := range journal {
		if !slices.Contains(visitors, g.Who) {
			continue
		}
		c := visitorClaim{given: g}
		if at, ok := ends[g.Claim]; ok {
			c.Ended = &at
		} else if at, ok := failedAt[g.Task]; ok {
			c.Ended = &at
		}
		claims = append(claims, c)
	}
	late := r.lateBy()
	v := visits(ops, late)
	for _, wrong := range slices.Concat(v.wrongCalls(ops), v.wrongClaims(claims, heardOf(ops), late), v.wrongEnds(left)) {
		r.Violate("I11: %s", wrong)
	}
	r.Logf("visitors were given %d claims, %d of which ended with their role", len(claims), len(left))
	return left, nil
}

// effect is when a call may have had its effect, in Unix time, nanoseconds.
type effect struct {
	period

	certain bool // it had
}

// visit is what is known of when somebody had a role.
type visit struct{ admits, dismissals []effect }

// roles are visits by who they are of.
type roles map[string]*visit

// visits sorts what admins did by whom they did it to. A call without an answer may have
// its effect for so long after it was given up. Who is told that there is nobody to
// dismiss knows as much as who dismissed them.
func visits(ops []Op, late time.Duration) roles {
	out := roles{}
	for _, op := range ops {
		if op.Kind != opAdmit && op.Kind != opDismiss || op.Kind == opAdmit && op.Outcome == Refused {
			continue
		}
		if out[op.Person] == nil {
			out[op.Person] = &visit{}
		}
		s := effect{period{op.Call, op.Return}, op.Outcome != Unknown}
		if !s.certain {
			s.to += late.Nanoseconds()
		}
		if v := out[op.Person]; op.Kind == opAdmit {
			v.admits = append(v.admits, s)
		} else {
			v.dismissals = append(v.dismissals, s)
		}
	}
	return out
}

// out reports whether somebody certainly had no role from one moment to another: none
// was given before, or its end was acknowledged, and none can have been given since.
func (v *visit) out(from, to int64) bool {
	since := int64(-1)
	if v == nil {
		return true
	}
	for _, d := range v.dismissals {
		if d.certain && d.to < from {
			since = max(since, d.from)
		}
	}
	return !slices.ContainsFunc(v.admits, func(a effect) bool { return a.to >= since && a.from <= to })
}

// in reports whether somebody certainly had a role from one moment to another.
func (v *visit) in(from, to int64) bool {
	since := int64(-1)
	if v == nil {
		return false
	}
	for _, a := range v.admits {
		if a.certain && a.to < from {
			since = max(since, a.from)
		}
	}
	return since >= 0 && !slices.ContainsFunc(v.dismissals, func(d effect) bool { return d.to >= since && d.from <= to })
}

// wrongCalls are those that were served without a role, or refused for the lack of one
// that was there.
func (r roles) wrongCalls(ops []Op) (wrong []string) {
	for _, op := range ops {
		v, ok := r[op.Who]
		if !ok || op.Kind != opClaim && op.Kind != opSubmit {
			continue
		}
		switch {
		case op.Outcome == OK && v.out(op.Call, op.Return):
			wrong = append(wrong, fmt.Sprintf("%s had no role any more and was served a %s: task %d, node %q, claim %q", op.Who, op.Kind, op.Task, op.Node, op.Claim))
		case op.Outcome == Refused && slices.Contains(notAMember, op.Status) && v.in(op.Call, op.Return):
			wrong = append(wrong, fmt.Sprintf("%s had a role and was refused a %s with %d: %s", op.Who, op.Kind, op.Status, op.Error))
		}
	}
	return wrong
}

// wrongClaims are those that were given without a role, by the journal, and those that
// outlived one: of which their holder was told before it began to end. The journal has
// when a claim began, by when it was given is known where its holder was told. A claim
// on the node that only some answers lead to may end with the answer, which the journal
// has without the claim.
func (r roles) wrongClaims(claims []visitorClaim, told map[string]int64, late time.Duration) (wrong []string) {
	for _, c := range claims {
		v := r[c.Who]
		at := c.At.UnixNano()
		heard, ok := told[c.Claim]
		by := heard
		if !ok {
			by = at + late.Nanoseconds()
		}
		if v.out(at, by) {
			wrong = append(wrong, fmt.Sprintf("%s was given claim %s on node %s of task %d at %s without a role", c.Who, c.Claim, c.Node, c.Task, c.At))
			continue
		}
		if !ok || c.Node == nodeMore {
			continue
		}
		for _, d := range v.dismissals {
			if d.certain && heard < d.from && (c.Ended == nil || c.Ended.UnixNano() > d.to) {
				wrong = append(wrong, fmt.Sprintf("claim %s of %s on node %s of task %d outlived their role, which ended by %s",
					c.Claim, c.Who, c.Node, c.Task, time.Unix(0, d.to)))
				break
			}
		}
	}
	return wrong
}

// wrongEnds are claims that were ended as with a role, and no end of one explains.
func (r roles) wrongEnds(left []Op) (wrong []string) {
	for _, op := range left {
		v := r[op.Who]
		if v == nil || !slices.ContainsFunc(v.dismissals, func(d effect) bool { return d.from <= op.Call && op.Call <= d.to }) {
			wrong = append(wrong, fmt.Sprintf("claim %s of %s on node %s of task %d was ended, and nobody ended their role then", op.Claim, op.Who, op.Node, op.Task))
		}
	}
	return wrong
}

func TestVisitsAreCompared(t *testing.T) {
	t.Parallel()
	op := func(kind string, from, to int64, o Outcome, status int) Op {
		return Op{Who: "admin", Person: "v", Kind: kind, Call: from, Return: to, Outcome: o, Status: status}
	}
	in, out := op(opAdmit, 10, 12, OK, 0), op(opDismiss, 20, 22, OK, 0)
	maybeIn, again := op(opAdmit, 10, 12, Unknown, 0), op(opDismiss, 24, 26, Refused, 404)
	call := func(from, to int64, o Outcome, status int) Op {
		return Op{Who: "v", Kind: opClaim, Call: from, Return: to, Outcome: o, Status: status}
	}
	const late = 100
	for name, c := range map[string]struct {
		acts  []Op
		call  Op
		right bool
	}{
		"served with a role":                   {[]Op{in, out}, call(13, 14, OK, 0), true},
		"served while it ends":                 {[]Op{in, out}, call(21, 23, OK, 0), true},
		"served without":                       {[]Op{in, out}, call(23, 24, OK, 0), false},
		"served before":                        {[]Op{in, out}, call(5, 6, OK, 0), false},
		"refused without":                      {[]Op{in, out}, call(23, 24, Refused, 404), true},
		"refused with one":                     {[]Op{in, out}, call(13, 14, Refused, 404), false},
		"refused while it ends":                {[]Op{in, out}, call(13, 20, Refused, 404), true},
		"the claim was lost":                   {[]Op{in, out}, call(13, 14, Refused, 409), true},
		"given late, perhaps":                  {[]Op{maybeIn, in, out}, call(23, 24, OK, 0), true},
		"given late no more":                   {[]Op{maybeIn, in, op(opDismiss, 120, 122, OK, 0)}, call(123, 124, OK, 0), false},
		"ended late, perhaps":                  {[]Op{op(opDismiss, 5, 6, Unknown, 0), in}, call(13, 14, Refused, 404), true},
		"ended, and told that there is nobody": {[]Op{in, op(opDismiss, 20, 22, Unknown, 0), again}, call(27, 28, OK, 0), false},
		"perhaps ended":                        {[]Op{in, op(opDismiss, 20, 22, Unknown, 0)}, call(27, 28, OK, 0), true},
		"given once more":                      {[]Op{in, out, op(opAdmit, 30, 32, OK, 0)}, call(33, 34, OK, 0), true},
		"refused once it is given again":       {[]Op{in, out, op(opAdmit, 30, 32, OK, 0)}, call(33, 34, Refused, 403), false},
	} {
		wrong := visits(c.acts, late).wrongCalls([]Op{c.call})
		require.Equal(t, c.right, len(wrong) == 0, "%s: %v", name, wrong)
	}
}

func TestClaimsOfVisitorsAreCompared(t *testing.T) {
	t.Parallel()
	at := func(ns int64) *time.Time { m := time.Unix(0, ns); return &m }
	r := visits([]Op{
		{Kind: opAdmit, Person: "v", Call: 10, Return: 12, Outcome: OK}, {Kind: opDismiss, Person: "v", Call: 20, Return: 22, Outcome: OK},
	}, 100)
	for name, c := range map[string]struct {
		given, told int64 // told 0: nobody was
		ended       *time.Time
		node        string
		right       bool
	}{
		"ended with the role":       {13, 14, at(21), nodeTag, true},
		"handed in before":          {13, 14, at(15), nodeTag, true},
		"outlives it":               {13, 14, at(30), nodeTag, false},
		"never ends":                {13, 14, nil, nodeTag, false},
		"ended by the answer":       {13, 14, nil, nodeMore, true},
		"was on its way":            {19, 21, at(30), nodeTag, true},
		"reached nobody":            {13, 0, nil, nodeTag, true},
		"given after":               {23, 24, at(30), nodeTag, false},
		"given after, told nobody":  {23, 0, nil, nodeTag, false},
		"given before there is one": {5, 6, at(7), nodeTag, false},
	} {
		told := map[string]int64{}
		if c.told > 0 {
			told["c"] = c.told
		}
		wrong := r.wrongClaims([]visitorClaim{{given{Claim: "c", Who: "v", Node: c.node, At: *at(c.given)}, c.ended}}, told, 100)
		require.Equal(t, c.right, len(wrong) == 0, "%s: %v", name, wrong)
	}
	require.Empty(t, r.wrongEnds([]Op{{Who: "v", Call: 21}}))
	require.Len(t, r.wrongEnds([]Op{{Who: "v", Call: 19}, {Who: "w", Call: 21}}), 2)
}
