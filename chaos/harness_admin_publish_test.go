package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// publish turns the pipeline: it saves a draft in which other answers lead to more, and
// publishes it. Tasks that are there keep the version that they were created with.
func (a *admin) publish(ctx context.Context) error {
	revision, _, err := a.draftOf(ctx)
	if err != nil {
		return err
	}
	a.turn++
	says := a.org.turned(a.turn)
	_, err = a.do(ctx, request{
		Op: Op{Kind: opSave, Turn: a.turn}, method: http.MethodPut, path: a.pipeline("/draft"),
		in: object{"definition": a.org.definition(a.turn), "revision": revision}, refusals: []int{http.StatusConflict},
	})
	if errors.Is(err, errRefused) { // the first try has saved it
		_, there, lookErr := a.draftOf(ctx)
		if lookErr != nil {
			return lookErr
		}
		if there != says {
			a.run.Violate("I1: %s saved the draft %q, was told that somebody else had, and it is %q", a.who, says, there)
			return nil
		}
		err = nil
	}
	if err != nil {
		return err
	}
	var made struct {
		Version int `json:"version"`
	}
	_, err = a.do(ctx, request{
		Op: Op{Kind: opPublish, Turn: a.turn}, method: http.MethodPost, path: a.pipeline("/publish"), in: object{"note": says},
		out: &made, note: func(op *Op) { op.Version = made.Version },
	})
	return err
}

// draftOf looks up at which revision the draft is, and what it says of itself.
func (a *admin) draftOf(ctx context.Context) (revision int64, says string, err error) {
	var now struct {
		Revision int64 `json:"revision"`
		Draft    struct {
			Description string `json:"description"`
		} `json:"draft"`
	}
	_, err = a.do(ctx, request{Op: Op{Kind: opLook}, method: http.MethodGet, path: a.pipeline(""), out: &now})
	return now.Revision, now.Draft.Description, err
}

// published is a version that is there.
type published struct{ Number, Turn int }

// checkVersions is for pipelines that are published among creations. Each publish that
// was acknowledged has its version, once and with the draft that was saved before; no
// other is there. A task has a version that was there when it was created, and none that
// was replaced before somebody asked for it.
func (r *Run) checkVersions(ctx context.Context) error {
	ops := r.History.Ops()
	for _, o := range r.World.Orgs {
		rows, _ := r.Store().Pool().Query(ctx, `SELECT number, split_part(definition->>'description', ' ', 2)::int
			FROM pipeline_versions WHERE pipeline_id = $1 ORDER BY number`, o.Pipeline)
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[published])
		if err != nil {
			return err
		}
		live, err := r.Count(ctx, `SELECT v.number FROM pipelines p JOIN pipeline_versions v ON v.id = p.version_id WHERE p.id = $1`, o.Pipeline)
		if err != nil {
			return err
		}
		of := map[int64]int{} // versions of tasks, by number
		var task int64
		var number int
		rows, _ = r.Store().Pool().Query(ctx, `SELECT t.id, v.number FROM tasks t JOIN pipeline_versions v ON v.id = t.version_id
			WHERE t.pipeline_id = $1`, o.Pipeline)
		if _, err := pgx.ForEachRow(rows, []any{&task, &number}, func() error {
			of[task] = number
			return nil
		}); err != nil {
			return err
		}
		own := slices.DeleteFunc(slices.Clone(ops), func(op Op) bool { return op.Org != o.Mark })
		for _, wrong := range slices.Concat(wrongVersions(own, list, live), wrongVersionsOfTasks(own, list, of)) {
			r.Violate("versions: %s: %s", o.Mark, wrong)
		}
		r.Logf("the pipeline of %s was published %d times, its %d tasks have %d of the versions",
			o.Mark, len(list)-1, len(of), len(slices.Compact(slices.Sorted(maps.Values(of)))))
	}
	return nil
}

func wrongVersions(ops []Op, list []published, live int) (wrong []string) {
	tell := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	saved, turns := map[int]bool{0: true}, map[int]int{} // turns, by number
	for _, op := range ops {
		if op.Kind == opSave && op.Outcome != Refused {
			saved[op.Turn] = true
		}
	}
	last := -1
	for i, v := range list {
		turns[v.Number] = v.Turn
		switch {
		case v.Number != i+1:
			tell("version %d comes after %d others", v.Number, i)
		case v.Turn <= last:
			tell("version %d is of turn %d, the one before of turn %d", v.Number, v.Turn, last)
		case !saved[v.Turn]:
			tell("version %d is of turn %d, which nobody saved", v.Number, v.Turn)
		}
		last = v.Turn
	}
	if live != len(list) {
		tell("version %d of %d is what new tasks get", live, len(list))
	}
	for _, op := range ops {
		if op.Kind != opPublish || op.Outcome != OK {
			continue
		}
		if turn, ok := turns[op.Version]; !ok || turn != op.Turn {
			tell("turn %d was published as version %d, which is of turn %d", op.Turn, op.Version, turn)
		}
	}
	return wrong
}

