package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Verdicts of a review.
const (
	VerdictApprove  = "approve"
	VerdictReject   = "reject"
	VerdictEscalate = "escalate"
)

// Verdicts of a comment on the field that it is about.
const (
	FieldOK    = "ok"
	FieldWrong = "wrong"
)

// Limits of a verdict.
const (
	maxComments    = 200
	maxCommentText = 4000 // characters
)

// Verdict is a reviewer's decision.
type Verdict struct {
	Verdict string
	// Values are the reviewer's own corrections of reviewed fields; only with
	// approve.
	Values form.Values
	// Comments explain; a rejection shows them to who gets the work back.
	Comments []Comment
	// Nodes are the subtasks that a rejection returns; none means those that
	// the comments are about (save those that call a field right), and without
	// comments all of them.
	Nodes []string
	// DraftRevision is the revision of the reviewer's draft that they saw last, 0 for
	// none; nil when they do not say. A repeat may say another one.
	DraftRevision *int64 `json:"-"`
}

// Review hands in a verdict under a claim on a review node. Errors as SubmitSeen; Conflict,
// too, for an approval of what another review corrected since the claim was made.
func (s *Store) Review(ctx context.Context, userID int64, claimID string, v Verdict) (Submitted, error) {
	c, err := s.LiveClaim(ctx, userID, claimID)
	if err != nil {
		return s.repeated(ctx, userID, claimID, v, err)
	}
	if c.Kind != pipeline.KindReview {
		return Submitted{}, fault.New(fault.Validation, "node %q is a subtask; submit its values instead", c.Node)
	}
	asSent, err := sent(v) // before the comments are placed
	if err != nil {
		return Submitted{}, err
	}
	out, err := s.handIn(ctx, c, func(q querier, p *pipeline.Pipeline, known answered) (handIn, error) {
		_, under := reviewed(p, c.Node, known.values, known.subs)
		var led []string
		var err error
		if v.Verdict == VerdictApprove && len(v.Values) > 0 {
			if led, err = ledFrom(ctx, q, p, c); err != nil {
				return handIn{}, err
			}
		}
		h, problems := v.handIn(p, c.Node, under, known.values, led)
		if len(problems) > 0 {
			return handIn{}, problemsOf(problems)
		}
		h.sent, h.draft = asSent, v.DraftRevision
		if v.Verdict == VerdictApprove {
			h.approves = alsoReviewed(p, c.Node, under)
		}
		h.files, err = checkFiles(ctx, q, c, draftForm(p, c).Fields(), h.values)
		return h, err
	})
	if err != nil {
		return s.repeated(ctx, userID, claimID, v, err)
	}
	return out, nil
}

// handIn checks the verdict against what is under review, what was handed in besides and
// the nodes that led the task on, and turns it into the journal's words.
func (v Verdict) handIn(
	p *pipeline.Pipeline, node string, under []Reviewed, values form.Values, led []string,
) (handIn, []form.Problem) {
	h := handIn{verdict: v.Verdict, to: task.NodeSubmitted, event: pipeline.Event{Kind: pipeline.EventReview}}
	v.Comments = slices.Clone(v.Comments)
	problems := v.place(under)
	h.comments = v.Comments
	switch v.Verdict {
	case VerdictApprove:
		fixed, ps := v.fixes(p, under, values)
		problems = append(problems, ps...)
		merged := maps.Clone(values)
		if len(fixed) > 0 {
			correct(p, node, merged, fixed, nodesOf(under))
			problems = append(problems, rerouted(p, led, values, merged, fixed)...)
		}
		b := form.NewBudget()
		h.values, h.event.Outcome, h.event.Skipped = fixed, pipeline.Approved, p.Skipped(node, merged, b)
		problems = append(problems, b.Problems()...)
	case VerdictReject:
		h.event.Outcome, h.event.Returned = pipeline.Rejected, v.returns()
		problems = append(problems, v.checkNodes(under)...)
	case VerdictEscalate:
		h.event.Outcome, h.to, h.reason = pipeline.EscalatedByReviewer, task.NodeEscalated, pipeline.ReasonReviewer
	default:
		problems = append(problems, form.Problem{Field: "verdict", Message: "must be approve, reject or escalate"})
	}
	if v.Verdict != VerdictApprove && len(v.Values) > 0 {
		problems = append(problems, form.Problem{Field: "values", Message: "corrections go with approve only"})
	}
	return h, problems
}

// nodesOf are the subtasks under review.
func nodesOf(under []Reviewed) []string {
	out := make([]string, len(under))
	for i, r := range under {
		out[i] = r.Node
	}
	return out
}

