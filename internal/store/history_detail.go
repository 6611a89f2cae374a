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

// DoneDetail is something that a person handed in, with its content.
type DoneDetail struct {
	Done
	// Values are what the form shows, with what was handed in.
	Values   form.Values
	Comments []Comment
	// Reviews are the verdicts on it, oldest first. Of many, or large ones, the oldest
	// are missing.
	Reviews []Judgement
}

// Judgement is a verdict on a submission.
type Judgement struct {
	Verdict  string
	Comments []Comment
	Values   form.Values
	At       time.Time
}

const doneSQL = `SELECT ` + doneColumns + `, now() < s.created_at + $3::interval AS recent FROM submissions s
    JOIN tasks t ON t.id = s.task_id AND t.org_id = s.org_id
    JOIN pipelines p ON p.id = t.pipeline_id AND p.org_id = t.org_id
    JOIN task_nodes n ON n.task_id = s.task_id AND n.key = s.node_key
    WHERE s.claim_id = $1 AND s.author = $2 AND ` + memberSQL

// Submission returns what the person handed in under a claim; NotFound when it
// is not theirs, or where they no longer belong.
func (s *Store) Submission(ctx context.Context, userID int64, claimID string) (DoneDetail, error) {
	if _, ok := taskOfClaim(claimID); !ok {
		return DoneDetail{}, claimNotFound(claimID)
	}
	rows, _ := s.pool.Query(ctx, doneSQL, claimID, userID, UndoWindow)
	one, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Done])
	if errors.Is(err, pgx.ErrNoRows) {
		return DoneDetail{}, claimNotFound(claimID)
	}
	if err != nil {
		return DoneDetail{}, translate(err)
	}
	items := []Done{one}
	if err := s.became(ctx, items); err != nil {
		return DoneDetail{}, err
	}
	d := DoneDetail{Done: items[0]}
	err = s.content(ctx, &d)
	return d, translate(err)
}

// content fills in what the form showed when it was handed in, and what
// reviews said since.
func (s *Store) content(ctx context.Context, d *DoneDetail) error {
	p, err := s.Version(ctx, d.VersionID)
	if err != nil {
		return err
	}
	var input, values form.Values
	err = s.pool.QueryRow(ctx, `SELECT t.input, s.values, s.comments FROM submissions s JOIN tasks t ON t.id = s.task_id AND t.org_id = s.org_id
		WHERE s.claim_id = $1 AND s.org_id = $2`, d.ClaimID, d.OrgID).Scan(&input, &values, &d.Comments)
	if err != nil {
		return err
	}
	all, err := rounds(ctx, s.pool, d.OrgID, d.TaskID)
	if err != nil {
		return err
	}
	known, err := answersBefore(ctx, s.pool, p, d.Done, input, all)
	if err != nil {
		return err
	}
	if d.Kind == pipeline.KindSubtask {
		d.Values = only(known, shown(p.Form(d.Node)))
		maps.Copy(d.Values, values)
		d.Reviews, err = s.judgements(ctx, p, all, d.Done)
		return err
	}
	if len(values) > 0 {
		node, _ := p.Node(d.Node)
		var targets []string
		for _, t := range node.Reviews {
			targets = append(targets, t.Node)
		}
		correct(p, d.Node, known, values, targets)
	}
	d.Values = underReview(p, d.Node, known)
	return nil
}

// answersBefore merges what was known of a task's fields before something was handed in.
// Each submission is forgotten once it is merged: however many there were, no more than one
// of them is in memory beside what is known.
func answersBefore(
	ctx context.Context, q querier, p *pipeline.Pipeline, d Done, input form.Values, all []round,
) (form.Values, error) {
	m := merging(p, input)
	rows, _ := q.Query(ctx, `SELECT node_key, values FROM submissions
		WHERE task_id = $1 AND org_id = $2 AND seq = ANY ($3) ORDER BY seq`, d.TaskID, d.OrgID, explaining(p, all, d.Seq))
	var node string
	var values form.Values
	_, err := pgx.ForEachRow(rows, []any{&node, &values}, func() error {
		m.add(node, values)
		values = nil // the next row gets a map of its own
		return nil
	})
	return m.known, err
}

// explaining lists the rounds before a number that the answers then follow from. It goes
// back from there. A submission replaces all that was said about its subtask before, so
// older ones of that subtask, and corrections of nothing but such subtasks, say nothing. A
// correction that does say something may have looked at every answer as it was then.
func explaining(p *pipeline.Pipeline, all []round, before int64) []int64 {
	var out []int64
	replaced := map[string]bool{}
	for _, r := range slices.Backward(all) {
		switch {
		case r.Seq >= before:
		case p.Form(r.Node) != nil:
			if !replaced[r.Node] {
				out = append(out, r.Seq)
			}
			replaced[r.Node] = true
		case r.Corrects && corrects(p, r.Node, replaced):
			out = append(out, r.Seq)
			clear(replaced)
		}
	}
	return out
}

// corrects reports whether a review checks a subtask that is not among those replaced.
func corrects(p *pipeline.Pipeline, review string, replaced map[string]bool) bool {
	n, _ := p.Node(review)
	return slices.ContainsFunc(n.Reviews, func(t pipeline.Target) bool { return !replaced[t.Node] })
}

// underReview keeps the values on the forms that a review checks.
func underReview(p *pipeline.Pipeline, review string, values form.Values) form.Values {
	out := form.Values{}
	node, _ := p.Node(review)
	for _, t := range node.Reviews {
		maps.Copy(out, ownFields(p, t.Node, values))
	}
	return out
}

// judgements reads the verdicts on a subtask's submission, as far back as a history shows.
func (s *Store) judgements(ctx context.Context, p *pipeline.Pipeline, all []round, d Done) ([]Judgement, error) {
	verdicts := verdictsOn(p, all, d)
	wanted := make([]piece, len(verdicts))
	for i, r := range verdicts {
		wanted[i] = piece{values: r.Seq, comments: r.Seq}
	}
	read, err := contents(ctx, s.pool, d.OrgID, d.TaskID, wanted)
	if err != nil {
		return nil, err
	}
	var out []Judgement
	for _, r := range verdicts {
		if c, ok := read[r.Seq]; ok {
			out = append(out, Judgement{
				Verdict: r.Verdict, Comments: about(c.Comments, d.Node), Values: ownFields(p, d.Node, c.Values), At: r.CreatedAt,
			})
		}
	}
	return out, nil
}

// verdictsOn lists the verdicts on a subtask's submission, up to its next one.
func verdictsOn(p *pipeline.Pipeline, all []round, d Done) []round {
	var out []round
	for _, r := range all {
		switch {
		case d.UndoneAt != nil, r.Seq <= d.Seq:
			continue
		case r.Node == d.Node:
			return out
		case !reviews(p, r.Node, d.Node), r.Verdict == VerdictReject && len(r.Returned) > 0 && !slices.Contains(r.Returned, d.Node):
			continue
		}
		out = append(out, r)
	}
	return out
}
