package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Comment is a reviewer's remark on a field.
type Comment struct {
	Node  string `json:"node,omitempty"`
	Field string `json:"field"`
	Text  string `json:"text"`
	// Verdict is ok or wrong, on the field's answer; "" says nothing.
	Verdict string `json:"verdict,omitempty"`
}

// submission is what a person handed in for a node.
type submission struct {
	Node      string      `db:"node_key"`
	Iteration int         `db:"iteration"`
	Author    int64       `db:"author"`
	Verdict   string      `db:"verdict"`
	Values    form.Values `db:"values"`
	Comments  []Comment   `db:"comments"`
	Seq       int64       `db:"seq"`
	CreatedAt time.Time   `db:"created_at"`
}

const submissionColumns = `node_key, iteration, author, verdict, values, comments, seq, created_at`

// submissionsSQL is the newest submission of every node of task $1 of organization $2
// that was not taken back, in the order they were made. Of reviews it is every
// correction, too: a review that another one opens again goes through what it had
// corrected, and says nothing about it when that is right. Those count. The older ones
// of subtasks that were there when a correction was made do not; what it hid depends on
// them.
//
// A subtask that fell away, because the task takes another way now or an admin skipped
// it, answers for nothing, and a review on a way that was left corrects nothing. Where a
// task failed, all that was not finished fell away, and what had counted until then stays
// readable.
const submissionsSQL = `SELECT ` + submissionColumns + `, counts FROM (
		SELECT s.*, correction OR iteration = max(iteration) OVER (PARTITION BY node_key) AS counts,
			max(seq) FILTER (WHERE correction) OVER () AS corrected
		FROM (SELECT *, verdict = 'approve' AND s.values <> '{}' AS correction FROM submissions s
			WHERE task_id = $1 AND org_id = $2 AND undone_at IS NULL) s) s
	WHERE (counts OR verdict = '' AND seq < corrected)
		AND (SELECT count(*) FROM task_nodes n WHERE n.task_id = $1 AND n.key = s.node_key AND n.status = 'na'
			AND (n.reason IN ('handed_in', 'handed_in_unseen') OR n.kind = 'subtask' AND (SELECT t.status FROM tasks t WHERE t.id = $1) <> 'failed')) = 0
	ORDER BY seq`

// said is a submission; those that do not Count only explain what came of the others.
type said struct {
	submission

	Counts bool `db:"counts"`
}

// answers merges everything known about a task's fields: seeded and static
// values, then what was submitted, later over earlier. A subtask's newest
// submission replaces all that was said about its fields before, also by a
// reviewer; what a reviewer said of one that is not among them counts as little as
// that one does. A subtask may be among them more than once.
func answers(p *pipeline.Pipeline, input form.Values, subs []submission) form.Values {
	m := merging(p, input)
	for _, sub := range subs {
		m.add(sub.Node, sub.Values)
	}
	return m.known
}

// merge is what answers does, one submission after the other.
type merge struct {
	p        *pipeline.Pipeline
	known    form.Values
	handedIn []string
}

func merging(p *pipeline.Pipeline, input form.Values) *merge {
	m := &merge{p: p, known: p.Statics()}
	maps.Copy(m.known, input)
	return m
}

// add merges what was handed in for a node.
func (m *merge) add(node string, values form.Values) {
	if f := m.p.Form(node); f != nil {
		replace(m.known, f, values)
		m.handedIn = append(m.handedIn, node)
		return
	}
	if len(values) > 0 {
		correct(m.p, node, m.known, values, m.handedIn)
	}
}

// correct lays a reviewer's corrections of these subtasks over what is known. An answer
// that they hide is gone, as if its author had corrected it: what is hidden is neither
// asked for nor kept. One that was hidden before is not theirs to take.
func correct(p *pipeline.Pipeline, review string, known, fixes form.Values, handedIn []string) {
	before := maps.Clone(known)
	for _, n := range p.Graph.Nodes { // in its order, since conditions look at fields before
		if !slices.Contains(handedIn, n.Key) || !reviews(p, review, n.Key) {
			continue
		}
		correctOne(p, n.Key, before, known, fixes)
	}
}

