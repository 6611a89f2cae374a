package netns

import (
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPacketsAreDropped(t *testing.T) {
	if missing := Missing(); missing != "" {
		t.Skip(missing)
	}
	n := New(t, 250)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", n.Host+":0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("hello\n"))
			_ = c.Close()
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	inside := n.Program("timeout")
	reads := func() bool {
		out, _ := exec.CommandContext(t.Context(), inside, "4", "bash", "-c", "head -n 1 < /dev/tcp/"+n.Host+"/"+strconv.Itoa(port)).Output()
		return string(out) == "hello\n"
	}
	require.Eventually(t, reads, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, n.DropTo(port))
	require.False(t, reads())
	require.NoError(t, n.Heal())
	require.Eventually(t, reads, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, n.DropFrom(port))
	require.False(t, reads())
	require.NoError(t, n.Heal())
	require.NoError(t, n.Down())
	require.False(t, reads())
	_, err = (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", n.Inside+":80")
	require.ErrorIs(t, err, syscall.EHOSTUNREACH, "nobody else answers for who is inside")
	require.NoError(t, n.Heal())
	require.Eventually(t, reads, 20*time.Second, 10*time.Millisecond)
}
