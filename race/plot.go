package main

import (
	"encoding/xml"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sizes of a plot, in pixels.
const (
	plotWidth  = 760
	labelWidth = 250
	barHeight  = 22
	barGap     = 10
	plotTop    = 44
	curveSize  = 300
	// leastDrawn is the least latency that the logarithmic scale begins with, in
	// milliseconds; without one its lines would have no end.
	leastDrawn = 0.001
)

// colours by the order of contenders; they differ in lightness as well.
var colours = []string{"#1f4e9e", "#5a8f3c", "#c2571a", "#7b4fa3", "#a88a12", "#3b8f94", "#9c2f4f", "#666666"}

// bar is a contender's value in a plot.
type bar struct {
	name   string
	spread spread
	batch  bool
	colour string
}

// writePlots writes a plot of the first figure of each race, and the latencies
// where there are any, and returns what the page shows.
func writePlots(dir, page string, r *results) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if page, err = filepath.Abs(page); err != nil {
		return "", err
	}
	var links strings.Builder
	for i, x := range r.Races {
		plots := x.plots()
		for _, name := range slices.Sorted(maps.Keys(plots)) {
			file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.svg", x.Race, i+1, name))
			if err := os.WriteFile(file, []byte(plots[name]), 0o644); err != nil {
				return "", err
			}
			link, err := filepath.Rel(page, file)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&links, "![%s](%s)\n\n", x.Title, filepath.ToSlash(link))
		}
	}
	return links.String(), nil
}

// plots are the plots of a race by their names.
func (r *raceResult) plots() map[string]string {
	out := map[string]string{}
	if len(r.Figures) == 0 {
		return out
	}
	f := r.Figures[max(0, slices.IndexFunc(r.Figures, func(f figure) bool { return f.Drawn }))]
	var bars []bar
	colour := map[string]string{} // the same in all plots of a race
	for i, c := range r.Contenders {
		colour[c.Name] = colours[i%len(colours)]
		if s := c.spread(f.Name); s.N > 0 {
			bars = append(bars, bar{name: c.Name, spread: s, batch: c.Batch, colour: colour[c.Name]})
		}
	}
	if len(bars) > 0 {
		out["bars"] = barPlot(r.Title+": "+f.Says, f, bars)
	}
	if plot := r.cpuPlot(); plot != "" {
		out["cpu"] = plot
	}
	r.latencyPlots(out, colour)
	return out
}

// latencyPlots adds a plot of each latency that the race names; of the first that
// a contender has where it names none.
func (r *raceResult) latencyPlots(out, colour map[string]string) {
	kinds := [][]string{{"paced_claim", "visible", "full", "next"}}
	if len(r.Curves) > 0 {
		kinds = nil
		for _, name := range r.Curves {
			kinds = append(kinds, []string{name})
		}
	}
	for _, names := range kinds {
		curves := map[string][]point{}
		var order []string
		for _, c := range r.Contenders {
			for _, name := range names {
				if curve := distribution(c, name); len(curve) > 0 {
					curves[c.Name] = curve
					order = append(order, c.Name)
					break
				}
			}
		}
		if len(order) == 0 {
			continue
		}
		file, title := "latency", r.Title+": latency"
		if len(kinds) > 1 {
			file, title = file+"-"+slug(names[0]), title+", "+names[0]
		}
		out[file] = curvePlot(title, order, curves, colour)
	}
}

// slug is a name as part of a file's.
func slug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}

// point is a share of calls and the time within which they were answered.
type point struct{ share, millis float64 }

// distribution adds the histograms of all samples of a contender up; where there
// are percentiles only, they are the curve.
func distribution(c *contenderResult, name string) []point {
	counts := map[int64]int64{}
	var keys []int64
	var all int64
	for _, s := range c.Samples {
		for _, b := range s.Latencies[name].Buckets {
			if counts[b[0]] == 0 {
				keys = append(keys, b[0])
			}
			counts[b[0]] += b[1]
			all += b[1]
		}
	}
	if len(keys) == 0 {
		return percentiles(c, name)
	}
	slices.Sort(keys)
	var out []point
	var sum int64
	for _, k := range keys {
		sum += counts[k]
		out = append(out, point{share: float64(sum) / float64(all), millis: float64(k) / 1000})
	}
	return out
}

