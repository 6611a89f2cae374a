package main

import (
	"bufio"
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProxyCutsAndHeals(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	echo, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer echo.Close()
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				line, _ := bufio.NewReader(conn).ReadBytes('\n')
				_, _ = conn.Write(line)
			}()
		}
	}()
	p, err := newProxy(t.Context(), echo.Addr().String())
	require.NoError(t, err)
	defer p.close()
	dial := func() (net.Conn, error) { return (&net.Dialer{}).DialContext(t.Context(), "tcp", p.addr()) }

	open, err := dial()
	require.NoError(t, err)
	defer open.Close()
	require.Equal(t, "one\n", speak(t, open, "one\n"))
	p.cut()
	_, err = bufio.NewReader(open).ReadByte()
	require.Error(t, err, "an open connection breaks")
	_, err = dial()
	require.Error(t, err, "a new one is refused")

	require.NoError(t, p.heal(t.Context()))
	again, err := dial()
	require.NoError(t, err)
	defer again.Close()
	require.Equal(t, "two\n", speak(t, again, "two\n"))
}

// TestProxyWaitsForItsPort has somebody else on the port when it heals.
func TestProxyWaitsForItsPort(t *testing.T) {
	t.Parallel()
	p, err := newProxy(t.Context(), "127.0.0.1:1")
	require.NoError(t, err)
	defer p.close()
	p.cut()
	var lc net.ListenConfig
	other, err := lc.Listen(t.Context(), "tcp", p.addr())
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.heal(gone), context.Canceled, "who stops waiting")

	healed := make(chan error, 1)
	go func() { healed <- p.heal(t.Context()) }()
	require.NoError(t, other.Close())
	require.NoError(t, <-healed)
}

func speak(t *testing.T, conn net.Conn, line string) string {
	t.Helper()
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err := conn.Write([]byte(line))
	require.NoError(t, err)
	got, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	return got
}
