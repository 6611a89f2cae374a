package form

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// spansKind is text_spans: [{"start":0,"end":5,"label":"PER","text":"Alice"}]. Offsets count code points of the source
// field's text after CRLF became LF; start is included, end is not. text is optional and must equal that slice. Spans
// overlap only when allow_overlap is set; the order is free. Where the source is not known yet, as when a task is
// created before it is filled, only the shape is checked.
type spansKind struct {
	source  string
	labels  []string
	overlap bool
	rules   Rules
}

func newSpans(f *Field) kind {
	k := spansKind{source: f.Source, overlap: f.AllowOverlap, rules: f.Rules}
	for _, l := range f.Labels {
		k.labels = append(k.labels, l.Value)
	}
	return k
}

// reach is one span's offsets, with the index in the value.
type reach struct{ start, end, index int }

func (k spansKind) check(v *value, c *check) {
	if v.shape != array {
		c.expect("an array of spans", v)
		return
	}
	c.count(len(v.items), k.rules.MinItems, k.rules.MaxItems, "span", "spans")
	source, known := c.find(k.source)
	runes := newOffsets(NormalizeText(source.text))
	reaches := make([]reach, 0, len(v.items))
	for i := range v.items {
		if c.full() {
			return
		}
		if r, ok := k.span(&v.items[i], c.item(i), runes, known); ok {
			r.index = i
			reaches = append(reaches, r)
		}
	}
	if k.overlap {
		return
	}
	slices.SortStableFunc(reaches, func(a, b reach) int { return a.start - b.start })
	var widest reach
	for _, r := range reaches {
		if r.start < widest.end && !c.full() {
			c.item(r.index).fail("overlaps span %d, which goes from %d to %d", widest.index, widest.start, widest.end)
		}
		if r.end > widest.end {
			widest = r
		}
	}
}

func (k spansKind) span(v *value, c *check, source *offsets, known bool) (reach, bool) {
	if !c.object(v, "start", "end", "label", "text") {
		return reach{}, false
	}
	label, _ := v.get("label")
	if label.shape != text || !oneOf(label.text, k.labels) {
		c.at("label").expect("the label "+list(k.labels), &label)
	}
	said, _ := v.get("text")
	if said.shape != null && said.shape != text {
		c.at("text").expect("the marked text", &said)
	}
	start, ok := offset(v, "start", c)
	end, ok2 := offset(v, "end", c)
	switch {
	case !ok || !ok2:
		return reach{}, false
	case end <= start:
		c.at("end").fail("end %d must be more than start %d", end, start)
		return reach{}, false
	case !known:
	case end > source.count():
		c.at("end").fail("end %d is beyond the %d characters of field %s", end, source.count(), quote(k.source))
		return reach{}, false
	case said.shape == text && NormalizeText(said.text) != source.slice(start, end):
		c.at("text").fail("text %s is not what stands from %d to %d in field %s: %s",
			said.show(), start, end, quote(k.source), quote(source.slice(start, end)))
	}
	return reach{start: start, end: end}, true
}

// offset reads a code point offset.
func offset(v *value, key string, c *check) (int, bool) {
	n, _ := v.get(key)
	if n.shape != number || n.num != math.Trunc(n.num) || n.num < 0 || n.num > MaxValueBytes {
		c.at(key).expect("an offset in characters, counted from 0", &n)
		return 0, false
	}
	return int(n.num), true
}

// offsets finds the bytes of code points in a text.
type offsets struct {
	text string
	at   []int // nil when the text is ASCII
}

func newOffsets(s string) *offsets {
	o := &offsets{text: s}
	if utf8.RuneCountInString(s) == len(s) {
		return o
	}
	for i := range s {
		o.at = append(o.at, i)
	}
	o.at = append(o.at, len(s))
	return o
}

func (o *offsets) count() int {
	if o.at == nil {
		return len(o.text)
	}
	return len(o.at) - 1
}

func (o *offsets) slice(start, end int) string {
	if o.at == nil {
		return o.text[start:end]
	}
	return o.text[o.at[start]:o.at[end]]
}

func (k spansKind) define(d *definition) {
	d.bounds("items", k.rules.MinItems, k.rules.MaxItems)
	d.options("/labels", "label", d.field.Labels, 1, maxLabels)
	if source, ok := d.refer("/source", k.source); ok && !source.Type.prose() {
		d.fail("/source", "the source of text spans is a text, but %s is a %s", quote(k.source), source.Type)
	}
}

func (k spansKind) hint() any {
	return fmt.Sprintf("array of spans; labels: %s", strings.Join(k.labels, ","))
}

func (k spansKind) schema() fragment {
	span := fragment{
		"type": "object", "required": []string{"start", "end", "label"}, "additionalProperties": false,
		"properties": fragment{
			"start": fragment{"type": "integer", "minimum": 0},
			"end":   fragment{"type": "integer", "minimum": 1},
			"label": fragment{"type": "string", "enum": k.labels},
			"text":  fragment{"type": []string{"string", "null"}},
		},
	}
	return fragment{"type": "array", "items": span}.set("minItems", k.rules.MinItems).set("maxItems", k.rules.MaxItems)
}

// pointless reports that there is nothing to mark.
func (k spansKind) pointless(find lookup) bool {
	source, known := find(k.source)
	return known && source.empty()
}

func (k spansKind) example(known lookup) any {
	if len(k.labels) == 0 {
		return nil
	}
	source, ok := known(k.source)
	runes := newOffsets(NormalizeText(source.text))
	n := max(1, limit(k.rules.MinItems, 1))
	if n > maxExample/(1+len(k.labels[0])) {
		return nil
	}
	spans := []any{}
	for i := range n {
		span := map[string]any{"start": i, "end": i + 1, "label": k.labels[0]}
		if ok && i < runes.count() {
			span["text"] = runes.slice(i, i+1)
		}
		spans = append(spans, span)
	}
	return spans
}
