package demo

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// deed is something that people did.
type deed int

const (
	submitted deed = iota
	drafted
	released
	abandoned
	lost
	rejected
	reworked
	approved
	deeds
)

var deedNames = [deeds]string{
	"submitted", "drafts saved", "claims released", "claims abandoned",
	"claims lost", "rejected", "reworked", "approved",
}

// tally counts deeds; safe for everybody at once.
type tally struct{ n [deeds]atomic.Int64 }

func (t *tally) add(d deed) { t.n[d].Add(1) }

func (t *tally) line() string {
	return fmt.Sprintf("submitted %d, approved %d, rejected %d, released %d, abandoned %d",
		t.n[submitted].Load(), t.n[approved].Load(), t.n[rejected].Load(), t.n[released].Load(), t.n[abandoned].Load())
}

func (t *tally) table() string {
	var b strings.Builder
	for d, name := range deedNames {
		fmt.Fprintf(&b, "  %-18s %6d\n", name, t.n[d].Load())
	}
	return b.String()
}
