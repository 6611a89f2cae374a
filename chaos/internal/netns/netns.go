// Package netns runs processes in a network namespace of their own, joined to
// the machine by a pair of interfaces that can be taken down, or that drop
// packets in one direction only. It needs root, ip and nft.
package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Namespace is one namespace with its pair of interfaces.
type Namespace struct {
	// Host and Inside are the addresses of the machine and of the namespace.
	Host, Inside string
	// Subnet holds both.
	Subnet string

	t          testing.TB
	name, veth string
}

const commandTime = 20 * time.Second

// Missing says what is not here that namespaces need, "" when all is.
func Missing() string {
	if os.Geteuid() != 0 {
		return "network namespaces need root"
	}
	for _, name := range []string{"ip", "nft"} {
		if _, err := exec.LookPath(name); err != nil {
			return name + " is missing; make system CHAOS=yes installs it"
		}
	}
	return ""
}

// New makes a namespace, which is removed when the test is over. The number is
// its own on this machine: 0 to 255.
func New(t testing.TB, number int) *Namespace {
	t.Helper()
	id := fmt.Sprintf("tlc%d", number)
	n := &Namespace{
		Host: fmt.Sprintf("10.213.%d.1", number), Inside: fmt.Sprintf("10.213.%d.2", number),
		Subnet: fmt.Sprintf("10.213.%d.0/24", number), t: t, name: id, veth: id + "h",
	}
	n.remove() // one of before, whose test was killed
	t.Cleanup(n.remove)
	inner := id + "n"
	for _, line := range []string{
		"ip netns add " + n.name,
		"ip link add " + n.veth + " type veth peer name " + inner,
		"ip link set " + inner + " netns " + n.name,
		"ip addr add " + n.Host + "/24 dev " + n.veth,
		"ip link set " + n.veth + " up",
		// While the link is down, nothing may take another way: a gateway might answer.
		"ip route add unreachable " + n.Subnet + " metric 4000",
		"ip -n " + n.name + " addr add " + n.Inside + "/24 dev " + inner,
		"ip -n " + n.name + " link set " + inner + " up",
		"ip -n " + n.name + " link set lo up",
		"ip netns exec " + n.name + " nft add table ip chaos",
		"ip netns exec " + n.name + " nft add chain ip chaos in { type filter hook input priority 0 ; }",
		"ip netns exec " + n.name + " nft add chain ip chaos out { type filter hook output priority 0 ; }",
	} {
		require.NoError(t, run(line))
	}
	return n
}

func (n *Namespace) remove() {
	_ = run("ip netns del " + n.name) // it may not be there
	_ = run("ip link del " + n.veth)
	_ = run("ip route del unreachable " + n.Subnet)
}

// Program is a file that runs a program inside, in its own place, for who starts
// programs by their path.
func (n *Namespace) Program(path string) string {
	n.t.Helper()
	script := filepath.Join(n.t.TempDir(), "inside")
	line := fmt.Sprintf("#!/bin/sh\nexec ip netns exec %s %s \"$@\"\n", n.name, path)
	require.NoError(n.t, os.WriteFile(script, []byte(line), 0o700))
	return script
}

// DropTo drops what goes out to a TCP port of the machine, without a word to
// either side.
func (n *Namespace) DropTo(port int) error {
	return n.nft(fmt.Sprintf("add rule ip chaos out ip daddr %s tcp dport %d drop", n.Host, port))
}

// DropFrom drops what comes in from a TCP port of the machine.
func (n *Namespace) DropFrom(port int) error {
	return n.nft(fmt.Sprintf("add rule ip chaos in ip saddr %s tcp sport %d drop", n.Host, port))
}

// Down takes the pair of interfaces down.
func (n *Namespace) Down() error { return run("ip link set " + n.veth + " down") }

// Heal undoes DropTo, DropFrom and Down.
func (n *Namespace) Heal() error {
	return errors.Join(n.nft("flush chain ip chaos in"), n.nft("flush chain ip chaos out"), run("ip link set "+n.veth+" up"))
}

func (n *Namespace) nft(rule string) error { return run("ip netns exec " + n.name + " nft " + rule) }

// run runs a command line of words without quotes.
func run(line string) error {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	words := strings.Fields(line)
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return nil
}
