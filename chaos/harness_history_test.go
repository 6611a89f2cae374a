package chaos

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"time"
)

// Outcome is what a client knows of a call.
type Outcome string

const (
	// OK was acknowledged: its effect must be there, once.
	OK Outcome = "ok"
	// Refused was answered with 4xx: it must have left nothing.
	Refused Outcome = "refused"
	// Unknown was cut, timed out or was answered with 5xx: either may be true,
	// also later.
	Unknown Outcome = "unknown"
)

// The kinds of calls.
const (
	opLogin   = "login"
	opCreate  = "create"
	opPoll    = "poll"
	opClaim   = "claim"
	opMine    = "my claims"
	opDraft   = "draft"
	opRead    = "read draft"
	opSubmit  = "submit"
	opReview  = "review"
	opRelease = "release"
	opExtend  = "extend"
	opUndo    = "undo"
	opReset   = "bring back" // what was skipped
)

// Op is one call as its client saw it. A call that is repeated is one Op each
// time; those of one intention share Intent.
type Op struct {
	Intent  int64   `json:"intent"`
	Who     string  `json:"who"`
	Org     string  `json:"org"`
	Kind    string  `json:"kind"`
	Call    int64   `json:"call"`   // Unix time in nanoseconds
	Return  int64   `json:"return"` // also of an unknown one: when the client gave up
	Outcome Outcome `json:"outcome"`
	Status  int     `json:"status,omitempty"` // 0 without an answer
	Error   string  `json:"error,omitempty"`
	Server  string  `json:"server"`

	Claim     string `json:"claim,omitempty"`
	Task      int64  `json:"task,omitempty"`
	Node      string `json:"node,omitempty"`
	Iteration int    `json:"iteration,omitempty"`
	// LeaseEnds is of a claim that was given or extended, Unix time in nanoseconds. An
	// undo that was acknowledged has what is told of the claim that it gave.
	LeaseEnds int64 `json:"lease_ends,omitempty"`
	// Key is the Idempotency-Key of a create. Tasks are the ids that came back: of
	// what was created, or of those whose priority was set. Left are tasks of which the
	// answer says that it may or may not have been.
	Key   string  `json:"key,omitempty"`
	Tasks []int64 `json:"tasks,omitempty"`
	Left  []int64 `json:"left,omitempty"`
	// Revision is that of a draft that was saved.
	Revision int64 `json:"revision,omitempty"`
	// Turn is that of a pipeline whose draft is saved or published, Version the number
	// that it was published as.
	Turn    int `json:"turn,omitempty"`
	Version int `json:"version,omitempty"`
	// Person is who is given a role, or loses it.
	Person string `json:"person,omitempty"`
	// Object is what an admin makes or changes besides tasks, by its number: a project, a
	// pipeline, an invite.
	Object int64 `json:"object,omitempty"`
	// Skip says that what is given back is not to be served to them again for now.
	Skip bool `json:"skip,omitempty"`
	// File is one that a person uploads, SHA256 of what they put, or of what they were
	// told is there.
	File   string `json:"file,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Content is what was sent: the body as JSON.
	Content json.RawMessage `json:"content,omitempty"`
}

// History is what all clients saw. It is safe for everybody at once.
type History struct {
	mu      sync.Mutex
	ops     []Op
	intents int64
	counts  map[Outcome]int64
	// acked counts acknowledged calls that changed something by the tenth of a
	// second.
	acked map[int64]int
}

func newHistory() *History {
	return &History{counts: map[Outcome]int64{}, acked: map[int64]int{}}
}

const tick = int64(100 * time.Millisecond)

// intent numbers what somebody wants to do.
func (h *History) intent() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.intents++
	return h.intents
}

func (h *History) add(op Op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
	h.counts[op.Outcome]++
	if op.Outcome == OK && op.changed() {
		h.acked[op.Return/tick]++
	}
}

// forget leaves out the calls of a time whose effects a restore took away. Whoever
// calls it knows that none was under way at either end of it.
func (h *History) forget(from, to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = slices.DeleteFunc(h.ops, func(op Op) bool {
		gone := op.Call >= from.UnixNano() && op.Return <= to.UnixNano()
		if gone {
			h.counts[op.Outcome]--
		}
		return gone
	})
}

// Ops returns a copy of all that was seen.
func (h *History) Ops() []Op {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Op(nil), h.ops...)
}

// Since returns a copy of what ended since then, without a look at the rest.
func (h *History) Since(from time.Time) []Op {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := len(h.ops)
	for i > 0 && h.ops[i-1].Return >= from.UnixNano() { // they are added as they end
		i--
	}
	return append([]Op(nil), h.ops[i:]...)
}

// Count returns how many calls ended so.
func (h *History) Count(o Outcome) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counts[o]
}

// changed tells an acknowledged call that changed something from polls and
// from claims on an empty queue.
func (op Op) changed() bool {
	switch op.Kind {
	case opLogin, opPoll, opMine, opRead, opReset, opPut, opLook:
		return false
	case opClaim:
		return op.Claim != ""
	}
	return true
}

// forTheRole tells a call that was refused for the lack of a role, which says nothing of
// what the call is about: a try before it may have been in time.
func (op Op) forTheRole() bool {
	return op.Outcome == Refused && slices.Contains(notAMember, op.Status)
}

// AckedWithin returns how many calls that changed something were acknowledged
// in the time before now.
func (h *History) AckedWithin(d time.Duration, now time.Time) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := now.UnixNano() / tick
	for t := last - int64(d)/tick + 1; t <= last; t++ {
		n += h.acked[t]
	}
	return n
}

// Dump writes the history as lines of JSON, one a call, in the order in which
// the clients heard of them.
func (h *History) Dump(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, op := range h.Ops() {
		if err := enc.Encode(op); err != nil {
			_ = f.Close()
			return err
		}
	}
	if err := w.Flush(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
