package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// cpuKinds are the processes that CPU time is drawn of; what is none of the stack
// and not the client is the contender's own.
var cpuKinds = []struct{ name, says, colour string }{
	{partPostgres, "Postgres", "#1f4e9e"},
	{"", "own processes", "#c2571a"},
	{partTemporal, "Temporal", "#5a8f3c"},
	{partS3, "object store", "#a88a12"},
	{usageClient, "client", "#999999"},
}

// cpuBar is what one contender uses, and its parts in the order of cpuKinds.
type cpuBar struct {
	name  string
	batch bool
	whole float64
	parts []float64
}

// cpuPlot shows the CPU time of one item, or of what the race counts, by process;
// nothing where no figure tells it.
func (r *raceResult) cpuPlot() string {
	at := slices.IndexFunc(r.Figures, func(f figure) bool { return f.CPU })
	if at < 0 {
		return ""
	}
	f := r.Figures[at]
	var bars []cpuBar
	for _, c := range r.Contenders {
		if s := c.spread(f.Name); s.N > 0 && s.Median > 0 {
			bars = append(bars, cpuBar{name: c.Name, batch: c.Batch, whole: cpuOf(f, s.Median), parts: c.cpuParts(r.Phase)})
		}
	}
	if len(bars) == 0 {
		return ""
	}
	title, unit := f.Says, f.Unit
	if strings.HasPrefix(f.Unit, perCPUSecond) {
		title, unit = "CPU time for one", "ms"
	}
	return drawCPU(r.Title+": "+title, unit, bars)
}

// perCPUSecond is the unit of what is done in a CPU second.
const perCPUSecond = "/CPU-s"

// cpuOf is a figure as CPU time: milliseconds for one where it is a rate.
func cpuOf(f figure, v float64) float64 {
	if strings.HasPrefix(f.Unit, perCPUSecond) {
		return 1000 / v
	}
	return v
}

// cpuParts are the shares of cpuKinds in what a contender was charged.
func (c *contenderResult) cpuParts(phase string) []float64 {
	by, sum := c.split(phase)
	parts := make([]float64, len(cpuKinds))
	for name, v := range by {
		kind := slices.IndexFunc(cpuKinds, func(k struct{ name, says, colour string }) bool { return k.name == name })
		if kind < 0 {
			kind = slices.IndexFunc(cpuKinds, func(k struct{ name, says, colour string }) bool { return k.name == "" })
		}
		parts[kind] += v / sum
	}
	return parts
}

func drawCPU(title, unit string, bars []cpuBar) string {
	const undivided = "#666666"
	most := 0.0
	for _, b := range bars {
		most = math.Max(most, b.whole)
	}
	b := newSVG(plotTop+len(bars)*(barHeight+barGap)+barGap+barHeight, title)
	rect := func(x float64, y int, width float64, colour, opacity string) {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" fill-opacity="%s"/>`+"\n", x, y, width, barHeight, colour, opacity)
	}
	for i, x := range bars {
		y := plotTop + i*(barHeight+barGap)
		name, opacity := x.name, "1"
		if x.batch {
			name, opacity = name+" (batches)", "0.45"
		}
		b.text(labelWidth-8, y+barHeight-6, "end", name)
		width := ratio(x.whole, most) * (plotWidth - labelWidth - 130)
		left := float64(labelWidth)
		if slices.Max(x.parts) == 0 {
			rect(left, y, width, undivided, opacity)
		}
		for k, share := range x.parts {
			rect(left, y, width*share, cpuKinds[k].colour, opacity)
			left += width * share
		}
		b.text(labelWidth+int(width)+8, y+barHeight-6, "start", inUnit(x.whole, unit))
	}
	b.cpuLegend(plotTop+len(bars)*(barHeight+barGap)+barGap, bars)
	return b.end()
}

// cpuLegend names the processes that are drawn.
func (b *svg) cpuLegend(y int, bars []cpuBar) {
	const step = 110
	x := labelWidth
	for k, kind := range cpuKinds {
		if !slices.ContainsFunc(bars, func(c cpuBar) bool { return c.parts[k] > 0 }) {
			continue
		}
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="12" height="12" fill="%s"/>`+"\n", x, y, kind.colour)
		b.text(x+18, y+11, "start", kind.says)
		x += step
	}
}
