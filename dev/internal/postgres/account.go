// Package postgres runs one Postgres cluster from the system's binaries: it
// finds or installs them, makes the cluster, and says how to start the server.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"

	"github.com/taskloom/taskloom/dev/internal/child"
)

// Account is who Postgres runs as. It refuses to run as root, so root lends it
// an unprivileged account; anybody else runs it as themselves.
type Account struct {
	Name       string
	Credential *syscall.Credential // nil: ourselves
}

// candidates are the accounts to try under root, the best first.
var candidates = []string{"postgres", "nobody"}

// chooseAccount returns the account for the cluster at data, which may not
// exist yet: an existing cluster belongs to whoever made it.
func chooseAccount(data string) (Account, error) {
	owner, exists, err := ownerOf(data)
	if err != nil {
		return Account{}, err
	}
	if uid := os.Geteuid(); uid != 0 {
		if exists && int64(owner.Uid) != int64(uid) {
			return Account{}, fmt.Errorf(`the database in %s belongs to uid %d, and this is uid %d
  run as the user that made it, or use another directory: DEV_DIR=.dev2 make dev`, data, owner.Uid, uid)
		}
		return Account{Name: "you"}, nil
	}
	if exists && owner.Uid != 0 {
		return Account{Name: fmt.Sprintf("uid %d", owner.Uid), Credential: owner}, nil
	}
	for _, name := range candidates {
		if account, err := lookUp(name); err == nil {
			return account, nil
		}
	}
	return Account{}, fmt.Errorf(`Postgres cannot run as root and there is no account %q or %q to run it as
  make one (useradd --system postgres), or run make dev as an ordinary user`, candidates[0], candidates[1])
}

func lookUp(name string) (Account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return Account{}, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return Account{}, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return Account{}, err
	}
	return Account{Name: name, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

func ownerOf(path string) (*syscall.Credential, bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look at the database: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, false, fmt.Errorf("look at the database: no owner known for %s", path)
	}
	return &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}, true, nil
}

// reaches reports whether the account can enter a directory: each directory
// above it must let the account pass. Only trying tells for sure.
func (a Account) reaches(ctx context.Context, spawner *child.Spawner, dir string) bool {
	if a.Credential == nil {
		return true
	}
	probe := exec.Command("/bin/sh", "-c", ":")
	probe.Dir = dir
	probe.SysProcAttr = child.Attr(syscall.SIGKILL, a.Credential)
	return spawner.Run(ctx, probe) == nil
}

// own hands a file or an empty directory to the account.
func (a Account) own(path string) error {
	if a.Credential == nil {
		return nil
	}
	return os.Chown(path, int(a.Credential.Uid), int(a.Credential.Gid))
}
