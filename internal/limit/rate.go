package limit

import (
	"fmt"
	"strings"
	"time"

	"github.com/ulule/limiter/v3"
)

// Bucket names what is counted together. It is a part of keys in Redis, a label
// of metrics and the name of a policy in answers.
type Bucket string

// The buckets of the External API (spec section 8).
const (
	// Key has a bucket for each API key.
	Key Bucket = "key"
	// Address has one for each client address, for calls that need no key.
	Address Bucket = "address"
	// FailedAuth counts, for each client address, what failed to authenticate.
	FailedAuth Bucket = "failed_auth"
)

// Rate is how much is allowed in a period; the zero Rate allows everything.
type Rate struct {
	Limit  int64
	Period time.Duration
}

// Rates are the rates of buckets. A bucket that has none is not limited.
type Rates map[Bucket]Rate

// off is how a setting says that there is no limit.
const off = "off"

// maxLimit keeps a count, whatever is added to it, far from where numbers end:
// in Go, in Redis' Lua (2^53) and in headers (15 digits).
const maxLimit = 1_000_000_000

// ParseRate reads a rate as settings write it: a number and S, M, H or D, such
// as 1200-M for 1,200 in a minute, or off.
func ParseRate(s string) (Rate, error) {
	if strings.EqualFold(s, off) {
		return Rate{}, nil
	}
	r, err := limiter.NewRateFromFormatted(s)
	if err != nil || r.Limit < 1 || r.Limit > maxLimit {
		return Rate{}, fmt.Errorf("%q is no rate; write a number from 1 to %d and S, M, H or D, such as 1200-M for 1200 in a minute, or %s",
			s, maxLimit, off)
	}
	return Rate{Limit: r.Limit, Period: r.Period}, nil
}

// Off reports whether everything is allowed.
func (r Rate) Off() bool { return r.Limit <= 0 || r.Period <= 0 }

func (r Rate) ulule() limiter.Rate { return limiter.Rate{Limit: r.Limit, Period: r.Period} }
