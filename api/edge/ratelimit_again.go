package edge

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/limit"
)

const (
	// rememberFor is how long a refusal is repeated without asking anybody: short,
	// so that a key that was revoked meanwhile is soon told so.
	rememberFor = time.Second
	// rememberMost bounds how many are remembered. Beyond it, refusals cost what
	// they cost without a memory.
	rememberMost = 10_000
)

// refusals are the buckets that were found full a moment ago. Who floods asks
// again at once: to look the key up in the database each time, and in Redis
// whether its bucket is still full, would let them take from the others what
// the limit is to keep for them.
type refusals struct {
	mu sync.Mutex
	at map[string]refusal
}

type refusal struct {
	limit.Decision

	at time.Time
}

// note remembers a full bucket, for the rest of its window or a second.
func (r *refusals) note(id string, d limit.Decision, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.at) >= rememberMost {
		for id, old := range r.at {
			if now.Sub(old.at) >= rememberFor {
				delete(r.at, id)
			}
		}
	}
	if r.at == nil {
		r.at = map[string]refusal{}
	}
	if len(r.at) < rememberMost {
		r.at[id] = refusal{d, now}
	}
}

// of tells what a bucket that was full still says.
func (r *refusals) of(id string, now time.Time) (d limit.Decision, full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, full := r.at[id]
	if !full {
		return d, false
	}
	ago := now.Sub(old.at)
	d = old.Decision
	if d.Reset -= ago; ago >= rememberFor || d.Reset <= 0 {
		delete(r.at, id)
		return d, false
	}
	return d, true
}

// AgainRefused refuses who was refused by AdmitKey a moment ago, by the id of
// their bucket alone: before anybody looks whether the key is good, and without
// counting. nil lets everybody else pass.
func (l *Limits) AgainRefused(ctx context.Context, h http.Header, id string) error {
	d, full := l.again.of(id, time.Now())
	if !full {
		return nil
	}
	advise(h, d)
	return l.refuse(ctx, d, tooMany)
}
