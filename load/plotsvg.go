package main

import (
	"fmt"
	"math"
	"strings"
)

// Sizes of a drawing, in pixels.
const (
	drawWidth  = 860
	drawLeft   = 76
	drawRight  = 640 // where the field ends and its legend begins
	drawTop    = 64
	drawHeight = 120
	drawGap    = 46
	drawBottom = 34
)

// strokes are the colours of curves, in their order; they differ in lightness as well.
var strokes = []string{"#1f4e9e", "#c2571a", "#5a8f3c", "#7b4fa3", "#a88a12", "#3b8f94"}

// drawing is an SVG of fields that share their time.
type drawing struct {
	strings.Builder

	fields int
	until  float64 // seconds
	top    int     // of the next field
}

func newDrawing(fields int, title string, until float64) *drawing {
	d := &drawing{fields: fields, until: until, top: drawTop}
	height := d.lowest() + drawBottom
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="12">`+"\n",
		drawWidth, height, drawWidth, height)
	fmt.Fprintf(d, "<title>%s</title>\n", escape(title))
	fmt.Fprintf(d, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", drawWidth, height)
	fmt.Fprintf(d, `<text x="12" y="22" font-weight="bold" fill="#111">%s</text>`+"\n", escape(title))
	step := round(until/6, []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400})
	for at := 0.0; at <= until; at += step {
		d.text(d.x(at), d.lowest()+18, "middle", toldTime(at))
	}
	return d
}

// lowest is where the last field ends.
func (d *drawing) lowest() int { return drawTop + d.fields*drawHeight + (d.fields-1)*drawGap }

func (d *drawing) x(seconds float64) float64 {
	return drawLeft + seconds/d.until*(drawRight-drawLeft)
}

// phases are lines across all fields. A name that would stand in that of the phase
// before is left out; the results have all.
func (d *drawing) phases(all []phase) {
	free := 0.0
	for _, p := range all {
		at := d.x(p.From.Seconds())
		if p.From.Seconds() > d.until {
			continue
		}
		fmt.Fprintf(d, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#bbb" stroke-dasharray="3 3"/>`+"\n", at, at, drawTop-20, d.lowest())
		if at >= free {
			d.text(at+3, drawTop-24, "start", p.Name)
			free = at + 3 + 7*float64(len(p.Name))
		}
	}
}

// field draws curves over one scale from 0, or from below it where a curve is.
func (d *drawing) field(title string, curves []curve) {
	low, high := 0.0, 0.0
	for _, c := range curves {
		for _, v := range c.Values {
			low, high = min(low, v), max(high, v)
		}
	}
	step := 1.0
	if high > low {
		fifth := (high - low) / 5
		digit := math.Pow(10, math.Floor(math.Log10(fifth)))
		step = digit * round(fifth/digit, []float64{1, 2, 5, 10})
	}
	low, high = math.Floor(low/step)*step, max(1, math.Ceil(high/step))*step
	y := func(v float64) float64 { return float64(d.top+drawHeight) - (v-low)/(high-low)*drawHeight }
	d.text(drawLeft, d.top-6, "start", title)
	for v := low; v <= high+step/2; v += step {
		fmt.Fprintf(d, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", drawLeft, drawRight, y(v), y(v))
		d.text(drawLeft-8, int(y(v))+4, "end", told(math.Round(v/step)*step))
	}
	for i, c := range curves {
		points := make([]string, len(c.Values))
		for k, v := range c.Values {
			points[k] = fmt.Sprintf("%.1f,%.1f", d.x(c.Seconds[k]), y(v))
		}
		stroke := strokes[i%len(strokes)]
		fmt.Fprintf(d, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`+"\n", stroke, strings.Join(points, " "))
		at := d.top + 12 + i*18
		fmt.Fprintf(d, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="%s" stroke-width="3"/>`+"\n", drawRight+14, drawRight+34, at-4, at-4, stroke)
		d.text(drawRight+40, at, "start", c.name)
	}
	d.top += drawHeight + drawGap
}

func (d *drawing) text(x float64, y int, anchor, text string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%d" text-anchor="%s" fill="#111">%s</text>`+"\n", x, y, anchor, escape(text))
}

func (d *drawing) end() string {
	d.WriteString("</svg>\n")
	return d.String()
}

// round is the first of some steps that is not less; the last when all are.
func round(v float64, steps []float64) float64 {
	for _, s := range steps {
		if s >= v {
			return s
		}
	}
	return steps[len(steps)-1]
}
