package console

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// Work is a claim with everything that its holder needs, and nothing else.
type Work struct {
	Claim
	Title        string      `json:"title" doc:"Title of the node."`
	Instructions string      `json:"instructions" doc:"Markdown."`
	Fields       []Field     `json:"fields" doc:"The form. For a review, the forms of the subtasks under review."`
	Values       form.Values `json:"values" doc:"What the form shows: seeded and fixed values, and the answers that its conditions look at."`
	Draft        *Draft      `json:"draft" doc:"What the holder wrote so far; after a rejection, what they submitted. Null when there is nothing."`
	Pipeline     string      `json:"pipeline" doc:"Name of the pipeline."`
	Project      string      `json:"project" doc:"Name of the project."`
	Comments     []Comment   `json:"comments" doc:"Of the rejection that returned the node."`
	Earlier      []Attempt   `json:"earlier" doc:"What the holder handed in for this node before and got back, oldest first."`
	Reviewed     []Reviewed  `json:"reviewed" doc:"For a review: what it checks."`
	UndoOf       *Undone     `json:"undo_of" doc:"What this claim undoes, to go on from: null for every other claim."`
	Files        []File      `json:"files" doc:"The files that the values of the form name: those that the task was created with, and those that people uploaded for it."`
}

// Draft is unfinished work.
type Draft struct {
	Values    form.Values `json:"values"`
	Revision  int64       `json:"revision" doc:"Send it with the next save; 0 when nothing was saved yet."`
	UpdatedAt time.Time   `json:"updated_at"`
}

// Comment is a reviewer's remark.
type Comment struct {
	Node  string `json:"node,omitempty"`
	Field string `json:"field,omitempty"`
	Text  string `json:"text"`

	Verdict string `json:"verdict,omitempty" enum:"ok,wrong" doc:"On the field's answer, where the reviewer gave one."`
}

// Attempt is what somebody handed in for a subtask in an earlier round, and
// the rejection that returned it.
type Attempt struct {
	Iteration int         `json:"iteration"`
	Values    form.Values `json:"values"`
	At        time.Time   `json:"at"`
	Verdict   string      `json:"verdict" enum:",reject" doc:"Empty when an admin reopened it instead."`
	Comments  []Comment   `json:"comments"`
}

// Undone is a submission or a verdict that its author took back.
type Undone struct {
	ClaimID  string      `json:"claim_id" doc:"The claim under which it was handed in."`
	Verdict  string      `json:"verdict" enum:",approve,reject,escalate" doc:"Of a review; empty for a subtask."`
	Values   form.Values `json:"values"`
	Comments []Comment   `json:"comments"`
	At       time.Time   `json:"at" doc:"When it was handed in."`
}

// Reviewed is one subtask under review.
type Reviewed struct {
	Node      string      `json:"node"`
	Title     string      `json:"title"`
	Fields    []string    `json:"fields" doc:"Names of the fields to check; an approval may correct these."`
	Values    form.Values `json:"values"`
	Iteration int         `json:"iteration"`
	Author    Person      `json:"author" doc:"Who handed it in."`
	Earlier   []Attempt   `json:"earlier" doc:"Its earlier rounds, oldest first."`
}

// Field is a form field as people who work with it see it: field by field, so
// that criteria, prompts and models of the definition never slip through.
type Field struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	Type         string          `json:"type"`
	Input        string          `json:"input" enum:"contributor,seeded,static,llm"`
	Required     bool            `json:"required,omitempty"`
	Width        int             `json:"width,omitempty"`
	Value        json.RawMessage `json:"value,omitempty"`
	Placeholder  string          `json:"placeholder,omitempty"`
	Style        string          `json:"style,omitempty"`
	Unit         string          `json:"unit,omitempty"`
	Options      []form.Option   `json:"options,omitempty"`
	AllowOther   bool            `json:"allow_other,omitempty"`
	Languages    []string        `json:"languages,omitempty"`
	Scale        *form.Scale     `json:"scale,omitempty"`
	Rows         []form.Option   `json:"rows,omitempty"`
	Columns      []form.Column   `json:"columns,omitempty"`
	ItemType     string          `json:"item_type,omitempty"`
	Items        []form.Option   `json:"items,omitempty"`
	AllowTies    bool            `json:"allow_ties,omitempty"`
	Choices      []string        `json:"choices,omitempty"`
	Labels       []form.Option   `json:"labels,omitempty"`
	AllowOverlap bool            `json:"allow_overlap,omitempty"`
	Source       string          `json:"source,omitempty"`
	Sources      []string        `json:"sources,omitempty"`
	Accept       []string        `json:"accept,omitempty"`
	Multiple     bool            `json:"multiple,omitempty"`
	Schemes      []string        `json:"schemes,omitempty"`
	Hosts        []string        `json:"hosts,omitempty"`
	Rules        form.Rules      `json:"rules,omitzero"`
	VisibleWhen  *form.Condition `json:"visible_when,omitempty"`
}

