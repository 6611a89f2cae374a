package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// foldInvariants are what only the graph can tell: a task's journal, gone
// through from its first event, against the task's rows.
var foldInvariants = []Invariant{
	{
		Name: "journal-readable", Promise: "I4", scope: ofJournal,
		Says: "the journal of every task can be gone through, by this version of the product",
		Advice: "no command of this version mends it. Where a kind of event is not known, a newer version wrote it: ask with that one. " +
			"Where a task cannot have begun, " + adviceRestore,
	},
	{
		Name: "rows-follow-journal", Promise: "I4", Heal: healTask, scope: ofJournal,
		Says: "the journal of every task at rest, as far as it can be gone through, leads to its rows and its status",
	},
	{
		Name: "claim-alone", Promise: "I2", Advice: adviceIncident, scope: ofJournal,
		Says: "nobody lost a node that they held before its lease was over, neither to somebody else nor as expired",
	},
}

// CheckJournal folds the journals of tasks after the id and compares the
// outcome with the tasks' rows: what the journal says must be what is there.
// Tasks with events that are still to be applied are not compared. It reads at
// most limit tasks, locks no rows, and returns the last id that it read, 0 at
// the end.
func (s *Store) CheckJournal(ctx context.Context, after int64, limit int) ([]Violation, int64, error) {
	var out []Violation
	for left := limit; left > 0; {
		n, last, err := s.foldPage(ctx, checkTimeout, after, math.MaxInt64, min(left, journalsAtOnce), func(v Violation) { out = append(out, v) })
		if err != nil {
			return nil, 0, translate(err)
		}
		if n == 0 {
			return out, 0, nil
		}
		left, after = left-n, last
	}
	return out, after, nil
}

// fold checks the journals of the tasks in (after, last]. All that folding tells is
// late when reading them is.
func (c *check) fold(ctx context.Context, after, last int64) error {
	for len(c.asked(ofJournal)) > 0 {
		n, read, err := c.store.foldPage(ctx, cmp.Or(c.Patience, checkTimeout), after, last, journalsAtOnce, func(v Violation) { c.add(v) })
		if c.late(err, ofJournal) {
			return nil
		}
		if err != nil || n < journalsAtOnce || read == last {
			return err
		}
		if err := pause(ctx, c.Pause); err != nil {
			return err
		}
		after = read
	}
	return nil
}

// written is a task as its rows have it.
type written struct {
	ID         int64       `db:"id"`
	VersionID  int64       `db:"version_id"`
	Status     task.Status `db:"status"`
	Held       bool        `db:"held"`
	Touched    bool        `db:"touched"`
	Seq        int64       `db:"seq"`
	AppliedSeq int64       `db:"applied_seq"`
	Skipped    []string    `db:"start_skipped"`

	nodes  map[string]pipeline.NodeState
	events []journaled
}

// journaled is an event with its time.
type journaled struct {
	pipeline.Event

	at time.Time
}

// foldPage checks the first n journals in (after, last], and returns how many there
// were and the last task's id. One snapshot reads them; they are gone through after its
// end, because those of large pipelines take longer than a transaction may idle
// (idleInTransaction).
func (s *Store) foldPage(
	ctx context.Context, limit time.Duration, after, last int64, n int, tell func(Violation),
) (found int, read int64, err error) {
	var page []*written
	graphs := map[int64]pipeline.Graph{}
	err = s.snapshot(ctx, limit, func(tx pgx.Tx) (err error) {
		if page, err = readPage(ctx, tx, after, last, n); err != nil {
			return err
		}
		return s.graphsOf(ctx, tx, page, graphs)
	})
	if err != nil || len(page) == 0 {
		return 0, 0, err
	}
	for _, w := range page {
		if g, ok := graphs[w.VersionID]; ok { // otherwise tenant-of-task tells it
			w.check(g, tell)
		}
	}
	return len(page), page[len(page)-1].ID, nil
}

// graphsOf reads the graphs of the versions that tasks have, of those that are there.
func (s *Store) graphsOf(ctx context.Context, tx pgx.Tx, page []*written, graphs map[int64]pipeline.Graph) error {
	for _, w := range page {
		if _, ok := graphs[w.VersionID]; ok {
			continue
		}
		p, err := s.versionIn(ctx, tx, w.VersionID)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		graphs[w.VersionID] = p.Graph
	}
	return nil
}

