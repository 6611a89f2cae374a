package chaos

import (
	"context"
	"errors"
)

// persist creates one task for each question under a key, and asks again while
// an earlier try with the key still runs.
func (p *prober) persist(ctx context.Context, key string, questions []string) ([]int64, error) {
	for {
		ids, err := p.integrator.create(ctx, key, questions)
		if !errors.Is(err, errRefused) {
			return ids, err
		}
		if err := wait(ctx, pauseAfterUnknown); err != nil {
			return nil, err
		}
	}
}
