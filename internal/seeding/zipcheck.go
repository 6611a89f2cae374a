package seeding

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// PreCheck checks the items of a ZIP upload before its files are there, as Rows
// does; but file fields hold paths, and what only a file can tell, such as its
// size or media type, is left for later. errs, MaxErrors at most, are ordered by
// index, then field; ok tells for each item whether it is still good. budget is as
// for Rows.
func PreCheck(p *pipeline.Pipeline, items []Item, budget *form.Budget) (errs []ItemError, ok []bool) {
	c := preCheck{p: p, files: fileFields(p), starter: newStarter(p, budget)}
	c.routed = !c.startAsksFiles()
	ok = make([]bool, len(items))
	for i, item := range items {
		wrong := c.item(i, item, room(len(errs), len(items)-i-1))
		errs = append(errs, wrong...)
		ok[i] = len(wrong) == 0
	}
	return errs, ok
}

type preCheck struct {
	p       *pipeline.Pipeline
	files   []form.Field
	starter *starter
	// routed is set when the files themselves cannot decide where a task starts.
	routed bool
}

// item checks one item, which may list so many errors.
func (c *preCheck) item(i int, item Item, most int) []ItemError {
	refs, problems := fileRefs(c.files, item.Fields)
	fields := item.Fields
	if len(refs) > 0 {
		fields = maps.Clone(fields)
	}
	for j := range c.files {
		f := &c.files[j]
		if paths := refs[f.Name]; len(paths) > 0 {
			fields[f.Name] = standIn(f, paths)
		}
	}
	// Of a value that is no path, that is all there is to say.
	seed := slices.DeleteFunc(c.p.Seed.CheckSeed(fields, c.starter.budget.Part()), func(p form.Problem) bool {
		return slices.ContainsFunc(problems, func(own form.Problem) bool { return own.Field == p.Field })
	})
	if problems = slices.Concat(item.Problems, problems, seed); len(problems) > 0 {
		return itemErrors(i, problems, item.More, most)
	}
	if _, err := c.starter.start(fields); err != nil && (c.routed || !errors.Is(err, pipeline.ErrNoEntry)) {
		return []ItemError{{Index: i, Message: noRoute(err)}}
	}
	return nil
}

// startAsksFiles tells whether a condition at the start looks at a file field.
func (c *preCheck) startAsksFiles() bool {
	for _, e := range c.p.Definition.Edges {
		if e.From != c.starter.key || e.When == nil {
			continue
		}
		for _, name := range e.When.Fields() {
			if slices.ContainsFunc(c.files, func(f form.Field) bool { return f.Name == name }) {
				return true
			}
		}
	}
	return false
}

// standIn is a value with as many files of those names as there will be. Each is
// as small as can be, and of a media type that the field takes if it takes any
// by that; otherwise the name decides, as it will then.
func standIn(field *form.Field, paths []string) []byte {
	contentType := ""
	for _, a := range slices.Concat(field.Accept, field.Rules.Accept) {
		if !strings.HasPrefix(a, ".") {
			contentType = strings.Replace(a, "*", "x", 1)
			break
		}
	}
	files := make([]File, len(paths))
	for i, p := range paths {
		files[i] = File{FileID: "0", Name: path.Base(p), Size: 1, ContentType: contentType}
	}
	return FilesValue(field.Multiple, files)
}
