// Package cluster gives tests a Postgres cluster of their own, apart from the
// one that Temporal uses: to be stopped, copied, put back, replicated and
// promoted while Temporal goes on.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

const (
	// User is the superuser.
	User = "postgres"
	// Password is the superuser's.
	Password = "taskloom-chaos"
	// Database is the one that is made for the product.
	Database = "taskloom"

	// startTime is how long a server may take to answer; replaying the log
	// after an immediate stop takes the longest.
	startTime = 60 * time.Second
	// copyTime bounds initdb, a base backup and the copy of a data directory.
	copyTime = 3 * time.Minute
)

// How a server ends: Fast in order, Immediate as in a crash.
const (
	Fast      = syscall.SIGINT
	Immediate = syscall.SIGQUIT
)

// Options say how to run a cluster. The zero value is usable.
type Options struct {
	// Settings are name=value for postgresql.conf.
	Settings []string
	// Init are more arguments of initdb: --waldir=/elsewhere, say, a directory
	// that the server's account may make.
	Init []string
	// Env are NAME=value for the server, LD_PRELOAD say.
	Env []string
	// Dir is where the data goes, "" for a new directory below /var/tmp. It is
	// made, and removed with the test. The server's account must reach it.
	Dir string
	// Allow is a network beside this machine that may connect: 10.213.1.0/24.
	Allow string
}

// Cluster is one data directory with a server on it, which runs or does not.
type Cluster struct {
	// Dir holds the data directory and the log.
	Dir  string
	Port int

	t    testing.TB
	o    Options
	bin  string
	cred *syscall.Credential
	cmd  *exec.Cmd
	done chan struct{} // closed when the server has ended
}

// Start makes a cluster with the product's database in it, empty, and runs it
// until the test is over.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c := prepare(t, o)
	password := filepath.Join(c.Dir, "password")
	require.NoError(t, os.WriteFile(password, []byte(Password+"\n"), 0o600))
	c.own(password)
	c.run("initdb", append([]string{"-D", c.Data(), "-U", User, "-A", "scram-sha-256", "--pwfile=" + password, "-E", "UTF8", "--locale=C", "--no-instructions"}, o.Init...)...)
	if o.Allow != "" {
		hba, err := os.OpenFile(filepath.Join(c.Data(), "pg_hba.conf"), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = fmt.Fprintf(hba, "host all all %s scram-sha-256\n", o.Allow)
		require.NoError(t, err)
		require.NoError(t, hba.Close())
	}
	c.Run()
	c.exec("CREATE DATABASE " + Database)
	return c
}

// prepare makes the directory and finds the binaries and a port.
func prepare(t testing.TB, o Options) *Cluster {
	t.Helper()
	c := &Cluster{t: t, o: o, bin: binaries(t), cred: account(t), Port: freePort(t), Dir: o.Dir}
	if c.Dir == "" {
		dir, err := os.MkdirTemp("/var/tmp", "taskloom-cluster-") //nolint:usetesting // TempDir is closed to other users
		require.NoError(t, err)
		c.Dir = dir
	}
	t.Cleanup(func() {
		c.Stop(Immediate)
		if t.Failed() {
			t.Logf("last lines of Postgres at %s:\n%s", c.Addr(), c.lastLog())
		}
		_ = os.RemoveAll(c.Dir)
	})
	require.NoError(t, os.MkdirAll(c.Dir, 0o755))
	require.NoError(t, os.Chmod(c.Dir, 0o755))
	c.own(c.Dir)
	return c
}

// Data is the data directory.
func (c *Cluster) Data() string { return filepath.Join(c.Dir, "data") }

// Addr is the server's host:port.
func (c *Cluster) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)) }

// URL is the connection string for the product.
func (c *Cluster) URL() string { return c.url(c.Addr(), Database, "") }

// URLAt is URL for those who see the server at another address of this machine.
func (c *Cluster) URLAt(host string) string {
	return c.url(net.JoinHostPort(host, strconv.Itoa(c.Port)), Database, "")
}

// URL2 is the connection string for either of two servers, whichever takes
// writes.
func (c *Cluster) URL2(other *Cluster) string {
	return c.url(c.Addr()+","+other.Addr(), Database, "&target_session_attrs=read-write")
}

func (c *Cluster) url(hosts, database, more string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable%s", url.UserPassword(User, Password), hosts, database, more)
}

// Run starts the server and waits until it answers.
func (c *Cluster) Run() {
	c.t.Helper()
	require.Nil(c.t, c.cmd, "the server at %s runs already", c.Addr())
	log, err := os.OpenFile(c.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(c.t, err)
	defer log.Close()
	settings := append([]string{
		"listen_addresses=*", "unix_socket_directories=", "password_encryption=scram-sha-256", "max_connections=200",
		"shared_buffers=128MB", "log_line_prefix=%m [%p] ", "hot_standby=on", "wal_keep_size=256MB",
	}, c.o.Settings...)
	args := []string{"-D", c.Data(), "-p", strconv.Itoa(c.Port)}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	cmd := c.command(context.Background(), "postgres", args...)
	cmd.Env = append(cmd.Env, c.o.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(c.t, cmd.Start())
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	c.cmd, c.done = cmd, done
	require.Eventually(c.t, func() bool {
		ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, c.url(c.Addr(), "postgres", ""))
		if err != nil {
			return false
		}
		return conn.Close(ctx) == nil
	}, startTime, 50*time.Millisecond, "Postgres at %s does not answer", c.Addr())
}

// Stop ends the server and waits until it has ended. Stopping twice is fine.
func (c *Cluster) Stop(how syscall.Signal) {
	c.t.Helper()
	if c.cmd == nil {
		return
	}
	_ = c.cmd.Process.Signal(how)
	select {
	case <-c.done:
	case <-time.After(startTime):
		_ = c.cmd.Process.Signal(Immediate)
		<-c.done
	}
	c.cmd, c.done = nil, nil
}

// Pid is the server's process.
func (c *Cluster) Pid() int { return c.cmd.Process.Pid }

// Connect opens a connection past everything else; it ends with the test.
func (c *Cluster) Connect(database string) *pgx.Conn {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.url(c.Addr(), database, ""))
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(c.t.Context())) })
	return conn
}

