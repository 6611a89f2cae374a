package store

import (
	"net"
	"time"
)

// How long a connection may go without a sign of life from a server that is
// cut off: without a limit of our own the kernel repeats what was sent for a
// quarter of an hour, and a query waits as long.
const (
	silence        = 10 * time.Second
	keepAliveIdle  = 5 * time.Second
	keepAliveEvery = 2 * time.Second
	keepAliveCount = 3
)

// dialer makes connections that end when the server cannot be reached any
// more. A query that takes its time is not cut off: the server's kernel
// answers for it.
func dialer() *net.Dialer {
	return &net.Dialer{
		Control: boundSilence,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: keepAliveIdle, Interval: keepAliveEvery, Count: keepAliveCount,
		},
	}
}