func readPage(ctx context.Context, tx pgx.Tx, after, last int64, n int) ([]*written, error) {
	rows, _ := tx.Query(ctx, `SELECT id, version_id, status, held, touched, seq, applied_seq, start_skipped FROM tasks
		WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`, after, last, n)
	page, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByNameLax[written])
	if err != nil || len(page) == 0 {
		return nil, err
	}
	of := make(map[int64]*written, len(page))
	for _, w := range page {
		of[w.ID], w.nodes = w, map[string]pipeline.NodeState{}
	}
	to := page[len(page)-1].ID
	b := &pgx.Batch{}
	b.Queue(`SELECT task_id, key, status, iteration, coalesce(claim_id::text, ''), coalesce(actor, 0), skipped, passed, reworks, reason
		FROM task_nodes WHERE task_id > $1 AND task_id <= $2`, after, to).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var id int64
			var n pipeline.NodeState
			if err := rows.Scan(&id, &n.Key, &n.Status, &n.Iteration, &n.Claim, &n.Actor, &n.Skipped, &n.Passed, &n.Reworks, &n.Reason); err != nil {
				return err
			}
			if w := of[id]; w != nil {
				w.nodes[n.Key] = n
			}
		}
		return rows.Err()
	})
	b.Queue(`SELECT e.task_id, e.created_at, `+eventColumns+` FROM task_events e
		WHERE e.task_id > $1 AND e.task_id <= $2 ORDER BY e.task_id, e.seq`, after, to).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var id int64
			var e journaled
			var lease *time.Time
			if err := rows.Scan(append([]any{&id, &e.at}, eventFields(&e.Event, &lease)...)...); err != nil {
				return err
			}
			e.LeaseEnds = orZero(lease)
			if w := of[id]; w != nil {
				w.events = append(w.events, e)
			}
		}
		return rows.Err()
	})
	return page, tx.SendBatch(ctx, b).Close()
}

// check goes through the journal of one task.
func (w *written) check(g pipeline.Graph, tell func(Violation)) {
	wrong := func(invariant, format string, args ...any) {
		tell(Violation{Invariant: invariant, TaskID: w.ID, Where: fmt.Sprintf("task %d", w.ID) + fmt.Sprintf(format, args...)})
	}
	st, err := pipeline.Start(g, w.Skipped)
	if err != nil {
		wrong("journal-readable", ": it cannot have begun: %s", err)
		return
	}
	for _, e := range w.events {
		if !e.Kind.Known() {
			wrong("journal-readable", ": %s", pipeline.Unknown(e.Event))
			return
		}
		if how := early(st, e); how != "" {
			wrong("claim-alone", " node %s: event %d %s", e.Node, e.Seq, how)
		}
		st, _ = pipeline.Step(g, st, e.Event)
	}
	if w.AppliedSeq != w.Seq || int64(len(w.events)) != w.Seq {
		return // on its way, or journal-gap-free tells it
	}
	w.compare(st, w.before(g, st), wrong)
}

// before is where the journal led in releases that knew no choices, when some row is
// there and not where this release would have put it: what such a release did stays. Of
// all other tasks it is empty.
func (w *written) before(g pipeline.Graph, st pipeline.State) pipeline.State {
	elsewhere := func(n pipeline.NodeState) bool { return !sameNode(w.nodes[n.Key], n) }
	if !slices.ContainsFunc(st.Nodes, elsewhere) {
		return pipeline.State{}
	}
	events := make([]pipeline.Event, len(w.events))
	for i, e := range w.events {
		events[i] = e.Event
	}
	old, err := pipeline.Fold(g.WithoutChoices(), w.Skipped, events)
	if err != nil || !slices.ContainsFunc(old.Nodes, func(n pipeline.NodeState) bool {
		is, _ := st.Node(n.Key)
		return elsewhere(is) && !elsewhere(n)
	}) {
		return pipeline.State{}
	}
	return old
}