// Count answers a question of one number over a connection of its own, which
// is closed when it returns: it may be asked again and again.
func (c *Cluster) Count(ctx context.Context, sql string) (n int, err error) {
	conn, err := pgx.Connect(ctx, c.url(c.Addr(), "postgres", ""))
	if err != nil {
		return 0, fmt.Errorf("connect to Postgres at %s: %w", c.Addr(), err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if err := conn.QueryRow(ctx, sql).Scan(&n); err != nil {
		return 0, fmt.Errorf("ask Postgres at %s: %w", c.Addr(), err)
	}
	return n, nil
}

// Set changes settings of the running server, which must not need a restart.
func (c *Cluster) Set(name, value string) {
	c.t.Helper()
	c.exec(fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", name, value), "SELECT pg_reload_conf()")
}

// exec runs statements over a connection that is closed afterwards.
func (c *Cluster) exec(statements ...string) {
	c.t.Helper()
	ctx := c.t.Context()
	conn, err := pgx.Connect(ctx, c.url(c.Addr(), "postgres", ""))
	require.NoError(c.t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, sql := range statements {
		_, err := conn.Exec(ctx, sql)
		require.NoError(c.t, err, "%s at %s", sql, c.Addr())
	}
}

// Backup copies the data directory of the running server to one beside it.
func (c *Cluster) Backup() (dir string) {
	c.t.Helper()
	dir = filepath.Join(c.Dir, fmt.Sprintf("backup-%d", time.Now().UnixNano()))
	c.baseBackup(c.Port, dir)
	return dir
}

// Restore stops the server as a crash does, puts a backup in the place of its
// data, and starts it: everything since the backup is gone.
func (c *Cluster) Restore(backup string) {
	c.t.Helper()
	c.Stop(Immediate)
	require.NoError(c.t, os.RemoveAll(c.Data()))
	require.NoError(c.t, os.Rename(backup, c.Data()))
	c.Run()
}

// Standby makes and runs a second cluster that follows this one. Its name for
// synchronous_standby_names is name.
func (c *Cluster) Standby(name string) *Cluster {
	c.t.Helper()
	s := prepare(c.t, Options{Settings: c.o.Settings})
	s.baseBackup(c.Port, s.Data(), "-R", "-d", fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=%s application_name=%s", c.Port, User, Password, name))
	s.Run()
	return s
}

// Promote makes a standby take writes.
func (c *Cluster) Promote() {
	c.t.Helper()
	c.exec("SELECT pg_promote(true, 60)")
}

func (c *Cluster) baseBackup(port int, into string, more ...string) {
	c.t.Helper()
	args := []string{"-D", into, "-X", "stream", "-c", "fast", "--no-password"}
	if !slices.Contains(more, "-d") {
		args = append(args, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-U", User)
	}
	c.run("pg_basebackup", append(args, more...)...)
}

// run runs one of Postgres's commands to its end.
func (c *Cluster) run(name string, args ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), copyTime)
	defer cancel()
	cmd := c.command(ctx, name, args...)
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "%s %v: %s", name, args, out)
}

func (c *Cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, name), args...)
	// PG* variables of the caller must not reach the server.
	cmd.Env = []string{"PATH=" + c.bin + ":/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "PGPASSWORD=" + Password}
	cmd.Dir = c.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.cred, Pdeathsig: syscall.SIGQUIT}
	return cmd
}

func (c *Cluster) log() string { return filepath.Join(c.Dir, "log") }

func (c *Cluster) lastLog() string {
	const most = 4000
	raw, _ := os.ReadFile(c.log())
	return string(raw[max(0, len(raw)-most):])
}

// own hands a file or an empty directory to the server's account.
func (c *Cluster) own(path string) {
	c.t.Helper()
	if c.cred != nil {
		require.NoError(c.t, os.Chown(path, int(c.cred.Uid), int(c.cred.Gid)))
	}
}

// binaries is the directory of the newest Postgres of this machine.
func binaries(t testing.TB) string {
	t.Helper()
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	require.NoError(t, err)
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "pg_basebackup"))
		return err != nil
	})
	require.NotEmpty(t, dirs, "no Postgres with pg_basebackup here; install it (Debian: apt-get install postgresql)")
	return dirs[len(dirs)-1]
}

// account is who the server runs as: it refuses to run as root.
func account(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		require.NoError(t, err)
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		require.NoError(t, err)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	require.Fail(t, "no account to run Postgres as", "make one: useradd --system postgres")
	return nil
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
