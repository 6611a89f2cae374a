package apply

import (
	"fmt"
	"reflect"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Limits of one definition with its aliases written out: a few lines of anybody
// must not fill the memory. What could be saved is within all of them, for that
// is at most pipeline.MaxDefinition bytes of JSON. A value takes two of them or
// more, a text as many as it has, and an item of a list a 64th or more of what
// it takes in memory.
const (
	maxDefinitionNodes = pipeline.MaxDefinition / 2
	maxDefinitionText  = 2 * pipeline.MaxDefinition
	maxDefinitionItems = 64 * pipeline.MaxDefinition
)

// ReadDefinition reads one pipeline from YAML or JSON: a definition by itself,
// what stands at a place of `pipelines` in a document, or a whole document
// with exactly one pipeline. Only the shape must be right. What is wrong is
// fault.Validation, each problem with its line.
func ReadDefinition(data []byte) (pipeline.Definition, error) {
	var d pipeline.Definition
	t, err := readTree(data, maxDefinitionNodes)
	if err != nil {
		return d, err
	}
	at, path, err := t.definition()
	if err != nil {
		return d, err
	}
	if n := at.textSize(); n > maxDefinitionText {
		return d, unreadable("the definition has %d bytes of text, aliases written out; at most %d are allowed", n, maxDefinitionText)
	}
	dec := decoder{most: maxShown, room: maxDefinitionItems}
	dec.storable(path, at)
	dec.decode(path, at, reflect.ValueOf(&d).Elem())
	if len(dec.problems) == 0 {
		return d, nil
	}
	problems := dec.problems
	for i, line := range dec.lines {
		if line > 0 {
			problems[i].Message = fmt.Sprintf("line %d: %s", line, problems[i].Message)
		}
	}
	first := problems[0]
	message := first.Message
	if first.Path != "" {
		message = first.Path + ": " + message
	}
	return d, fault.New(fault.Validation, "the definition cannot be read: %s", message).With(problems)
}

// maxShown bounds how many problems of one document are told.
const maxShown = 100

// definition finds the one definition of a document, and its place.
func (t tree) definition() (at tree, path string, err error) {
	switch {
	case t.kind == null:
		return t, "", unreadable("the document is empty; it needs a definition with name, nodes and edges")
	case t.kind != object:
		return t, "", unreadable("the document is %s; a definition is an object with name, nodes and edges", t.kind)
	}
	if inner, ok := t.get("definition"); ok {
		return inner, "definition", nil
	}
	if _, ok := t.get("organizations"); !ok {
		return t, "", nil
	}
	found := 0
	for i, org := range t.list("organizations") {
		for j, project := range org.list("projects") {
			for k, p := range project.list("pipelines") {
				found++
				at, _ = p.get("definition")
				path = fmt.Sprintf("organizations[%d].projects[%d].pipelines[%d].definition", i, j, k)
			}
		}
	}
	if found != 1 {
		return t, "", unreadable("the document has %d pipelines; give one with exactly one, or a definition by itself", found)
	}
	return at, path, nil
}

// list returns the items of a key that holds a list.
func (t tree) list(key string) []tree {
	if v, ok := t.get(key); ok && v.kind == list {
		return v.items
	}
	return nil
}
