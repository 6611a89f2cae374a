package apikey

import (
	"slices"
	"time"
)

// Expiry is how long a key lasts, counted from its creation or from the moment
// of an update (spec 5.5).
type Expiry string

// The choices of the spec.
const (
	Never  Expiry = "never"
	Days30 Expiry = "30d"
	Days90 Expiry = "90d"
	Year   Expiry = "1y"
)

var expiries = []Expiry{Never, Days30, Days90, Year}

// Expiries lists every choice, the longest first and then rising.
func Expiries() []Expiry { return slices.Clone(expiries) }

// Valid reports whether e is one of Expiries.
func (e Expiry) Valid() bool { return slices.Contains(expiries, e) }

// ExpiresAt returns the end of a key's life, nil for one that never ends or an
// unknown choice. A day is 24 hours; a year is a calendar year, and one that
// begins on 29 February ends on 1 March, so that it is never too short.
func ExpiresAt(e Expiry, now time.Time) *time.Time {
	now = now.UTC()
	var at time.Time
	switch e {
	case Days30:
		at = now.Add(30 * 24 * time.Hour)
	case Days90:
		at = now.Add(90 * 24 * time.Hour)
	case Year:
		at = now.AddDate(1, 0, 0)
	case Never:
		return nil
	default:
		return nil
	}
	return &at
}
