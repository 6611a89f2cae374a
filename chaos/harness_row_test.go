package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Row is one row of the fault matrix: under load, each of its faults in turn is
// injected, held and healed; everything must work again within the deadline;
// in the end everything is checked. docs/chaos.md says how to add one.
type Row struct {
	// Number and Name are those of docs/chaos.md: 1, "API killed mid-command".
	Number int
	Name   string
	// Settings change the load or the processes; Seed is filled in.
	Settings func(s *Settings)
	// Faults come one after the other, all of them Rounds times (1 unless set).
	Faults []Fault
	Rounds int
	// Hold is how long each stays broken.
	Hold time.Duration
	// Deadline is how long recovery may take; 60 s unless set.
	Deadline time.Duration
	// Prepare runs before the load begins, During after each fault was injected
	// (Hold counts from its return; Fault.During is for one fault alone), After
	// when all work has come to rest. They call r.Violate for a broken promise;
	// an error means that the row itself did not work.
	Prepare, During, After func(ctx context.Context, r *Run) error
}

// RunRow runs a row from an empty stack to its verdict.
func RunRow(t *testing.T, row Row) {
	t.Helper()
	name := fmt.Sprintf("row-%02d", row.Number)
	row.skip(t)
	seed := seedOf(t)
	t.Logf("row %d, %s: CHAOS_SEED=%d", row.Number, row.Name, seed)
	s := Settings{Seed: seed, Load: DefaultLoad(peopleOf(t))}
	s.Load.CutShare, s.Load.LoseShare = 0, 0 // a row has its own faults only
	if row.Settings != nil {
		row.Settings(&s)
	}
	r := startRun(t, s)
	ctx := t.Context()
	if row.Prepare != nil {
		require.NoError(t, row.Prepare(ctx, r))
	}
	r.cutShare(s.Load.CutShare)
	r.Work()
	for range max(1, row.Rounds) {
		for _, f := range row.Faults {
			row.one(ctx, r, f)
		}
	}
	r.Finish(ctx)
	if err := row.proves(r.injected()); err != nil {
		t.Errorf("%v", err) // and go on: what was found is told, too
	}
	if row.After != nil {
		require.NoError(t, row.After(ctx, r))
	}
	r.verdict(name)
}

// one injects a fault, holds and heals it, and waits for the recovery.
func (row Row) one(ctx context.Context, r *Run, f Fault) {
	r.t.Helper()
	r.warm(ctx)
	require.NoError(r.t, r.Floor(ctx))
	injected := time.Now()
	heal := r.inject(ctx, f.Name, f.again(missedFor))
	for _, during := range []func(context.Context, *Run) error{f.During, row.During} {
		if during != nil {
			require.NoError(r.t, during(ctx, r))
		}
	}
	hold := cmp.Or(f.Hold, row.Hold)
	r.hold(ctx, f, hold, injected)
	r.heal(ctx, f.Name, f, heal)
	healed, deadline := time.Now(), cmp.Or(f.Deadline, row.Deadline, recoverWithin)
	r.Recover(ctx, f.Name, true, deadline)
	r.settles(ctx, f.Name, healed, deadline)
	if hold < servedFor {
		r.servedSince(ctx, f, injected, healed)
	}
}

// proves is an error when a fault of the row found nothing to break: what the row says
// of it was not tried.
func (row Row) proves(injected int) error {
	if planned := max(1, row.Rounds) * len(row.Faults); injected != planned {
		return fmt.Errorf("invalid run: %d of %d faults of row %d found something to break", injected, planned, row.Number)
	}
	return nil
}

// missedFor is how long a row tries to break what was not there: a process that just
// starts, runs that have not begun.
const missedFor = 10 * time.Second

// again lets a fault that finds nothing to break look once more, for a while.
func (f Fault) again(within time.Duration) Fault {
	once := f.Inject
	f.Inject = func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		for began := time.Now(); ; {
			heal, err := once(ctx, r)
			if !errors.Is(err, errMissed) || time.Since(began) >= within {
				return heal, err
			}
			r.Logf("%s: %v; once more", f.Name, err)
			if waited := r.pause(ctx, within/10); waited != nil {
				return heal, waited
			}
		}
	}
	return f
}

// inject breaks something and counts it under its kind, unless there was nothing
// to break.
func (r *Run) inject(ctx context.Context, kind string, f Fault) func(context.Context) error {
	r.t.Helper()
	r.Logf("fault: %s (%d calls acknowledged in the last %s)", f.Name, r.History.AckedWithin(floorWindow, time.Now()), floorWindow)
	heal, err := f.Inject(ctx, r)
	if errors.Is(err, errMissed) {
		r.Logf("%s: %v; not counted", f.Name, err)
		return nil
	}
	require.NoError(r.t, err, "inject %s", f.Name)
	r.mu.Lock()
	r.faults[kind]++
	r.mu.Unlock()
	return heal
}

// injected is how many faults have broken something.
func (r *Run) injected() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range r.faults {
		n += of
	}
	return n
}

// heal ends a fault, and takes it off the count of its kind when it has broken
// nothing meanwhile.
func (r *Run) heal(ctx context.Context, kind string, f Fault, heal func(context.Context) error) {
	r.t.Helper()
	if heal == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	err := heal(ctx)
	if errors.Is(err, errMissed) {
		r.Logf("%s: %v; not counted", f.Name, err)
		r.mu.Lock()
		r.faults[kind]--
		r.mu.Unlock()
		return
	}
	require.NoError(r.t, err, "heal %s", f.Name)
}

// skip leaves out rows that nobody asked for. CHAOS_ROWS names those to run:
// "all", or numbers with commas.
func (row Row) skip(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("breaks a whole stack for a while")
	}
	asked := os.Getenv("CHAOS_ROWS")
	if asked != "all" && !slices.Contains(strings.Split(asked, ","), strconv.Itoa(row.Number)) {
		t.Skipf("make chaos ROW=%d runs it", row.Number)
	}
}

// mustNotSkip fails a test that is skipped from here on: its row was asked for,
// and one that cannot run here must not look like one that passed.
func mustNotSkip(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if t.Skipped() {
			t.Error("this row was asked for and could not run")
		}
	})
}

// seedOf is CHAOS_SEED, or a new one.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	s := os.Getenv("CHAOS_SEED")
	if s == "" {
		return uint64(time.Now().UnixNano())
	}
	seed, err := strconv.ParseUint(s, 10, 64)
	require.NoError(t, err, "CHAOS_SEED is a whole number from 0")
	return seed
}

// peopleOf is CHAOS_LOAD: how many times the people of DefaultLoad.
func peopleOf(t *testing.T) int {
	t.Helper()
	s := os.Getenv("CHAOS_LOAD")
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	require.NoError(t, err, "CHAOS_LOAD is a whole number from 1")
	require.Positive(t, n, "CHAOS_LOAD is a whole number from 1")
	return n
}
