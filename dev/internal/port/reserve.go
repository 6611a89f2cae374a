// Package port finds free TCP ports on the loopback address and tells who
// holds one that is not free.
package port

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// The range lies below the kernel's ephemeral ports (32768 and up): no outgoing
// connection can take a port of ours while its part is being restarted.
const (
	lowest  = 20000
	highest = 32000
)

// settle is how long a port of the previous run may still be held by a process
// that is just being killed.
const settle = time.Second

// Reservations keeps two supervisors from picking the same port in the moment
// between choosing it and listening on it. Close gives the ports back.
type Reservations struct {
	held []net.Listener
}

// Take returns a free port: wanted if it is free, any other if not.
func (r *Reservations) Take(wanted int) (int, error) {
	if wanted != 0 && r.reserve(wanted, settle) {
		return wanted, nil
	}
	for range 1000 {
		candidate := lowest + rand.IntN(highest-lowest) //nolint:gosec // a port is no secret
		if r.reserve(candidate, 0) {
			return candidate, nil
		}
	}
	return 0, fmt.Errorf("no free port found between %d and %d on 127.0.0.1", lowest, highest)
}

// reserve claims a port among supervisors, by an abstract socket that the
// kernel removes with the process, and checks that nobody listens on it.
func (r *Reservations) reserve(port int, patience time.Duration) bool {
	claim, err := net.Listen("unix", fmt.Sprintf("@taskloom-dev/port/%d", port))
	if err != nil {
		return false
	}
	if !becomesFree(port, patience) {
		claim.Close()
		return false
	}
	r.held = append(r.held, claim)
	return true
}

func becomesFree(port int, patience time.Duration) bool {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if Free(addr) == nil {
		return true
	}
	if patience == 0 {
		return false
	}
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-poll.C:
			if Free(addr) == nil {
				return true
			}
		case <-deadline.C:
			return false
		}
	}
}

// Close gives all ports back.
func (r *Reservations) Close() {
	for _, claim := range r.held {
		claim.Close()
	}
}

// Free returns nil when addr can be listened on, else the reason why not.
func Free(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return l.Close()
}