// compare tells where the rows differ from where the journal led, by this release or,
// node by node, by one before it.
func (w *written) compare(st, before pipeline.State, wrong func(invariant, format string, args ...any)) {
	known := make(map[string]bool, len(st.Nodes))
	is := make([]task.NodeStatus, len(st.Nodes))
	for i, want := range st.Nodes {
		known[want.Key], is[i] = true, want.Status
		have, ok := w.nodes[want.Key]
		old, led := before.Node(want.Key)
		switch {
		case !ok:
			wrong("rows-follow-journal", " node %s: it has no row", want.Key)
		case led && sameNode(have, old):
			is[i] = have.Status
		case !sameNode(have, want):
			wrong("rows-follow-journal", " node %s: the row says %s, the journal %s", want.Key, told(have), told(want))
		}
	}
	for key := range w.nodes {
		if !known[key] {
			wrong("rows-follow-journal", " node %s: it has a row, but is no node of its pipeline's version %d", key, w.VersionID)
		}
	}
	want := task.Derive(is, task.Flags{Failed: st.Failed, Held: st.Held, Touched: st.Touched})
	if want != w.Status || st.Held != w.Held || st.Touched != w.Touched {
		wrong("rows-follow-journal", ": the row says %s, the journal %s", flagged(w.Status, w.Held, w.Touched), flagged(want, st.Held, st.Touched))
	}
}

// early says how an event took a node from who held it before the lease was over,
// "" when it did not. The lease is that of the claim's own event: extensions are in
// no journal, and only lengthen it. Who ends a claim otherwise, its holder, an admin
// or a time limit, has other kinds of events.
func early(st pipeline.State, e journaled) string {
	// What the state calls claimed the rows called claimed, too: only a later
	// event could have changed either.
	n, ok := st.Node(e.Node)
	if !ok || n.Status != task.NodeClaimed || !e.at.Before(n.LeaseEnds) {
		return ""
	}
	held := fmt.Sprintf("claim %s held it until %s", n.Claim, n.LeaseEnds.Format(time.RFC3339))
	switch {
	case e.Kind == pipeline.EventClaim && e.Claim != n.Claim:
		return fmt.Sprintf("gave it to user %d as claim %s, while %s", e.Actor, e.Claim, held)
	case e.Kind == pipeline.EventExpire:
		return "called it expired, while " + held
	}
	return ""
}

func told(n pipeline.NodeState) string {
	s := fmt.Sprintf("%s round %d", n.Status, n.Iteration)
	if n.Claim != "" {
		s += " claim " + n.Claim
	}
	if n.Actor != 0 {
		s += fmt.Sprintf(" by user %d", n.Actor)
	}
	if r := decisive(n); r != "" {
		s += ", " + r
	}
	return s
}

func flagged(s task.Status, held, touched bool) string {
	out := string(s)
	if held {
		out += ", held"
	}
	if touched {
		out += ", taken up"
	}
	return out
}

// decisive is a node's reason where what follows depends on it: whether a node
// that is na fell away, with what was handed in or without, or was skipped for good, and how far the automation has come
// of one that is closed. Elsewhere it is words for people.
func decisive(n pipeline.NodeState) string {
	away := n.Status == task.NodeNA && slices.Contains([]string{pipeline.ReasonSkipped, pipeline.ReasonHandedIn, pipeline.ReasonUnseen}, n.Reason)
	closed := n.Status == task.NodePending || n.Status == task.NodeDeferred || n.Status == task.NodeNA
	automation := closed && (n.Reason == pipeline.ReasonPrepared || n.Reason == pipeline.ReasonAutomation)
	if away || automation {
		return n.Reason
	}
	return ""
}

// sameNode compares what the journal decides; clocks and reservations that
// ran out are the rows' own.
func sameNode(a, b pipeline.NodeState) bool {
	for _, n := range []*pipeline.NodeState{&a, &b} {
		n.LeaseEnds, n.SLAEnds, n.ReservedFor, n.Reason = time.Time{}, time.Time{}, 0, decisive(*n)
		if len(n.Skipped) == 0 {
			n.Skipped = nil
		}
	}
	return reflect.DeepEqual(a, b)
}
