package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"github.com/taskloom/taskloom/internal/measure/zipgen"
)

//go:embed ingest.sh
var scriptText string

// script is ingest.sh on an archive that lies on the local disk already. It
// keeps name and size of each file and nothing else: no hash, no content type,
// no check, no journal.
type script struct {
	*ingestion

	env     []string
	dir     string // its TMPDIR
	archive string
	bytes   int64 // of its files
	used    []usage
}

// newScript returns nil where a program is missing, and says which.
func (b *bench) newScript(ctx context.Context, in *ingestion, databaseURL string) (*script, error) {
	var missing []string
	for _, p := range []struct{ program, pkg string }{{"unzip", "unzip"}, {"rclone", "rclone"}, {"psql", "postgresql-client"}} {
		if _, err := exec.LookPath(p.program); err != nil {
			missing = append(missing, p.program+" (Debian package "+p.pkg+")")
		}
	}
	if len(missing) > 0 {
		b.note("not compared with the script, for this machine has no %s", strings.Join(missing, ", no "))
		return nil, nil //nolint:nilnil // as documented
	}
	if err := in.exec(ctx, `CREATE TABLE script_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, size bigint NOT NULL)`); err != nil {
		return nil, err
	}
	dir, err := b.directory()
	if err != nil {
		return nil, err
	}
	s := &script{ingestion: in, dir: filepath.Join(dir, "script"), archive: filepath.Join(dir, "script.zip")}
	// rclone also heeds what an operator has set for the AWS tools.
	s.env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "AWS_") })
	s.env = append(s.env, "DATABASE_URL="+databaseURL, "TMPDIR="+s.dir,
		"RCLONE_CONFIG="+filepath.Join(dir, "rclone.conf"), "RCLONE_CONFIG_BENCH_TYPE=s3", "RCLONE_CONFIG_BENCH_PROVIDER=Other",
		"RCLONE_CONFIG_BENCH_ENDPOINT="+os.Getenv("S3_ENDPOINT"), "RCLONE_CONFIG_BENCH_REGION="+os.Getenv("S3_REGION"),
		"RCLONE_CONFIG_BENCH_ACCESS_KEY_ID="+os.Getenv("S3_ACCESS_KEY_ID"),
		"RCLONE_CONFIG_BENCH_SECRET_ACCESS_KEY="+os.Getenv("S3_SECRET_ACCESS_KEY"), "RCLONE_S3_NO_CHECK_BUCKET=true")
	return s, os.WriteFile(filepath.Join(dir, "rclone.conf"), nil, 0o600)
}

// prepare lays an archive on the local disk: how it came there is not counted.
func (s *script) prepare(a zipgen.Archive) error {
	s.used, s.bytes = nil, a.Bytes()
	f, err := os.Create(s.archive)
	if err != nil {
		return fmt.Errorf("prepare the script: %w", err)
	}
	return errors.Join(a.Write(f), f.Sync(), f.Close(), s.leave())
}

// leave gives the memory back in which Linux keeps what the script had unpacked and its
// archive: with both there is less for the others than the script finds in its turn.
func (s *script) leave() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	f, err := os.Open(s.archive)
	if err != nil {
		return fmt.Errorf("forget the archive: %w", err)
	}
	defer f.Close()
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// remember has the archive in memory again, as those of the others are.
func (s *script) remember() error {
	f, err := os.Open(s.archive)
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

func (s *script) tidy() {
	_ = os.Remove(s.archive)
	_ = os.RemoveAll(s.dir)
}

// begin clears what earlier runs left.
func (s *script) begin(ctx context.Context) error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		return err
	}
	if err := s.exec(ctx, `TRUNCATE script_rows`); err != nil {
		return err
	}
	if err := s.clear(ctx); err != nil {
		return err
	}
	if err := s.remember(); err != nil {
		return err
	}
	settle(s.bytes)
	return nil
}

func (s *script) command() (*exec.Cmd, *bytes.Buffer) {
	var said bytes.Buffer
	target := "bench:" + s.bucket.name + "/" + s.prefix + "script"
	cmd := exec.CommandContext(context.Background(), "sh", "-c", scriptText, "ingest.sh", s.archive, target, "script_rows")
	cmd.Env, cmd.Stdout, cmd.Stderr = s.env, &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd, &said
}

// run is one run of the script; it is killed, with all that it started, when
// the context is over.
func (s *script) run(ctx context.Context) (seconds float64, err error) {
	before, err := s.usage(s.api, s.worker)
	if err != nil {
		return 0, err
	}
	cmd, said := s.command()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run the script: %w", err)
	}
	undo := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer undo()
	err = cmd.Wait()
	seconds = time.Since(began).Seconds()
	switch {
	case ctx.Err() != nil:
		return seconds, ctx.Err()
	case err != nil:
		return seconds, fmt.Errorf("the script: %w: %.500s", err, said)
	}
	after, err := s.usage(s.api, s.worker)
	used := after.since(before)
	used["script"] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	used[usageOthers] -= used["script"]
	s.used = append(s.used, used)
	return seconds, err
}

// sample is one run from the start.
func (s *script) sample(ctx context.Context) (float64, error) {
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	took, err := s.run(ctx)
	return took, errors.Join(err, s.leave())
}

// killed kills the script when half of its time is over and starts it again,
// which is all that one can do with it.
func (s *script) killed(ctx context.Context, like *ingestRun) error {
	if err := s.prepare(like.archive); err != nil {
		return err
	}
	defer s.tidy()
	undisturbed, err := s.sample(ctx)
	if err != nil {
		return err
	}
	var again []float64
	var wrong wrongRows
	for range killedRuns {
		if err := s.begin(ctx); err != nil {
			return err
		}
		half, cancel := context.WithTimeout(ctx, time.Duration(undisturbed/2*float64(time.Second)))
		_, err := s.run(half)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the script ended before it could be disturbed: %w", err)
		}
		took, err := s.run(ctx)
		if err != nil {
			return err
		}
		again = append(again, took)
		w, err := s.check(ctx, like)
		if err != nil {
			return err
		}
		wrong.add(w)
	}
	f := s.find(fmt.Sprintf("%s, the script killed in the middle and run again", shape{like.archive.Files, like.archive.Size}))
	f.add(
		figure{Name: "from the kill to the end", Value: spreadOf(again).Median, Unit: unitSeconds},
		figure{Name: "the whole, undisturbed", Value: undisturbed, Unit: unitSeconds})
	wrong.into(f)
	return nil
}

// check compares the script's rows and objects with the archive.
func (s *script) check(ctx context.Context, like *ingestRun) (wrongRows, error) {
	prefix := s.prefix + "script/"
	rows, _ := s.pool.Query(ctx, `SELECT name, $1 || name, size, NULL::text FROM script_rows`, prefix)
	found, err := pgx.CollectRows(rows, scanStored)
	if err != nil {
		return wrongRows{}, fmt.Errorf("read the script's rows: %w", err)
	}
	return like.compareFiles(ctx, found, prefix)
}
