package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// rowsAtOnce is how many derived rows one transaction stores.
const rowsAtOnce = 5000

// lookRetry is when a look that another one took over from comes again, to find
// that one complete or, if it was given up for dead, to begin anew: two that
// took over from each other in haste would never end.
const lookRetry = 15 * time.Second

// allRows is no limit: an init holds a few thousand rows.
const allRows = 1 << 30

// InspectArchive reads the directory of an archive and notes what there is to
// do: the rows, where they come from the archive, and the totals.
func (a *Uploads) InspectArchive(ctx context.Context, in UploadRef) (UploadProgress, error) {
	defer keepAlive(ctx)()
	leave, err := a.enter(ctx)
	if err != nil {
		return UploadProgress{}, err
	}
	defer leave()
	out, err := a.inspect(ctx, in)
	return out, outwardOf(ctx, err)
}

func (a *Uploads) inspect(ctx context.Context, in UploadRef) (UploadProgress, error) {
	id, err := parseUpload(in.UploadID)
	if err != nil {
		return UploadProgress{}, err
	}
	u, err := a.Store.LoadUpload(ctx, id)
	if err != nil || u.Status != store.UploadProcessing || u.Inspected {
		return progress(u), err
	}
	if u.CancelRequested {
		return UploadProgress{}, errCalledOff()
	}
	working, end := a.untilCancelled(ctx, id)
	defer end()
	i, err := a.open(working, u)
	if err == nil {
		err = i.inspect(working)
	}
	if why, ok := errors.AsType[*unusable](err); ok {
		return a.refuse(ctx, u, why)
	}
	if err != nil && errors.Is(context.Cause(working), errCancelled) {
		return UploadProgress{}, errCalledOff()
	}
	superseded := errors.Is(err, store.ErrNewerLook)
	if err != nil && !superseded && !fault.Is(err, fault.Conflict) { // Conflict: it has ended meanwhile
		return UploadProgress{}, err
	}
	u, err = a.Store.LoadUpload(ctx, id)
	if err == nil && superseded && u.Status == store.UploadProcessing && !u.Inspected {
		return UploadProgress{}, errSuperseded()
	}
	return progress(u), err
}

// inspect makes the plan, and the rows of an upload without its own.
func (i *ingestion) inspect(ctx context.Context) error {
	s, err := i.shape(ctx)
	if err != nil {
		return err
	}
	var plan planner
	plan.entries = make(map[*archive.Entry]bool)
	for _, skipped := range i.archive.Skipped {
		plan.skip(skipped.Name, skipped.Reason)
	}
	if i.upload.Derived {
		err = i.derive(ctx, s.pipeline, &plan)
	} else {
		err = i.survey(ctx, s.pipeline, &plan)
	}
	if err != nil {
		return err
	}
	for _, e := range i.archive.Entries {
		if plan.entries[e] && e.Problem == "" {
			plan.BytesTotal += e.Size
		}
	}
	return i.Store.SaveUploadPlan(ctx, i.upload.ID, plan.UploadPlan)
}

// planner adds up what there is to do.
type planner struct {
	store.UploadPlan

	entries map[*archive.Entry]bool // that rows name
}

func (p *planner) skip(entry, reason string) {
	p.SkippedCount++
	if len(p.Skipped) < store.MaxSkipped {
		p.Skipped = append(p.Skipped, store.UploadSkip{Entry: entry, Reason: reason})
	}
}

// derive makes the rows from the archive's listing and stores them.
func (i *ingestion) derive(ctx context.Context, p *pipeline.Pipeline, plan *planner) error {
	paths := make([]string, len(i.archive.Entries))
	for n, e := range i.archive.Entries {
		paths[n] = e.Name
	}
	derived, ignored, err := seeding.DeriveRows(p, paths, i.archive.Folders)
	if err != nil {
		return ofArchive(err)
	}
	bad := map[string]string{}
	for _, e := range i.archive.Entries {
		if e.Problem != "" {
			bad[e.Name] = e.Problem
		}
	}
	for _, skipped := range ignored {
		plan.skip(skipped.Path, cmp.Or(bad[skipped.Path], skipped.Reason))
	}
	if plan.Look, err = i.Store.BeginUploadLook(ctx, i.upload.ID); err != nil {
		return err
	}
	plan.Derived = len(derived)
	rows := make([]store.UploadRow, 0, min(len(derived), rowsAtOnce))
	for n, d := range derived {
		rows = append(rows, store.UploadRow{Index: n, Fields: d.Fields, Errors: derivedErrors(n, d)})
		i.note(p, d.Fields, plan)
		if len(rows) == rowsAtOnce || n == len(derived)-1 {
			if err := i.Store.SaveUploadRows(ctx, i.upload.ID, plan.Look, rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	return nil
}

// derivedErrors names the file or folder: the caller never saw the row's index.
// They are in the order of all errors of a row: by field, and what concerns the
// row as a whole first.
func derivedErrors(index int, d seeding.DerivedRow) []seeding.ItemError {
	var out []seeding.ItemError
	for _, p := range d.Problems {
		message := p.Message
		if !strings.Contains(message, d.Name) {
			message = fmt.Sprintf("the folder %s: %s", quoted(d.Name), message)
		}
		out = append(out, seeding.ItemError{Index: index, FieldName: p.Field, Message: message})
	}
	slices.SortStableFunc(out, func(a, b seeding.ItemError) int { return cmp.Compare(a.FieldName, b.FieldName) })
	return out
}

// survey finds what the rows of the request name, and what none of them does.
func (i *ingestion) survey(ctx context.Context, p *pipeline.Pipeline, plan *planner) error {
	rows, err := i.Store.WaitingRows(ctx, i.upload.ID, allRows)
	if err != nil {
		return err
	}
	for _, r := range rows {
		i.note(p, r.Fields, plan)
	}
	for _, e := range i.archive.Entries {
		if !plan.entries[e] {
			plan.skip(e.Name, "no row that can become a task names it")
		}
	}
	return nil
}

// note marks the entries that a row names.
func (i *ingestion) note(p *pipeline.Pipeline, fields form.Values, plan *planner) {
	refs, _ := seeding.FileRefs(p, seeding.Item{Fields: fields}) // its problems are the row's, in its turn
	for _, paths := range refs {
		for _, path := range paths {
			if e, err := i.archive.Find(path); err == nil {
				plan.entries[e] = true
			}
		}
	}
}
