package child

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// LeashSignal is what the kernel sends to a leash when the supervisor is gone.
const LeashSignal = syscall.SIGUSR2

// Leash runs a command that starts processes of its own, such as `go test`,
// and stays between it and the supervisor: when the supervisor is killed, the
// leash kills the whole process group, grandchildren included, which a
// parent-death signal to the command alone would leave running. Signals for
// the group reach the command directly; the leash only waits for its end and
// passes its exit code on.
func Leash(args []string, stderr io.Writer) int {
	orphaned := make(chan os.Signal, 1)
	signal.Notify(orphaned, LeashSignal)
	// Received and dropped, not ignored: the command would inherit "ignored".
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)

	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// In the leash's group, not one of its own: one kill reaches everything.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := NewSpawner().start(cmd); err != nil {
		fmt.Fprintf(stderr, "taskloom-dev: run %s: %v\n", args[0], err)
		return 127
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return exitCode(err)
	case <-orphaned:
		_ = syscall.Kill(0, syscall.SIGKILL)
		return 1
	}
}
