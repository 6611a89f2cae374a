package pipeline

import (
	"slices"

	"github.com/taskloom/taskloom/internal/task"
)

// doubt is what may still change in a task. Both sets only grow while it is
// worked out.
type doubt struct {
	w *walk
	// unsure marks the nodes whose outcome may still change: those that are not
	// done, those that a review which may still reject could send back, the
	// reviews of such nodes, and what fell away, or could fall away, because of
	// them.
	unsure []bool
	// loose marks the nodes that may still fall away: no way to them is taken, as
	// where people are at work on a way that was left, or each hangs on an outcome
	// that may change.
	loose []bool
	queue []int
}

// unsure marks the nodes whose outcome may still change. A submitted node that
// is not among them is finished for good, so that a finished node never opens
// again and never falls away (docs/adr/0006).
func (w *walk) unsure() []bool {
	d := doubt{w: w, unsure: make([]bool, len(w.g.Nodes)), loose: make([]bool, len(w.g.Nodes))}
	for i := 1; i < w.last(); i++ {
		if !w.decided(i) {
			d.mark(i)
		}
	}
	for i := 1; i < w.last(); i++ {
		d.loosen(i)
	}
	for len(d.queue) > 0 {
		i := d.queue[0]
		d.queue = d.queue[1:]
		d.spread(i)
	}
	return d.unsure
}

func (d *doubt) mark(i int) {
	if !d.unsure[i] {
		d.unsure[i] = true
		d.queue = append(d.queue, i)
	}
}

// spread marks what an unsure or loose node makes unsure or loose.
func (d *doubt) spread(i int) {
	w := d.w
	if d.unsure[i] {
		for _, u := range w.d.undoes[i] {
			if w.node(u).Status == task.NodeSubmitted {
				d.mark(u)
			}
		}
		for _, r := range w.d.reviewers[i] {
			if w.node(r).Status == task.NodeSubmitted || w.fellAway(r) {
				d.mark(r)
			}
		}
	}
	for _, next := range w.g.Nodes[i].Next {
		if next == w.last() {
			continue
		}
		if w.fellAway(next) {
			d.mark(next)
		}
		d.loosen(next)
	}
}

// loosen notes of a node that lets the walk go on whether it may cease to.
func (d *doubt) loosen(i int) {
	n := d.w.node(i)
	switch {
	case !d.w.d.chooses || d.loose[i] || n.Status == task.NodeFinished:
		return
	case n.Status == task.NodeNA && (!n.Passed || !d.w.fellAway(i)) || d.sure(i):
		return
	}
	d.loose[i] = true
	d.queue = append(d.queue, i)
	if n.Status == task.NodeSubmitted {
		d.mark(i)
	}
}

// sure reports whether a way to node i stays taken, whatever is still to come.
func (d *doubt) sure(i int) bool {
	w := d.w
	return slices.ContainsFunc(w.g.Nodes[i].Prev, func(p int) bool {
		if p == 0 {
			return !slices.Contains(w.s.StartSkipped, w.g.Nodes[i].Key)
		}
		n := w.node(p)
		switch {
		case d.loose[p] || n.Status == task.NodeNA && !n.Passed:
			return false
		case slices.Contains(w.g.Nodes[p].Choices, i):
			return !d.unsure[p] && !slices.Contains(n.Skipped, w.g.Nodes[i].Key)
		}
		return true
	})
}
