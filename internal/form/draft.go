package form

import "fmt"

// MaxDraftBytes is the largest draft: the JSON of all its values and their names, as it was sent and as MaxValueBytes
// counts it.
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
	grown, most := 0, "" // the field whose numbers grow most when they are stored
	for name, raw := range submitted {
		p := parser{data: raw, scan: true}
		if _, ok := f.index[name]; !ok {
			faults[name] = "unknown field " + quote(name)
		} else if _, err := p.document(); err != nil {
			faults[name] = "the value " + err.Error()
		} else {
			size += p.grown
			if p.grown > grown || p.grown == grown && name < most {
				grown, most = p.grown, name
			}
			continue
		}
		names = append(names, name)
	}
	if size > MaxDraftBytes {
		names = append(names, most)
		faults[most] = "the draft " + errGrown(size, MaxDraftBytes).Error()
	}
	return refused(names, func(name string) string { return faults[name] })
}
