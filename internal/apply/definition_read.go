package apply

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// ReadDefinition reads one pipeline from YAML or JSON: a definition by itself,
// what stands at a place of `pipelines` in a document, or a whole document
// with exactly one pipeline. Only the shape must be right. What is wrong is
// fault.Validation, each problem with its line.
func ReadDefinition(data []byte) (pipeline.Definition, error) {
	var d pipeline.Definition
	t, err := readTree(data)
	if err != nil {
		return d, err
	}
	at, path, err := t.definition()
	if err != nil {
		return d, err
	}
	dec := decoder{}
	dec.storable(path, at)
	dec.decode(path, at, reflect.ValueOf(&d).Elem())
	if len(dec.problems) == 0 {
		return d, nil
	}
	lines := map[string]int{}
	at.lines(path, lines)
	problems := dec.problems[:min(len(dec.problems), maxShown)]
	for i, p := range problems {
		if line := lines[p.Path]; line > 0 {
			problems[i].Message = fmt.Sprintf("line %d: %s", line, p.Message)
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

// lines notes the line of everything in the tree, by its path.
func (t tree) lines(path string, into map[string]int) {
	if _, known := into[path]; !known {
		into[path] = t.line
	}
	for i, item := range t.items {
		at := path + "[" + strconv.Itoa(i) + "]"
		if t.kind == object {
			at = join(path, t.keys[i])
			// Of a repeated key the place is where it comes again.
			if slices.Contains(t.keys[:i], t.keys[i]) {
				delete(into, at)
			}
		}
		item.lines(at, into)
	}
}