func percentiles(c *contenderResult, name string) []point {
	for _, s := range c.Samples {
		q := s.Latencies[name]
		all := []point{{0.5, q.P50}, {0.9, q.P90}, {0.99, q.P99}, {0.999, q.P999}}
		// A logarithmic scale has no place for what was not measured.
		if told := slices.DeleteFunc(all, func(p point) bool { return p.millis <= 0 }); len(told) > 0 {
			return told
		}
	}
	return nil
}

func barPlot(title string, f figure, bars []bar) string {
	most := 0.0
	for _, b := range bars {
		most = math.Max(most, b.spread.Max)
	}
	height := plotTop + len(bars)*(barHeight+barGap) + barGap
	b := newSVG(height, title)
	scale := func(v float64) float64 { return ratio(v, most) * (plotWidth - labelWidth - 130) }
	for i, x := range bars {
		y := plotTop + i*(barHeight+barGap)
		name, opacity := x.name, "1"
		if x.batch {
			name, opacity = name+" (batches)", "0.45"
		}
		b.text(labelWidth-8, y+barHeight-6, "end", name)
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s" fill-opacity="%s"/>`+"\n",
			labelWidth, y, scale(x.spread.Median), barHeight, x.colour, opacity)
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#111" stroke-width="1.5"/>`+"\n",
			labelWidth+scale(x.spread.Min), labelWidth+scale(x.spread.Max), y+barHeight/2, y+barHeight/2)
		b.text(labelWidth+int(scale(x.spread.Max))+8, y+barHeight-6, "start", inUnit(x.spread.Median, f.Unit))
	}
	return b.end()
}

// curvePlot shows latencies by percentile: 50, 90, 99 and 99.9 % stand at equal
// distances, and milliseconds on a logarithmic scale.
func curvePlot(title string, order []string, curves map[string][]point, colours map[string]string) string {
	least, most := math.Inf(1), 0.0
	for _, curve := range curves {
		for _, p := range curve {
			least, most = math.Min(least, math.Max(p.millis, leastDrawn)), math.Max(most, p.millis)
		}
	}
	low, high := math.Floor(math.Log10(least)), math.Ceil(math.Log10(most)+1e-9)
	if low >= high {
		high = low + 1
	}
	const left, right = 90, plotWidth - 270
	b := newSVG(plotTop+curveSize+40, title)
	x := func(share float64) float64 {
		nines := -math.Log10(math.Max(1-share, 1e-4)) // 0 to 4
		return left + nines/4*(right-left)
	}
	y := func(millis float64) float64 {
		return plotTop + curveSize*(1-(math.Log10(math.Max(millis, leastDrawn))-low)/(high-low))
	}
	for p := low; p <= high; p++ {
		at := y(math.Pow(10, p))
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", left, right, at, at)
		b.text(left-8, int(at)+4, "end", fmt.Sprintf("%g ms", math.Pow(10, p)))
	}
	for _, share := range []float64{0.5, 0.9, 0.99, 0.999, 0.9999} {
		b.text(int(x(share)), plotTop+curveSize+20, "middle", fmt.Sprintf("%g %%", 100*share))
	}
	for i, name := range order {
		var path []string
		for _, p := range curves[name] {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x(p.share), y(p.millis)))
		}
		colour := colours[name]
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", colour, strings.Join(path, " "))
		at := plotTop + 16 + i*20
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="%s" stroke-width="3"/>`+"\n", right+14, right+34, at-4, at-4, colour)
		b.text(right+40, at, "start", name)
	}
	return b.end()
}

// svg is a drawing.
type svg struct{ strings.Builder }

func newSVG(height int, title string) *svg {
	b := &svg{}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="13">`+"\n",
		plotWidth, height, plotWidth, height)
	fmt.Fprintf(b, "<title>%s</title>\n", escape(title))
	fmt.Fprintf(b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", plotWidth, height)
	fmt.Fprintf(b, `<text x="12" y="24" font-weight="bold" fill="#111">%s</text>`+"\n", escape(title))
	return b
}

func (b *svg) text(x, y int, anchor, text string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="%s" fill="#111">%s</text>`+"\n", x, y, anchor, escape(text))
}

func (b *svg) end() string {
	b.WriteString("</svg>\n")
	return b.String()
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
