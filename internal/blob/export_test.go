package blob

import "time"

// StallAfter shortens the time that a transfer may stand still.
func (s *Store) StallAfter(d time.Duration) *Store {
	s.stall = d
	return s
}

// Disposition and Type are what a link forces.
func (d Download) Disposition() string { return d.disposition() }
func (d Download) Type() string        { return d.contentType() }

const BlockBytes = blockBytes
