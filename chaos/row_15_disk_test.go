package chaos

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/cluster"
	"github.com/taskloom/taskloom/chaos/internal/disk"
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/stacktest"
)

// The sizes of the disks that are filled: what an empty cluster takes, and some
// room for a run.
const (
	dataDisk = 512 << 20
	walDisk  = 96 << 20
	s3Disk   = 256 << 20
)

// TestRow15DiskFull fills the disk of Postgres's data, then that of its log,
// which stops the server, then that of the object store, each while an archive
// is unpacked. Callers are told 503 with Retry-After and never 500; once there
// is room, and Postgres was started again where it has ended, everything goes on
// within the deadline, and nothing that was acknowledged is lost or half there.
//
// That a disk becomes full is for the alerts of the machine that has it (of
// node_exporter or of the provider): the product does not see Postgres's disk.
func TestRow15DiskFull(t *testing.T) {
	row := Row{Number: 15}
	row.skip(t)
	mustNotSkip(t)
	if missing := disk.Missing(); missing != "" {
		t.Skip(missing)
	}
	data, wal, objects := disk.New(t, dataDisk), disk.New(t, walDisk), disk.New(t, s3Disk)
	var db *cluster.Cluster
	var b badS3
	full := func(name string, d *disk.Disk, serves bool, during func(context.Context, *Run) error) Fault {
		return Fault{Name: name, Serves: serves, During: during, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
			from := time.Now()
			up, err := b.put(ctx, zipOf(t, rowsOfArchive, bytesOfFile))
			if err != nil {
				return nil, err
			}
			if status, answer, err := b.confirm(ctx, up); err != nil || status != http.StatusAccepted {
				return nil, fmt.Errorf("the confirmation was answered %d %.200s: %w", status, answer, err)
			}
			if err := d.Fill(); err != nil {
				return nil, err
			}
			return func(ctx context.Context) error {
				r.Logf("%.1f %% of the disk are taken, Postgres runs: %v", 100*d.Used(), db.Alive())
				d.Free()
				starts, err := db.Revive(ctx)
				if err != nil {
					return err
				}
				r.Logf("Postgres answers; its supervisor started it %d times", starts)
				b.made(t.Context(), b.ended(t.Context(), up.ID, recoverWithin), rowsOfArchive)
				r.neverInternal(from)
				return nil
			}, nil
		}}
	}
	RunRow(t, Row{
		Number: 15, Name: "disk full",
		Settings: func(s *Settings) {
			lightly(&s.Load)
			db = cluster.Start(t, cluster.Options{
				Dir: filepath.Join(data.Dir, "postgres"),
				// Segments of a megabyte: a full disk is noticed with the next one.
				Init:     []string{"--waldir=" + filepath.Join(wal.Dir, "wal"), "--wal-segsize=1"},
				Settings: []string{"wal_keep_size=0", "min_wal_size=2MB", "max_wal_size=16MB"},
			})
			s.Env = append(s.Env, "DATABASE_URL="+db.URL())
			store, env := startGateway(t, objects.Dir)
			b.direct = store
			s.Env = append(s.Env, env...)
		},
		Prepare: func(ctx context.Context, r *Run) error { return b.prepare(ctx, r, 4) },
		Faults: []Fault{
			full("the disk of Postgres's data is full", data, false, func(ctx context.Context, _ *Run) error { return b.toldToComeAgain(ctx) }),
			full("the disk of Postgres's log is full", wal, false, func(ctx context.Context, _ *Run) error { return b.toldToComeAgain(ctx) }),
			full("the disk of the object store is full", objects, true, func(ctx context.Context, _ *Run) error { return b.noRoom(ctx) }),
		},
		Hold:  holdFor(10 * time.Second),
		After: b.whole,
	})
}

