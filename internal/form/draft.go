package form

import "fmt"

// MaxDraftBytes is the largest draft: the JSON of all its values and their names.
const MaxDraftBytes = 1 << 20

// CheckDraft refuses of a draft only what cannot be kept: names that are no field of the form, more than
// MaxDraftBytes, and values that are not JSON or cannot be stored. A draft may be incomplete and invalid.
func (f *Form) CheckDraft(submitted Values) []Problem {
	size := 0
	for name, raw := range submitted {
		size += len(name) + len(raw)
	}
	if size > MaxDraftBytes {
		return []Problem{{Message: fmt.Sprintf("the draft has %d bytes, at most %d are kept", size, MaxDraftBytes)}}
	}
	var names []string
	faults := map[string]string{}
	for name, raw := range submitted {
		if _, ok := f.index[name]; !ok {
			faults[name] = "unknown field " + quote(name)
		} else if _, err := scan(raw); err != nil {
			faults[name] = "the value " + err.Error()
		} else {
			continue
		}
		names = append(names, name)
	}
	return refused(names, func(name string) string { return faults[name] })
}
