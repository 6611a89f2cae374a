package form

import (
	"encoding/json"
	"time"
)

// dateKind is date, "2026-11-20", and datetime, "2026-11-20T08:00:00Z": RFC 3339 with capital T and Z, seconds, an
// optional fraction of up to nine digits and a zone. Days exist in the Gregorian calendar, years are 0001 to 9999,
// seconds 00 to 59. Datetimes are compared as instants and stored as they were sent.
type dateKind struct {
	typ      Type
	min, max *moment
}

// moment is a bound with the text that gave it.
type moment struct {
	time.Time
	text string
}

func newDate(f *Field) kind {
	k := dateKind{typ: f.Type}
	k.min, k.max = k.moment(f.Rules.Min), k.moment(f.Rules.Max)
	return k
}

// moment reads a bound, nil when there is none.
func (k dateKind) moment(raw json.RawMessage) *moment {
	v, err := parse(raw)
	if err != nil || v.shape != text {
		return nil
	}
	t, ok := k.parse(v.text)
	if !ok {
		return nil
	}
	return &moment{t, v.text}
}

func (k dateKind) parse(s string) (time.Time, bool) {
	if k.typ == Date {
		return parseDate(s)
	}
	return parseDatetime(s)
}

func (k dateKind) noun() string {
	if k.typ == Date {
		return "a date that exists, as YYYY-MM-DD"
	}
	return "an RFC 3339 datetime such as 2026-11-20T08:00:00Z"
}

func (k dateKind) check(v *value, c *check) {
	if v.shape != text {
		c.expect(k.noun(), v)
		return
	}
	t, ok := k.parse(v.text)
	switch {
	case !ok:
		c.expect(k.noun(), v)
	case k.min != nil && t.Before(k.min.Time):
		c.fail("%s is before the earliest, %s", v.text, k.min.text)
	case k.max != nil && t.After(k.max.Time):
		c.fail("%s is after the latest, %s", v.text, k.max.text)
	}
}

// parseDate reads YYYY-MM-DD.
func parseDate(s string) (time.Time, bool) {
	if !fits(s, "0000-00-00") || s[:4] == "0000" {
		return time.Time{}, false
	}
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil
}

// parseDatetime reads RFC 3339, more strictly than time.Parse does.
func parseDatetime(s string) (time.Time, bool) {
	const head = "0000-00-00T00:00:00"
	if len(s) <= len(head) || !fits(s[:len(head)], head) || s[:4] == "0000" {
		return time.Time{}, false
	}
	zone := s[len(head):]
	if zone[0] == '.' {
		end := 1
		for end < len(zone) && zone[end] >= '0' && zone[end] <= '9' {
			end++
		}
		if end == 1 || end > 10 {
			return time.Time{}, false
		}
		zone = zone[end:]
	}
	if zone != "Z" && (!fits(zone, "+00:00") && !fits(zone, "-00:00") || zone[1:3] > "23" || zone[4:] > "59") {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// fits reports whether s has digits where the layout has 0, and the layout's characters elsewhere.
func fits(s, layout string) bool {
	if len(s) != len(layout) {
		return false
	}
	for i := range len(s) {
		if layout[i] == '0' && (s[i] < '0' || s[i] > '9') || layout[i] != '0' && s[i] != layout[i] {
			return false
		}
	}
	return true
}

func (k dateKind) define(d *definition) {
	r := &d.field.Rules
	if len(r.Min) > 0 && k.min == nil {
		d.fail("/rules/min", "min must be %s, got %s", k.noun(), quote(string(r.Min)))
	}
	if len(r.Max) > 0 && k.max == nil {
		d.fail("/rules/max", "max must be %s, got %s", k.noun(), quote(string(r.Max)))
	}
	if k.min != nil && k.max != nil && k.min.After(k.max.Time) {
		d.fail("/rules/min", "min %s is after max %s", k.min.text, k.max.text)
	}
}

func (k dateKind) hint() any {
	s := "date YYYY-MM-DD"
	if k.typ == Datetime {
		s = "datetime RFC 3339"
	}
	switch {
	case k.min != nil && k.max != nil:
		s += ", " + k.min.text + ".." + k.max.text
	case k.min != nil:
		s += ", from " + k.min.text
	case k.max != nil:
		s += ", until " + k.max.text
	}
	return s
}

func (k dateKind) schema() fragment {
	if k.typ == Date {
		return fragment{"type": "string", "format": "date"}
	}
	return fragment{"type": "string", "format": "date-time"}
}

func (k dateKind) example(lookup) any {
	switch {
	case k.min != nil:
		return k.min.text
	case k.max != nil:
		return k.max.text
	case k.typ == Date:
		return "2026-11-20"
	}
	return "2026-11-20T08:00:00Z"
}
