package form

import "fmt"

// MaxDraftBytes is the largest draft: the JSON of all its values and their names, as it was sent and as MaxValueBytes
// counts it.
const MaxDraftBytes = 1 << 20

// MaxHandInBytes is the most that is handed in at a time, counted like a draft.
const MaxHandInBytes = 2 << 20

// CheckDraft refuses of a draft only what cannot be kept: names that are no field of the form, more than
// MaxDraftBytes, and values that are not JSON or cannot be stored. A draft may be incomplete and invalid.
func (f *Form) CheckDraft(submitted Values) []Problem { return f.checkKept(submitted, MaxDraftBytes) }

// CheckLate is CheckDraft for what was handed in too late and becomes a draft by that: up to MaxHandInBytes are kept,
// for nobody had the chance to make it less.
func (f *Form) CheckLate(submitted Values) []Problem { return f.checkKept(submitted, MaxHandInBytes) }

func (f *Form) checkKept(submitted Values, most int) []Problem {
	size := 0
	for name, raw := range submitted {
		size += len(name) + len(raw)
	}
	if size > most {
		return []Problem{{Message: fmt.Sprintf("the draft has %d bytes, at most %d are kept", size, most)}}
	}
	var names []string
	faults := map[string]string{}
	grown, swollen := 0, "" // the field whose numbers grow most when they are stored
	for name, raw := range submitted {
		p := parser{data: raw, scan: true}
		if _, ok := f.index[name]; !ok {
			faults[name] = "unknown field " + quote(name)
		} else if _, err := p.document(); err != nil {
			faults[name] = "the value " + err.Error()
		} else {
			size += p.grown
			if p.grown > grown || p.grown == grown && name < swollen {
				grown, swollen = p.grown, name
			}
			continue
		}
		names = append(names, name)
	}
	if size > most {
		names = append(names, swollen)
		faults[swollen] = "the draft " + errGrown(size, most).Error()
	}
	return refused(names, func(name string) string { return faults[name] })
}
