package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Work is everything that the holder of a claim needs on the screen.
type Work struct {
	Claim
	// Values are what the form shows: seeded and static fields, and the
	// earlier answers that its conditions look at.
	Values form.Values
	// Draft is what the person wrote so far; after a rejection, what they
	// submitted last. Nil when there is nothing.
	Draft *Draft
	// Comments are those of the rejection that returned the node.
	Comments []Comment
	// Reviewed are the submissions that a review checks.
	Reviewed []Reviewed
}

// Draft is unfinished work. Revision counts its saves, from 1; 0 means that it
// was never saved.
type Draft struct {
	Values    form.Values
	Revision  int64
	UpdatedAt time.Time
}

// Reviewed is one subtask under review: the fields to check (all that
// contributors fill in when the pipeline names none) and the values of its
// whole form.
type Reviewed struct {
	Node      string
	Fields    []string
	Values    form.Values
	Author    int64
	Iteration int
}

// Work returns what belongs to a claim that the person holds.
func (s *Store) Work(ctx context.Context, c Claim) (Work, error) {
	p, values, subs, err := s.claimAnswers(ctx, c)
	if err != nil {
		return Work{}, translate(err)
	}
	w := Work{Claim: c}
	if w.Draft, err = s.draft(ctx, c); err != nil {
		return Work{}, translate(err)
	}
	if c.Kind == pipeline.KindReview {
		w.Values, w.Reviewed = reviewed(p, c.Node, values, subs)
		return w, nil
	}
	w.Values = only(values, shown(p.Form(c.Node)))
	w.returned(p, subs)
	return w, nil
}

// returned adds what a rejected submission left behind: the old answers as
// the draft to start from, and why it came back.
func (w *Work) returned(p *pipeline.Pipeline, subs []submission) {
	if w.Iteration == 1 {
		return
	}
	for _, sub := range subs {
		if sub.Node == w.Node && sub.Author == w.UserID && w.Draft == nil {
			w.Draft = &Draft{Values: sub.Values, UpdatedAt: sub.CreatedAt}
		}
		if sub.Verdict != VerdictReject || !reviews(p, sub.Node, w.Node) {
			continue
		}
		for _, c := range sub.Comments {
			if c.Node == "" || c.Node == w.Node {
				w.Comments = append(w.Comments, c)
			}
		}
	}
}

func reviews(p *pipeline.Pipeline, review, subtask string) bool {
	n, _ := p.Node(review)
	return slices.ContainsFunc(n.Reviews, func(t pipeline.Target) bool { return t.Node == subtask })
}

// reviewed collects what a review checks, and all values on those forms.
func reviewed(p *pipeline.Pipeline, review string, values form.Values, subs []submission) (form.Values, []Reviewed) {
	node, _ := p.Node(review)
	all := form.Values{}
	var out []Reviewed
	for _, target := range node.Reviews {
		r := Reviewed{Node: target.Node, Fields: reviewFields(p, target), Values: form.Values{}}
		for _, f := range p.Form(target.Node).Fields() {
			if raw, ok := values[f.Name]; ok {
				r.Values[f.Name], all[f.Name] = raw, raw
			}
		}
		for _, sub := range subs {
			if sub.Node == target.Node {
				r.Author, r.Iteration = sub.Author, sub.Iteration
			}
		}
		if r.Iteration > 0 {
			out = append(out, r)
		}
	}
	return all, out
}

// reviewFields returns the fields of a target that the review covers.
func reviewFields(p *pipeline.Pipeline, t pipeline.Target) []string {
	if len(t.Fields) > 0 {
		return t.Fields
	}
	var names []string
	for _, f := range p.Form(t.Node).Fields() {
		if f.Input == form.Contributor {
			names = append(names, f.Name)
		}
	}
	return names
}

func (s *Store) draft(ctx context.Context, c Claim) (*Draft, error) {
	var d Draft
	err := s.pool.QueryRow(ctx, `SELECT values, revision, updated_at FROM drafts
		WHERE task_id = $1 AND node_key = $2 AND user_id = $3 AND org_id = $4`,
		c.TaskID, c.Node, c.UserID, c.OrgID).Scan(&d.Values, &d.Revision, &d.UpdatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no draft is no error
	}
	return &d, err
}