// toldToComeAgain creates tasks until it is told ten times that this cannot be
// done, as it must be once the disk is full: with 503, and when to come again. They
// are few and large, of random letters that Postgres cannot make smaller: the run of
// each is to start within the deadline, beside people, and starts have a pace.
func (b *badS3) toldToComeAgain(ctx context.Context) error {
	const enough = 10
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	noise := make([]byte, 75_000)
	_, _ = rand.Read(noise) // never fails
	body := plainTasks(10, "qfiles "+base64.StdEncoding.EncodeToString(noise))
	made := 0
	for told, n := 0, 0; told < enough; n++ {
		// Without a key a create whose commit was under way when Postgres stopped is 500.
		c := &http.Client{Timeout: 2 * callTimeout, Transport: withKey(fmt.Sprintf("disk-%d", n))}
		a, err := ask(ctx, c, http.MethodPost, fmt.Sprintf("%s/api/v1/workflows/%d/tasks", b.run.bases[n%len(b.run.bases)], b.plain), b.key, body)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("the disk is full, and after %d creates only %d were told so", n, told)
		case err != nil:
			b.run.Violate("I10: a create on a full disk got no answer: %v", err)
			return nil
		case a.later():
			told++
		case a.status >= http.StatusInternalServerError:
			b.run.Violate("I10: a create on a full disk was answered %d, Retry-After %q: %.300s", a.status, a.retryAfter, a.body)
			return nil
		case a.status >= http.StatusBadRequest:
			return fmt.Errorf("a create was answered %d: %.300s", a.status, a.body)
		default:
			made++
		}
	}
	b.run.Logf("%d creates were made, and %d told to come again", made, enough)
	return nil
}

// noRoom sees that an archive for which there is no room does not count as
// stored: it is refused, not cut short.
func (b *badS3) noRoom(ctx context.Context) error {
	up, _, err := b.init(ctx)
	if err != nil {
		return err
	}
	stored := b.store(ctx, up, zipOf(b.run.t, rowsOfArchive, bytesOfFile))
	if stored == nil {
		return errors.New("there is room for an archive on a full disk")
	}
	status, answer, err := b.confirm(ctx, up, http.StatusUnprocessableEntity)
	if err != nil {
		return err
	}
	if status != http.StatusUnprocessableEntity {
		b.run.Violate("I8: an archive that was not stored (%v) was confirmed with %d: %.200s", stored, status, answer)
	}
	b.run.Logf("an archive without room: %v, and its confirmation %d", stored, status)
	return nil
}

// neverInternal notes calls since a moment that were answered with 500: what
// passes must be told as 503.
func (r *Run) neverInternal(from time.Time) {
	n, told := 0, 0
	var first Op
	for _, op := range r.History.Ops() {
		if op.Call < from.UnixNano() {
			continue
		}
		switch op.Status {
		case http.StatusServiceUnavailable:
			told++
		case http.StatusInternalServerError:
			if n++; n == 1 {
				first = op
			}
		}
	}
	r.Logf("%d calls were answered 503, %d were answered 500", told, n)
	if n > 0 {
		r.Violate("I10: %d calls were answered 500, the first a %s: %s", n, first.Kind, first.Error)
	}
}

// startGateway runs an S3 store in a directory until the test is over, and
// returns what leads to it.
func startGateway(t *testing.T, dir string) (*blob.Store, []string) {
	t.Helper()
	const bucket, region, id, secret = "taskloom", "us-east-1", "taskloom-chaos", "taskloom-chaos-secret"
	addr := stacktest.FreeAddr(t)
	ready, report, err := os.Pipe()
	require.NoError(t, err)
	defer ready.Close()
	log := must(os.Create(filepath.Join(t.TempDir(), "s3.log")))(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), stacktest.Binary(t, "taskloom-dev"),
		"s3", "--addr", addr, "--dir", dir, "--bucket", bucket, "--region", region)
	cmd.Env = append(os.Environ(), "TASKLOOM_DEV_S3_ACCESS_KEY_ID="+id, "TASKLOOM_DEV_S3_SECRET_ACCESS_KEY="+secret)
	cmd.ExtraFiles = []*os.File{report} // where it reports
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	_ = report.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
	})
	lines := bufio.NewReader(ready)
	for line := ""; line != "ready\n"; {
		line, err = lines.ReadString('\n')
		require.NoError(t, err, "the gateway did not start; its log is %s", log.Name())
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	c := blob.Config{Endpoint: "http://" + addr, Region: region, Bucket: bucket, AccessKeyID: id, SecretAccessKey: secret}
	return blob.Open(c), []string{
		"S3_ENDPOINT=" + c.Endpoint, "S3_PUBLIC_ENDPOINT=" + c.Endpoint, "S3_REGION=" + region, "S3_BUCKET=" + bucket,
		"S3_ACCESS_KEY_ID=" + id, "S3_SECRET_ACCESS_KEY=" + secret,
	}
}