// correctOne is correct for one subtask, after those before it.
func correctOne(p *pipeline.Pipeline, subtask string, before, known, fixes form.Values) {
	maps.Copy(known, ownFields(p, subtask, fixes))
	f := p.Form(subtask)
	was, is := f.Visible(before), f.Visible(known)
	for _, field := range f.Fields() {
		if field.Input == form.Contributor && was[field.Name] && !is[field.Name] {
			delete(known, field.Name)
		}
	}
}

// replace puts what is handed in for a subtask in the place of all that was said
// about its fields before: an answer that is left out this time was withdrawn.
func replace(known form.Values, f *form.Form, handedIn form.Values) {
	for _, field := range f.Fields() {
		if field.Input == form.Contributor {
			delete(known, field.Name)
		}
	}
	maps.Copy(known, handedIn)
}

// answered is what is known of a task's answers, and how far the task had come when that
// was read.
type answered struct {
	values          form.Values
	subs            []submission // those that count
	seq, appliedSeq int64

	// What values are merged from; rounds are subs and those that explain what came of them.
	input  form.Values
	rounds []submission
}

// still reports whether nothing has happened to the locked task since then.
func (a answered) still(t *lockedTask) bool { return a.seq == t.Seq && a.appliedSeq == t.AppliedSeq }

// taskAnswers reads and merges the answers of one task. A table of submissions that was
// empty when Postgres last counted it is not read whole for them. How far the task has come
// is read first, so that answers may be newer than that and never older.
func taskAnswers(ctx context.Context, q querier, p *pipeline.Pipeline, c Claim) (answered, error) {
	var known answered
	var all []said
	b := &pgx.Batch{}
	b.Queue(byIndexSQL)
	b.Queue(`SELECT input, seq, applied_seq FROM tasks WHERE id = $1 AND org_id = $2`, c.TaskID, c.OrgID).
		QueryRow(func(row pgx.Row) error { return row.Scan(&known.input, &known.seq, &known.appliedSeq) })
	b.Queue(submissionsSQL, c.TaskID, c.OrgID).Query(func(rows pgx.Rows) (err error) {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByName[said])
		return err
	})
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return answered{}, err
	}
	for _, sub := range all {
		known.rounds = append(known.rounds, sub.submission)
		if sub.Counts {
			known.subs = append(known.subs, sub.submission)
		}
	}
	known.values = answers(p, known.input, known.rounds)
	return known, nil
}

// claimAnswers is taskAnswers with the version of the claim's task.
func (s *Store) claimAnswers(ctx context.Context, c Claim) (*pipeline.Pipeline, answered, error) {
	p, err := s.Version(ctx, c.VersionID)
	if err != nil {
		return nil, answered{}, err
	}
	known, err := taskAnswers(ctx, s.pool, p, c)
	return p, known, err
}

// only keeps the named values.
func only(v form.Values, names []string) form.Values {
	out := form.Values{}
	for _, n := range names {
		if raw, ok := v[n]; ok {
			out[n] = raw
		}
	}
	return out
}

// shown lists the fields whose values the form of a node may show: its own
// that people do not fill in, and those of others that its conditions, sources and
// rules look at.
func shown(f *form.Form) []string {
	var names, own []string
	for _, field := range f.Fields() {
		if field.Input == form.Contributor {
			own = append(own, field.Name)
		} else {
			names = append(names, field.Name)
		}
	}
	for _, field := range f.Fields() {
		looksAt := append([]string{field.Source, field.Rules.EqualsField}, field.Sources...)
		if field.VisibleWhen != nil {
			looksAt = append(looksAt, field.VisibleWhen.Fields()...)
		}
		for _, name := range looksAt {
			if !slices.Contains(own, name) { // what it says of them here is of an earlier round
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// problemsOf turns a form's problems into the error that callers see.
func problemsOf(ps []form.Problem) error {
	if len(ps) == 0 {
		return nil
	}
	out := make([]fault.Problem, len(ps))
	for i, p := range ps {
		out[i] = fault.Problem{Field: p.Field, Path: p.Path, Message: p.Message}
	}
	const one = "field %q needs another answer: %s"
	if len(ps) == 1 && ps[0].Field == "" {
		return fault.New(fault.Validation, "%s", ps[0].Message).With(out)
	}
	if len(ps) == 1 {
		return fault.New(fault.Validation, one, cut(ps[0].Field), ps[0].Message).With(out)
	}
	return fault.New(fault.Validation, "%d fields need another answer; "+one, len(ps), cut(ps[0].Field), ps[0].Message).With(out)
}