// place finds the subtask of each comment's field and checks the comments.
func (v Verdict) place(under []Reviewed) []form.Problem {
	var problems []form.Problem
	if len(v.Comments) > maxComments {
		problems = append(problems, form.Problem{Field: "comments", Message: "at most 200 comments"})
	}
	for i := range v.Comments {
		c := &v.Comments[i]
		at := slices.IndexFunc(under, func(r Reviewed) bool { return slices.Contains(r.Fields, c.Field) })
		switch {
		case c.Field == "":
		case at < 0:
			problems = append(problems, form.Problem{Field: "comments", Message: "field " + cut(c.Field) + " is not under this review"})
		default:
			c.Node = under[at].Node
		}
		if message := c.check(); message != "" {
			problems = append(problems, form.Problem{Field: "comments", Message: message})
		}
	}
	return problems
}

// check says what is wrong with a comment by itself, "" when nothing is.
func (c Comment) check() string {
	n := len([]rune(c.Text))
	switch {
	case c.Verdict != "" && c.Verdict != FieldOK && c.Verdict != FieldWrong:
		return "a comment's verdict is ok or wrong, or left out"
	case c.Verdict != "" && c.Field == "":
		return "a verdict in a comment is on a field: name the field"
	case n > maxCommentText, n == 0 && c.Verdict == "":
		return "a comment has 1 to 4000 characters; only one with a verdict may be without"
	}
	return ""
}

// returns lists the subtasks that the rejection sends back.
func (v Verdict) returns() []string {
	nodes := slices.Clone(v.Nodes)
	if len(nodes) == 0 {
		for _, c := range v.Comments {
			if c.Node != "" && c.Verdict != FieldOK {
				nodes = append(nodes, c.Node)
			}
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

func (v Verdict) checkNodes(under []Reviewed) []form.Problem {
	var problems []form.Problem
	for _, n := range v.Nodes {
		if !slices.ContainsFunc(under, func(r Reviewed) bool { return r.Node == n }) {
			problems = append(problems, form.Problem{Field: "nodes", Message: "node " + cut(n) + " is not under this review"})
		}
	}
	return problems
}

// fixes checks the reviewer's corrections as if the contributors had submitted
// them, one subtask after the other, and returns those that differ from what was
// submitted; not those of answers that the others hide. What follows from a correction
// for the forms of later subtasks, whose conditions and rules look at it, must be right,
// too.
func (v Verdict) fixes(p *pipeline.Pipeline, under []Reviewed, values form.Values) (form.Values, []form.Problem) {
	var problems []form.Problem
	fixed, known := form.Values{}, maps.Clone(values)
	left := maps.Clone(v.Values)
	for _, n := range p.Graph.Nodes { // in its order, since forms look at fields before
		at := slices.IndexFunc(under, func(r Reviewed) bool { return r.Node == n.Key })
		if at < 0 {
			continue
		}
		r, before := under[at], len(fixed) > 0
		was := handedInOf(p, r)
		submitted, touched := maps.Clone(was), false
		for _, f := range p.Form(r.Node).Fields() {
			raw, ok := left[f.Name]
			if !ok {
				continue
			}
			delete(left, f.Name)
			if !slices.Contains(r.Fields, f.Name) {
				problems = append(problems, form.Problem{Field: f.Name, Message: "is not under this review and cannot be corrected here"})
				continue
			}
			submitted[f.Name], touched = raw, true
		}
		switch {
		case touched:
			kept, ps := p.Form(r.Node).CheckSubmission(submitted, known)
			problems = append(problems, ps...)
			says := maps.Clone(known)
			maps.Copy(says, submitted)
			shown := p.Form(r.Node).Visible(says)
			for name := range v.Values {
				if raw, ok := kept[name]; ok {
					fixed[name] = raw
				} else if _, had := r.Values[name]; had && shown[name] && len(ps) == 0 && slices.Contains(r.Fields, name) {
					problems = append(problems, form.Problem{Field: name, Message: "cannot be emptied by a correction; reject it instead"})
				}
			}
		case before:
			problems = append(problems, newProblems(p.Form(r.Node), was, values, known)...)
		}
		correctOne(p, r.Node, values, known, fixed)
	}
	for name := range left {
		problems = append(problems, form.Problem{Field: cut(name), Message: "is no field under this review"})
	}
	slices.SortFunc(problems, func(a, b form.Problem) int { return strings.Compare(a.Field, b.Field) })
	return fixed, problems
}

// handedInOf are the answers that count of a subtask under review.
func handedInOf(p *pipeline.Pipeline, r Reviewed) form.Values {
	out := form.Values{}
	for _, f := range p.Form(r.Node).Fields() {
		if raw, ok := r.Values[f.Name]; ok && f.Input == form.Contributor {
			out[f.Name] = raw
		}
	}
	return out
}

// newProblems are those that answers have beside what is known now, and had not beside
// what was known when they were handed in.
func newProblems(f *form.Form, answers, was, is form.Values) []form.Problem {
	_, had := f.CheckSubmission(answers, was)
	_, have := f.CheckSubmission(answers, is)
	return slices.DeleteFunc(have, func(p form.Problem) bool { return slices.Contains(had, p) })
}
