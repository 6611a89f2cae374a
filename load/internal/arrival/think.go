package arrival

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// Sigma is how far handling times spread, as the σ of their logarithm.
const Sigma = 0.8

// Think draws the times that people take. It may be used by several at a time.
type Think struct {
	mu sync.Mutex
	r  *rand.Rand
}

// NewThink draws the same times for the same seed.
func NewThink(seed uint64) *Think {
	return &Think{r: rand.New(rand.NewPCG(seed, 0x7468696e6b))} //nolint:gosec // no secret
}

// LogNormal draws a time with this mean and Sigma: most are shorter than the
// mean, and a few are several times as long.
func (t *Think) LogNormal(mean time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	mu := math.Log(mean.Seconds()) - Sigma*Sigma/2
	return time.Duration(math.Exp(mu+Sigma*t.r.NormFloat64()) * float64(time.Second))
}

// Float is from 0 to below 1.
func (t *Think) Float() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.r.Float64()
}

// IntN is from 0 to below n.
func (t *Think) IntN(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.r.IntN(n)
}
