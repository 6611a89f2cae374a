package store

import (
	"context"
	"errors"
	"maps"
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
	// Pipeline and Project are names.
	Pipeline, Project string
	// Comments are those of the rejection that returned the node.
	Comments []Comment
	// Earlier are the holder's own attempts at the node that were returned,
	// oldest first. Of many, or large ones, the oldest are missing.
	Earlier []Attempt
	// UndoOf is what the claim undoes, nil for every other claim.
	UndoOf *Undone
	// Reviewed are the submissions that a review checks.
	Reviewed []Reviewed
}

// Draft is unfinished work. Revision counts its saves, from 1; 0 means that it
// was never saved.
type Draft struct {
	Values    form.Values
	Revision  int64
	UpdatedAt time.Time
	after     *int64 // the event of the task after which it was saved; nil when that is not known
}

// before reports whether the draft was saved before something was handed in.
func (d *Draft) before(sub submission) bool {
	if d.after != nil {
		return *d.after < sub.Seq
	}
	return d.UpdatedAt.Before(sub.CreatedAt)
}

// Reviewed is one subtask under review: the fields to check (all that
// contributors fill in when the pipeline names none) and the values of its
// whole form.
type Reviewed struct {
	Node      string
	Fields    []string
	Values    form.Values
	Author    Person
	Iteration int
	// Earlier are its earlier rounds, oldest first. As in Work, the oldest may be
	// missing.
	Earlier []Attempt
}

// Attempt is a submission of an earlier round, with the rejection that
// returned it: Verdict is "" when an admin reopened the node instead.
type Attempt struct {
	Author    int64
	Iteration int
	Values    form.Values
	At        time.Time
	Verdict   string
	Comments  []Comment
}

// Work returns what belongs to a claim that the person holds.
func (s *Store) Work(ctx context.Context, c Claim) (Work, error) {
	p, known, err := s.claimAnswers(ctx, c)
	if err != nil {
		return Work{}, translate(err)
	}
	w := Work{Claim: c}
	if err := s.around(ctx, &w); err != nil {
		return Work{}, translate(err)
	}
	if c.Kind == pipeline.KindReview {
		w.Values, w.Reviewed = reviewed(p, c.Node, known.values, known.subs)
		w.forget(known.subs)
	} else {
		w.Values = only(known.values, shown(p.Form(c.Node)))
		w.returned(p, known.subs)
	}
	err = s.before(ctx, p, &w)
	return w, translate(err)
}

// around reads what stands around the form: the names of where it belongs, and
// the holder's draft.
func (s *Store) around(ctx context.Context, w *Work) error {
	b := &pgx.Batch{}
	b.Queue(`SELECT p.name, j.name FROM pipelines p JOIN projects j ON j.id = p.project_id AND j.org_id = p.org_id
		WHERE p.id = $1 AND p.org_id = $2`, w.PipelineID, w.OrgID).
		QueryRow(func(row pgx.Row) error { return row.Scan(&w.Pipeline, &w.Project) })
	b.Queue(draftSQL, w.TaskID, w.Node, w.UserID, w.OrgID).QueryRow(func(row pgx.Row) (err error) {
		w.Draft, err = scanDraft(row)
		return err
	})
	return s.pool.SendBatch(ctx, b).Close()
}

// before reads what happened before: earlier rounds, what this claim undoes,
// and who did what is under review.
func (s *Store) before(ctx context.Context, p *pipeline.Pipeline, w *Work) error {
	again := w.Iteration > 1
	var authors []int64
	for _, r := range w.Reviewed {
		again = again || r.Iteration > 1
		authors = append(authors, r.Author.ID)
	}
	people, err := s.PeopleByID(ctx, w.OrgID, authors)
	if err != nil {
		return err
	}
	for i := range w.Reviewed {
		r := &w.Reviewed[i]
		if at := slices.IndexFunc(people, func(p Person) bool { return p.ID == r.Author.ID }); at >= 0 {
			r.Author = people[at]
		}
	}
	if !again {
		return nil
	}
	if w.Iteration > 1 {
		if w.UndoOf, err = s.undoOf(ctx, w.Claim); err != nil {
			return err
		}
	}
	return s.earlier(ctx, p, w)
}

// earlier reads the earlier rounds, all together up to what a history may show.
func (s *Store) earlier(ctx context.Context, p *pipeline.Pipeline, w *Work) error {
	all, err := rounds(ctx, s.pool, w.OrgID, w.TaskID)
	if err != nil {
		return err
	}
	var mine []attempt
	if w.Kind == pipeline.KindSubtask {
		mine = own(attempts(p, all, w.Node, w.Iteration), w.UserID)
	}
	wanted := pieces(mine)
	under := make([][]attempt, len(w.Reviewed))
	for i, r := range w.Reviewed {
		under[i] = attempts(p, all, r.Node, r.Iteration)
		wanted = append(wanted, pieces(under[i])...)
	}
	read, err := contents(ctx, s.pool, w.OrgID, w.TaskID, wanted)
	if err != nil {
		return err
	}
	w.Earlier = shownAttempts(mine, read)
	for i := range w.Reviewed {
		w.Reviewed[i].Earlier = shownAttempts(under[i], read)
	}
	return nil
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
		w.Comments = append(w.Comments, about(sub.Comments, w.Node)...)
	}
}

// forget empties the draft of a review that was written before what is under
// review now was handed in: it corrects an earlier round's words. Its revision
// stays, which the next one follows.
func (w *Work) forget(subs []submission) {
	if w.Draft == nil {
		return
	}
	for _, r := range w.Reviewed {
		for _, sub := range subs {
			if sub.Node == r.Node && w.Draft.before(sub) {
				w.Draft.Values = form.Values{}
			}
		}
	}
}

func reviews(p *pipeline.Pipeline, review, subtask string) bool {
	n, _ := p.Node(review)
	return slices.ContainsFunc(n.Reviews, func(t pipeline.Target) bool { return t.Node == subtask })
}

// reviewed collects what a review checks, in the order of the graph, and all values on
// those forms and those that the forms look at.
func reviewed(p *pipeline.Pipeline, review string, values form.Values, subs []submission) (form.Values, []Reviewed) {
	node, _ := p.Node(review)
	all := form.Values{}
	var out []Reviewed
	for _, target := range p.Targets(node) {
		r := Reviewed{Node: target.Node, Fields: reviewFields(p, target), Values: form.Values{}}
		for _, f := range p.Form(target.Node).Fields() {
			if raw, ok := values[f.Name]; ok {
				r.Values[f.Name], all[f.Name] = raw, raw
			}
		}
		maps.Copy(all, only(values, shown(p.Form(target.Node))))
		for _, sub := range subs {
			if sub.Node == target.Node {
				r.Author.ID, r.Iteration = sub.Author, sub.Iteration
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

// draftSQL is what somebody wrote so far: $1 task, $2 node, $3 user, $4 organization.
const draftSQL = `SELECT values, revision, updated_at, ` + draftAfterSQL + ` FROM drafts d
	WHERE task_id = $1 AND node_key = $2 AND user_id = $3 AND org_id = $4`

// draft returns what the holder of a claim wrote so far, nil when that is nothing.
func (s *Store) draft(ctx context.Context, c Claim) (*Draft, error) {
	return scanDraft(s.pool.QueryRow(ctx, draftSQL, c.TaskID, c.Node, c.UserID, c.OrgID))
}

func scanDraft(row pgx.Row) (*Draft, error) {
	var d Draft
	err := row.Scan(&d.Values, &d.Revision, &d.UpdatedAt, &d.after)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no draft is no error
	}
	return &d, err
}
