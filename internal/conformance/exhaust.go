package conformance

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
)

// How many requests are sent until a limit must show. Deployments choose their
// rates (spec 8); one that allows more within a minute has none worth the name.
const (
	mostFailedLogins = 500
	mostRequests     = 20_000
	// longestWait, in seconds, is how long the suite waits for a limit to be over.
	longestWait = 120
)

// exhaustingChecks run last: after them the deployment refuses this address's
// bad keys, and all calls of the spare key, for a while.
func exhaustingChecks() []Check {
	return []Check{
		{
			ID: "5.7-failed-auth", heavy: true, Section: "5", Sentence: "Repeated failed authentication attempts against protected paths are rate-limited per client IP.",
			Does: "GET the workflow with unknown keys until 429",
			run: func(c *C) {
				if a := c.failedLogins(); a == nil {
					c.fail(nil, "429 after some failed attempts", "401 for all %d", mostFailedLogins)
				}
			},
		}, {
			ID: "7-429", heavy: true, Section: "7", Sentence: "429 | rate_limit_exceeded; Retry-After header and retry_after body field both hold integer seconds",
			Does: "GET the workflow with unknown keys until 429, and compare the two",
			run: func(c *C) {
				a := c.failedLogins()
				if a == nil {
					c.skip("no request was limited")
				}
				c.refused(a, http.StatusTooManyRequests, "rate_limit_exceeded")
				c.has(a, "", a.object(c), "retry_after", integer)
				seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
				if err != nil || seconds < 1 {
					c.fail(a, "Retry-After with integer seconds", "%q", a.Header.Get("Retry-After"))
				}
				c.equal(a, "retry_after", seconds, a.object(c)["retry_after"])
			},
		}, {
			ID: "8-bucket-per-key", heavy: true, Section: "8", Sentence: "rate limit | one bucket per API key",
			Does: "GET the workflow with the spare key until 429; the other key still gets its answers", needs: []need{needSpare},
			run: func(c *C) {
				// The other key may be at its own limit, after so many checks.
				const attempts = 3
				for try := 1; ; try++ {
					c.exhaustSpare()
					a := c.get(in(c.Workflow, ""), unspared())
					if a.Status == http.StatusTooManyRequests && try < attempts && c.waitOut(a) == nil {
						continue
					}
					c.status(a, http.StatusOK)
					return
				}
			},
		}, {
			ID: "8-retry-after", heavy: true, Section: "8", Sentence: "the wait after 429 is given by Retry-After and is authoritative",
			Does: "exhaust the spare key, wait as long as that says, and GET the workflow with it", needs: []need{needSpare},
			run: func(c *C) {
				a := c.exhaustSpare()
				if seconds, _ := strconv.Atoi(a.Header.Get("Retry-After")); seconds > longestWait {
					c.skip("needs a deployment whose limit is over within %d seconds, not %d", longestWait, seconds)
				}
				if err := c.waitOut(a); err != nil {
					c.fail(a, "the wait to end", "%s", err)
				}
				c.status(c.get(in(c.Workflow, ""), key(c.SpareKey), unspared()), http.StatusOK)
			},
		}, {
			ID: "8-bucket-health", heavy: true, Section: "8", Sentence: "unauthenticated paths are bucketed by key when supplied and otherwise by client IP",
			Does: "GET /health with the exhausted spare key, and without a key", needs: []need{needSpare},
			run: func(c *C) {
				c.exhaustSpare()
				c.status(c.get("/health", key(c.SpareKey), unspared()), http.StatusTooManyRequests)
				c.status(c.get("/health", anonymous()), http.StatusOK)
			},
		},
	}
}

// failedLogins tries unknown keys until one attempt is limited; nil when none is.
func (c *C) failedLogins() *answer {
	for range mostFailedLogins {
		var digits [20]byte
		_, _ = rand.Read(digits[:]) // never fails
		a := c.get(in(c.Workflow, ""), key("pk_live_"+hex.EncodeToString(digits[:])), unspared())
		if a.Status == http.StatusTooManyRequests {
			return a
		}
		c.status(a, http.StatusUnauthorized)
	}
	return nil
}

// exhaustSpare uses the spare key until it is limited and returns a refusal.
func (c *C) exhaustSpare() *answer {
	const callers = 16
	var sent atomic.Int64
	var limited atomic.Pointer[answer]
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for limited.Load() == nil && sent.Add(1) <= mostRequests {
				a, err := c.try(http.MethodGet, in(c.Workflow, ""), nil, key(c.SpareKey), unspared())
				if err != nil {
					return // who is exhausted is not the key
				}
				if a.Status == http.StatusTooManyRequests {
					limited.Store(a)
				}
			}
		})
	}
	wg.Wait()
	a := limited.Load()
	if a == nil {
		c.fail(nil, "429 after some requests", "none for %d", min(sent.Load(), mostRequests))
	}
	return a
}
