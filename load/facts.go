package main

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taskloom/taskloom/load/internal/record"
)

// facts is what clients know: what they hold, and what they were told is done.
type facts struct {
	contributors, reviewers crew
	tasks                   []int64 // whose status is asked for
	window                  window
	probes                  atomic.Bool  // steps are timed
	submitted, judged       atomic.Int64 // how often somebody has handed in, and given a verdict

	mu        sync.Mutex
	held      map[nodeKey]string // claim by node, as long as it is held
	double    int64              // nodes that were given out while held
	handedIn  []string           // claims whose submission or verdict was acked
	said      [][]byte           // of each of these, the SHA-256 of its words
	ids       []int64            // tasks whose creation was acked
	missing   int64              // of such tasks that were to be removed again, those that were not there
	unsure    int64              // tasks that may have been created
	ingested  int64              // tasks of archives
	skipped   map[string]int64   // what was due and found nobody to do it, by why
	tallies   map[string]tally   // the same below an overload, by kind
	overdue   atomic.Int64       // steps that were not seen in time
	archives  []ingestion        // those that got in
	walkRates []float64          // tasks a second, of each walk that came to its end
	admitted  int64              // at overload, of what has an objective
	inside    int64              // of these, within it
	peeks     int64              // reads by another organization's program
	leaks     int64              // of these, not answered 404
	polls     polled             // of queues, by the clock
	idle      polled             // of these, those whose callers did nothing since the last
}

type nodeKey struct {
	task int64
	node string
}

// claimed notes what somebody was given, and that it was somebody else's
// already. Leases do not run out within a handling time.
func (f *facts) claimed(w work) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := nodeKey{w.TaskID, w.Node}
	if f.held[k] != "" {
		f.double++
	}
	f.held[k] = w.ClaimID
}

// released notes that something is about to be handed in, or that who has it
// goes home: from then on it may be given out again, whatever the answer, or when
// the lease ends.
func (f *facts) released(h *hold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held, nodeKey{h.task, h.node})
}

// acked notes that a submission or a verdict was taken, with these words.
func (f *facts) acked(claim, words string) {
	sum := sha256.Sum256([]byte(words))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handedIn, f.said = append(f.handedIn, claim), append(f.said, sum[:])
}

func (f *facts) created(ids []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids = append(f.ids, ids...)
}

// removed notes that the tasks whose creation was acked are taken away again, and how
// many of them were there.
func (f *facts) removed(there int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.missing += int64(len(f.ids)) - there
	f.ids = nil
}

// sure is how many tasks were acked.
func (f *facts) sure() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ids)
}

// admit notes a call that was let in while there was too much.
func (f *facts) admit(inside bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.admitted++
	if inside {
		f.inside++
	}
}

// peeked notes how another organization's program was answered.
func (f *facts) peeked(leak bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.peeks++
	if leak {
		f.leaks++
	}
}

func (f *facts) uncertain(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unsure += n
}

// archived notes an archive that is said to be done. What it made beyond its
// files nobody asked for, and its speed counts only when all of them are tasks.
func (f *facts) archived(a ingestion, created int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ingested += int64(min(created, a.files))
	if created != a.files {
		return fmt.Errorf("%d of %d files became tasks", created, a.files)
	}
	f.archives = append(f.archives, a)
	return nil
}

// walked notes how quick a walk was.
func (f *facts) walked(rate float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.walkRates = append(f.walkRates, rate)
}

// polled notes how a poll was answered, and whether its caller has done nothing since
// the last one.
func (f *facts) polled(idle, same bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.polls.add(same)
	if idle {
		f.idle.add(same)
	}
}

// window keeps single observations of a while, to find out since when all was
// well again.
type window struct {
	mu   sync.Mutex
	gate float64 // by how much the limits are loosened; 0 keeps nothing
	seen []observation
}

type observation struct {
	at   time.Time
	good bool
}

// add notes whether a request that has an objective met it. The limits of keys
// count by the minute: who asked too much in an overload meets them for a while
// after it, and nothing is wrong with that.
func (w *window) add(k record.Key, at time.Time, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if limit, known := windowLimits[k.Op]; w.gate > 0 && known && k.Class != record.Stale && k.Class != record.Limited {
		w.seen = append(w.seen, observation{at, k.Class == record.OK && took.Seconds() <= w.gate*limit.Seconds()})
	}
}

// open begins to keep them.
func (w *window) open(gate float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate = gate
}

// all are those so far.
func (w *window) all() []observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]observation(nil), w.seen...)
}
