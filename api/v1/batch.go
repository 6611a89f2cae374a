package v1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/api/internal/wirejson"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/seeding"
)

// maxTasks is the most tasks of one request (spec section 8).
const maxTasks = 5000

// createRequest describes the body of a creation in the document.
type createRequest struct {
	Tasks []createItem `json:"tasks" minItems:"1" maxItems:"5000" doc:"One item for each task to create."`
}

type createItem struct {
	Fields map[string]any `json:"fields" doc:"Field names of the schema endpoint (never titles) and their values."`
}

// decodeBatch reads a creation body that is JSON. What breaks the schema of
// the body refuses all of it; what is wrong inside `fields` is a problem of
// that item. Values stay slices of the body: 32 MB are in memory once.
//
// A key that `fields`, or an object inside a value, has twice is a problem of
// the item: taking the last one would drop what somebody meant. known are the
// names that a field may have.
func decodeBatch(body []byte, known func(name string) bool) ([]seeding.Item, error) {
	b := batch{known: known}
	b.object("the body", body, property{name: "tasks", required: true, read: b.readTasks})
	if b.err != nil {
		return nil, fault.New(fault.Validation, "%s", b.err)
	}
	return b.items, nil
}

// batch is one body under way; it ends at the first error.
type batch struct {
	known func(name string) bool
	items []seeding.Item
	// size is file_size_bytes of an upload; nil when it is not given.
	size *int64
	err  error
}

func (b *batch) fail(format string, args ...any) bool {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
	return false
}

// property is one that an object may have, and what reads its value.
type property struct {
	name     string
	required bool
	read     func(value []byte) bool
}

// object reads an object that has these properties and no others.
func (b *batch) object(where string, data []byte, properties ...property) bool {
	if wirejson.Shape(data) != '{' {
		return b.fail("%s must be an object with %s, got %s", where, names(properties), wirejson.Describe(data))
	}
	found := make([][]byte, len(properties))
	wirejson.Members(data, func(key string, value []byte) bool {
		i := slices.IndexFunc(properties, func(p property) bool { return p.name == key })
		switch {
		case i < 0:
			return b.fail("%s has the unknown property %s; expected only %s", where, edge.Quote(key), names(properties))
		case found[i] != nil:
			return b.fail("%s has %q twice", where, key)
		}
		found[i] = value
		return true
	})
	for i, p := range properties {
		switch {
		case b.err != nil:
			return false
		case found[i] != nil:
			p.read(found[i])
		case p.required:
			b.fail("%s must have %q", where, p.name)
		}
	}
	return b.err == nil
}

func names(properties []property) string {
	quoted := make([]string, len(properties))
	for i, p := range properties {
		quoted[i] = strconv.Quote(p.name)
	}
	return strings.Join(quoted, " and ")
}

func (b *batch) readTasks(value []byte) bool {
	if wirejson.Shape(value) != '[' {
		return b.fail("tasks must be an array, got %s", wirejson.Describe(value))
	}
	wirejson.Elements(value, b.readItem)
	if b.err == nil && len(b.items) == 0 {
		return b.fail("tasks must have 1 to %d items, got none", maxTasks)
	}
	return b.err == nil
}

func (b *batch) readItem(value []byte) bool {
	i := len(b.items)
	if i == maxTasks {
		return b.fail("tasks must have 1 to %d items, got more; send them in several requests", maxTasks)
	}
	return b.object(fmt.Sprintf("tasks[%d]", i), value, property{name: "fields", required: true, read: func(fields []byte) bool {
		if wirejson.Shape(fields) != '{' {
			return b.fail("tasks[%d].fields must be an object, got %s", i, wirejson.Describe(fields))
		}
		b.items = append(b.items, readFields(fields, b.known))
		return true
	}})
}

// maxNames is how many names one item is read with, far more than a pipeline
// can have fields: 32 MB of made-up names would take minutes to tell one by one.
const maxNames = 5000

// maxKept is how many problems, and how many names that no field has, are kept of
// one item: as many as an answer lists. 32 MB of either would become twenty times
// as much.
const maxKept = 20

func readFields(fields []byte, known func(name string) bool) seeding.Item {
	item := seeding.Item{Fields: form.Values{}}
	read, unknown := 0, 0
	wirejson.Members(fields, func(name string, value []byte) bool {
		if read++; read > maxNames {
			return false
		}
		if _, twice := item.Fields[name]; twice {
			keep(&item, name, "field %s is given more than once", name)
			return true
		}
		if !known(name) {
			if unknown++; unknown > maxKept {
				return true
			}
		}
		if key, twice := wirejson.Duplicate(value); twice {
			keep(&item, name, "the value has the key %s twice in one object", key)
		}
		item.Fields[name] = json.RawMessage(value)
		return true
	})
	if more := unknown - maxKept; more > 0 {
		// The check of the names that are kept tells of these only.
		noun := "more names"
		if more == 1 {
			noun = "more name"
		}
		item.Problems = append(item.Problems, form.Problem{Message: fmt.Sprintf("%d %s that cannot be given", more, noun)})
	}
	if read > maxNames {
		item.Problems = append(item.Problems, form.Problem{Message: fmt.Sprintf("fields has more than %d names; the rest was not read", maxNames)})
	}
	return item
}

// keep adds a problem to an item, or counts it when there are enough; message
// has one place, for a name of the caller's.
func keep(item *seeding.Item, field, message, name string) {
	if len(item.Problems) == maxKept {
		item.More++
		return
	}
	item.Problems = append(item.Problems, form.Problem{Field: field, Message: fmt.Sprintf(message, edge.Quote(name))})
}
