package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Alive tells whether the server runs. One that could not go on has ended by
// itself.
func (c *Cluster) Alive() bool {
	if c.cmd == nil {
		return false
	}
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// Revive does what a supervisor does: it starts the server again whenever it
// has ended by itself, until it answers or ctx ends. It returns how often.
func (c *Cluster) Revive(ctx context.Context) (starts int, err error) {
	c.t.Helper()
	for {
		if !c.Alive() {
			c.cmd, c.done = nil, nil
			c.Run() //nolint:contextcheck // the server outlives ctx
			starts++
		}
		conn, err := pgx.Connect(ctx, c.url(c.Addr(), "postgres", ""))
		if err == nil {
			return starts, conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return starts, fmt.Errorf("postgres at %s does not answer: %w", c.Addr(), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