func wrongVersionsOfTasks(ops []Op, list []published, of map[int64]int) (wrong []string) {
	type creation struct {
		from, to int64 // its first try was sent, its first answer came
		tasks    []int64
	}
	creations := map[string]creation{} // by key
	begun := map[int]int64{}           // when a turn was first saved
	var acked []Op                     // publishes
	for _, op := range ops {
		switch {
		case op.Kind == opCreate:
			c, again := creations[op.Key]
			if !again || op.Call < c.from {
				c.from = op.Call
			}
			if op.Outcome == OK && (c.tasks == nil || op.Return < c.to) {
				c.to, c.tasks = op.Return, op.Tasks
			}
			creations[op.Key] = c
		case op.Kind == opSave:
			if at, again := begun[op.Turn]; !again || op.Call < at {
				begun[op.Turn] = op.Call
			}
		case op.Kind == opPublish && op.Outcome == OK:
			acked = append(acked, op)
		}
	}
	slices.SortFunc(acked, func(a, b Op) int { return cmp.Compare(a.Version, b.Version) })
	turns := map[int]int{}
	for _, v := range list {
		turns[v.Number] = v.Turn
	}
	for _, key := range slices.Sorted(maps.Keys(creations)) {
		c := creations[key]
		least := 1
		for _, p := range acked {
			if p.Return < c.from {
				least = max(least, p.Version)
			}
		}
		for _, id := range c.tasks {
			number, ok := of[id]
			switch turn := turns[number]; {
			case !ok: // checkCreates says so
			case number < least:
				wrong = append(wrong, fmt.Sprintf("task %d of creation %s has version %d, version %d was published before anybody asked for it", id, key, number, least))
			case turn > 0 && begun[turn] > c.to:
				wrong = append(wrong, fmt.Sprintf("task %d of creation %s has version %d, which was saved after it was there", id, key, number))
			}
		}
	}
	return wrong
}

func TestVersionsAreCompared(t *testing.T) {
	t.Parallel()
	save := func(turn int, o Outcome) Op { return Op{Kind: opSave, Turn: turn, Outcome: o} }
	pub := func(turn, version int, o Outcome) Op {
		return Op{Kind: opPublish, Turn: turn, Version: version, Outcome: o}
	}
	for name, c := range map[string]struct {
		ops   []Op
		list  []published
		live  int
		right bool
	}{
		"published":                  {[]Op{save(1, OK), pub(1, 2, OK)}, []published{{1, 0}, {2, 1}}, 2, true},
		"may have been published":    {[]Op{save(1, OK), pub(1, 0, Unknown)}, []published{{1, 0}, {2, 1}}, 2, true},
		"may not have been":          {[]Op{save(1, OK), pub(1, 0, Unknown)}, []published{{1, 0}}, 1, true},
		"a turn that nobody told of": {[]Op{save(1, OK), save(2, Unknown), pub(2, 2, OK)}, []published{{1, 0}, {2, 2}}, 2, true},
		"lost":                       {[]Op{save(1, OK), pub(1, 2, OK)}, []published{{1, 0}}, 1, false},
		"twice":                      {[]Op{save(1, OK), pub(1, 2, OK)}, []published{{1, 0}, {2, 1}, {3, 1}}, 3, false},
		"an older draft":             {[]Op{save(1, OK), pub(1, 2, OK), save(2, OK), pub(2, 3, OK)}, []published{{1, 0}, {2, 2}, {3, 1}}, 3, false},
		"of nobody":                  {[]Op{save(1, Refused)}, []published{{1, 0}, {2, 1}}, 2, false},
		"a number left out":          {[]Op{save(1, OK), pub(1, 3, OK)}, []published{{1, 0}, {3, 1}}, 3, false},
		"an older one is live":       {[]Op{save(1, OK), pub(1, 2, OK)}, []published{{1, 0}, {2, 1}}, 1, false},
	} {
		wrong := wrongVersions(c.ops, c.list, c.live)
		require.Equal(t, c.right, len(wrong) == 0, "%s: %v", name, wrong)
	}
}

func TestATaskHasTheVersionOfItsCreation(t *testing.T) {
	t.Parallel()
	at := func(op Op, from, to int64) Op {
		op.Call, op.Return = from, to
		return op
	}
	create := Op{Kind: opCreate, Key: "k", Outcome: OK, Tasks: []int64{7}}
	tried := Op{Kind: opCreate, Key: "k", Outcome: Unknown}
	save, pub := Op{Kind: opSave, Turn: 1, Outcome: OK}, Op{Kind: opPublish, Turn: 1, Version: 2, Outcome: OK}
	list := []published{{1, 0}, {2, 1}}
	for name, c := range map[string]struct {
		ops   []Op
		has   int
		right bool
	}{
		"before":                         {[]Op{at(create, 1, 2), at(save, 3, 4), at(pub, 5, 6)}, 1, true},
		"before, and has the next":       {[]Op{at(create, 1, 2), at(save, 3, 4), at(pub, 5, 6)}, 2, false},
		"after":                          {[]Op{at(save, 3, 4), at(pub, 5, 6), at(create, 7, 8)}, 2, true},
		"after, and has the one before":  {[]Op{at(save, 3, 4), at(pub, 5, 6), at(create, 7, 8)}, 1, false},
		"meanwhile":                      {[]Op{at(save, 3, 4), at(create, 5, 8), at(pub, 6, 7)}, 1, true},
		"meanwhile, and has the next":    {[]Op{at(save, 3, 4), at(create, 5, 8), at(pub, 6, 7)}, 2, true},
		"tried before":                   {[]Op{at(tried, 1, 2), at(save, 3, 4), at(pub, 5, 6), at(create, 7, 8)}, 1, true},
		"sent again, and has the next":   {[]Op{at(create, 1, 2), at(save, 3, 4), at(pub, 5, 6), at(create, 7, 8)}, 2, false},
		"its publish has no answer":      {[]Op{at(save, 3, 4), at(Op{Kind: opPublish, Turn: 1, Outcome: Unknown}, 5, 6), at(create, 7, 8)}, 1, true},
		"its publish has none, and next": {[]Op{at(save, 3, 4), at(Op{Kind: opPublish, Turn: 1, Outcome: Unknown}, 5, 6), at(create, 7, 8)}, 2, true},
	} {
		wrong := wrongVersionsOfTasks(c.ops, list, map[int64]int{7: c.has})
		require.Equal(t, c.right, len(wrong) == 0, "%s: %v", name, wrong)
	}
}
