package port_test

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/dev/internal/port"
)

func TestAPortIsTakenOnceOnly(t *testing.T) {
	t.Parallel()
	var first, second port.Reservations
	defer second.Close()
	taken, err := first.Take(0)
	require.NoError(t, err)
	require.Less(t, taken, 32768, "below the ports that outgoing connections use")

	other, err := second.Take(taken)
	require.NoError(t, err)
	require.NotEqual(t, taken, other, "though nobody listens yet")

	first.Close()
	again, err := second.Take(taken)
	require.NoError(t, err)
	require.Equal(t, taken, again, "a free port is kept from run to run")
}

func TestABusyPortIsNotTakenAndItsHolderIsNamed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	addr, ok := l.Addr().(*net.TCPAddr)
	require.True(t, ok)

	var ports port.Reservations
	defer ports.Close()
	got, err := ports.Take(addr.Port)
	require.NoError(t, err)
	require.NotEqual(t, addr.Port, got)
	require.Contains(t, port.Holder(addr.Port), fmt.Sprintf("pid %d (", os.Getpid()))
	require.Empty(t, port.Holder(1))
}
