package form

import "encoding/json"

// env finds the values of fields for conditions, sources and equals_field, and parses each at most once.
type env struct {
	layers []Values
	// hidden fields are empty.
	hidden map[string]bool
	parsed map[string]value
}

// newEnv looks in the layers in order; the first that has the name decides.
func newEnv(layers ...Values) *env { return &env{layers: layers} }

// raw returns the JSON of a field and whether any layer knows it.
func (e *env) raw(name string) (json.RawMessage, bool) {
	if e.hidden[name] {
		return nil, false
	}
	for _, layer := range e.layers {
		if raw, ok := layer[name]; ok {
			return raw, true
		}
	}
	return nil, false
}

// field returns the value of a field: null when it is absent, hidden, empty or not JSON, so that nothing can tell an
// empty value, which is not stored, from an absent one.
func (e *env) field(name string) value {
	if e.hidden[name] {
		return value{}
	}
	if v, ok := e.parsed[name]; ok {
		return v
	}
	raw, ok := e.raw(name)
	if !ok {
		return value{}
	}
	v, err := parse(raw)
	if err != nil || v.empty() {
		v = value{}
	}
	if e.parsed == nil {
		e.parsed = make(map[string]value)
	}
	e.parsed[name] = v
	return v
}

// find is the lookup for values some of which come later: what no layer has is not known.
func (e *env) find(name string) (value, bool) {
	_, known := e.raw(name)
	return e.field(name), known
}

// settled is the lookup for a submission, where nothing comes later: what no layer has is known to be empty.
func (e *env) settled(name string) (value, bool) { return e.field(name), true }
