package main

import (
	"errors"
	"fmt"

	"github.com/taskloom/taskloom/internal/store"
)

// adviceAway goes with what a part of the deployment kept from being looked at.
const adviceAway = "not everything was looked at, because %s failed: %s; see what `taskloom doctor` says of that part, and ask again"

// partError is the failure of a part outside the database.
type partError struct {
	part string // in words, with what it was asked
	err  error
}

func (e *partError) Error() string { return e.part + ": " + e.err.Error() }

func (e *partError) Unwrap() error { return e.err }

// cutShort notes in the findings what kept the doctor from looking further, if
// anything did: what was found by then stands, and all other checks go on.
func cutShort(err error, findings ...*deepFinding) {
	if err == nil {
		return
	}
	why := fmt.Sprintf(adviceAway, "the database", oneLine(err))
	if p, ok := errors.AsType[*partError](err); ok {
		why = fmt.Sprintf(adviceAway, p.part, oneLine(err))
	} else if store.RanOut(err) {
		why = adviceLate
	}
	for _, f := range findings {
		f.unseen = why
		if f.Verdict != failure {
			f.Verdict = skipped
		}
	}
}
