package limit

import (
	"fmt"
	"math"
	"time"
)

// Decision is what a bucket says. The zero Decision is that of a bucket without
// a limit.
type Decision struct {
	Bucket Bucket
	Rate   Rate
	// Remaining is how much the window still admits.
	Remaining int64
	// Reset is how long it takes, from the decision on, until the window is over
	// for certain.
	Reset time.Duration
	// Reached says that the bucket is full: the request is one too many.
	Reached bool
	// Unknown says that the count is not to be had. Reset is then how long the
	// store is left alone.
	Unknown bool
}

// Counted reports whether there is a limit and a count.
func (d Decision) Counted() bool { return !d.Rate.Off() && !d.Unknown }

// Seconds is Reset in whole seconds, at least one, never too few.
func (d Decision) Seconds() int64 { return max(1, int64(math.Ceil(d.Reset.Seconds()))) }

// Policy is the limit as a RateLimit-Policy header names it
// (draft-ietf-httpapi-ratelimit-headers-10).
func (d Decision) Policy() string {
	return fmt.Sprintf("%q;q=%d;w=%d", string(d.Bucket), d.Rate.Limit, d.window())
}

// State is what is left of it as a RateLimit header tells. The wait of a refusal
// is told as it is; else a window is never longer than its policy says, whatever
// Reset is rounded up to.
func (d Decision) State() string {
	t := d.Seconds()
	if !d.Reached {
		t = min(t, d.window())
	}
	return fmt.Sprintf("%q;r=%d;t=%d", string(d.Bucket), max(0, d.Remaining), t)
}

func (d Decision) window() int64 { return int64(d.Rate.Period / time.Second) }