func newField(f form.Field) Field {
	return Field{
		Name: f.Name, Title: f.Title, Description: f.Description, Type: string(f.Type), Input: string(f.Input),
		Required: f.Required, Width: f.Width, Value: f.Value, Placeholder: f.Placeholder, Style: f.Style, Unit: f.Unit,
		Options: f.Options, AllowOther: f.AllowOther, Languages: f.Languages, Scale: f.Scale, Rows: f.Rows,
		Columns: f.Columns, ItemType: string(f.ItemType), Items: f.Items, AllowTies: f.AllowTies, Choices: f.Choices,
		Labels: f.Labels, AllowOverlap: f.AllowOverlap, Source: f.Source, Sources: f.Sources, Accept: f.Accept,
		Multiple: f.Multiple, Schemes: f.Schemes, Hosts: f.Hosts, Rules: f.Rules, VisibleWhen: f.VisibleWhen,
	}
}

// work puts together what the holder of a claim sees.
func (a *api) work(ctx context.Context, c store.Claim) (*Work, error) {
	w, err := a.Store.Work(ctx, c)
	if err != nil {
		return nil, err
	}
	p, err := a.Store.Version(ctx, c.VersionID)
	if err != nil {
		return nil, err
	}
	node, _ := p.Node(c.Node)
	out := &Work{
		Claim: newClaim(c), Title: node.Title, Instructions: node.Instructions,
		Fields: formOf(p, node), Values: notNil(w.Values), Comments: newComments(w.Comments), Reviewed: []Reviewed{},
		Pipeline: w.Pipeline, Project: w.Project, Earlier: newAttempts(w.Earlier),
	}
	if out.Files, err = a.filesIn(ctx, c.OrgID, c.TaskID, out.Fields, w.Values, written(w)...); err != nil {
		return nil, err
	}
	if w.Draft != nil {
		out.Draft = &Draft{Values: notNil(w.Draft.Values), Revision: w.Draft.Revision, UpdatedAt: w.Draft.UpdatedAt.UTC()}
	}
	if u := w.UndoOf; u != nil {
		out.UndoOf = &Undone{
			ClaimID: u.ClaimID, Verdict: u.Verdict, Values: notNil(u.Values), Comments: newComments(u.Comments), At: u.At.UTC(),
		}
	}
	for _, r := range w.Reviewed {
		under, _ := p.Node(r.Node)
		out.Reviewed = append(out.Reviewed, Reviewed{
			Node: r.Node, Title: under.Title, Fields: r.Fields, Values: notNil(r.Values), Iteration: r.Iteration,
			Author: newPerson(r.Author), Earlier: newAttempts(r.Earlier),
		})
	}
	return out, nil
}

// written lists what people wrote, beside the task's values, that is on the screen and
// may name files.
func written(w store.Work) []form.Values {
	var sets []form.Values
	if w.Draft != nil {
		sets = append(sets, w.Draft.Values)
	}
	if w.UndoOf != nil {
		sets = append(sets, w.UndoOf.Values)
	}
	attempts := slices.Clone(w.Earlier)
	for _, r := range w.Reviewed {
		sets = append(sets, r.Values)
		attempts = append(attempts, r.Earlier...)
	}
	for _, t := range attempts {
		sets = append(sets, t.Values)
	}
	return sets
}

func newComments(comments []store.Comment) []Comment {
	out := make([]Comment, len(comments))
	for i, c := range comments {
		out[i] = Comment(c)
	}
	return out
}

func newAttempts(attempts []store.Attempt) []Attempt {
	out := make([]Attempt, len(attempts))
	for i, t := range attempts {
		out[i] = Attempt{
			Iteration: t.Iteration, Values: notNil(t.Values), At: t.At.UTC(), Verdict: t.Verdict, Comments: newComments(t.Comments),
		}
	}
	return out
}

// formOf lists the fields that a node shows: its own, or those of the subtasks
// that it reviews, in the order of the graph. Whoever decides the conditions of all of
// them as one form has to find what they look at before them.
func formOf(p *pipeline.Pipeline, node pipeline.Node) []Field {
	source := slices.Clone(node.Fields)
	for _, target := range p.Targets(node) {
		if under, ok := p.Node(target.Node); ok {
			source = append(source, under.Fields...)
		}
	}
	out := make([]Field, len(source))
	for i, f := range source {
		out[i] = newField(f)
	}
	return out
}

func notNil(v form.Values) form.Values {
	if v == nil {
		return form.Values{}
	}
	return v
}
