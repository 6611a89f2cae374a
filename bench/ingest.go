package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgDeadlock is deadlock_detected (PostgreSQL, appendix A).
const pgDeadlock = "40P01"

// ingestDocument is two workflows with one file each. The runs of the first
// begin when a task is claimed, so that what is measured is ingestion; those of
// the second as most have it, in which Temporal hears of every task.
const ingestDocument = `
organizations:
  - slug: bench
    name: Bench
    users: [{email: ana@bench.test, name: Ana, password: a-password-for-one-run, role: org_admin}]
    projects:
      - name: Scans
        pipelines:
          - {status: ACTIVE, definition: {name: on claim, runs: on_first_claim, nodes: &nodes [
              {key: start, kind: start},
              {key: read, kind: subtask, title: Read the scan, fields: [
                {name: scan, title: Scan, type: file_upload, input: seeded, required: true},
                {name: total, title: Total, type: short_text, input: contributor, required: true}]},
              {key: end, kind: end}], edges: &edges [{from: start, to: read}, {from: read, to: end}]}}
          - {status: ACTIVE, definition: {name: at creation, runs: at_creation, nodes: *nodes, edges: *edges}}
    api_keys: [{name: bench, created_by: ana@bench.test, expires: 30d}]
`

// ingestion is what the part works on.
type ingestion struct {
	*bench
	*deployment
	applied
	pool   *pgxpool.Pool
	bucket *bucket
	client *apiClient
	script *script // nil where a program is missing
	prefix string  // of the bench's own objects
}

func ingestPart(ctx context.Context, b *bench) error {
	in, err := b.newIngestion(ctx)
	if err != nil {
		return err
	}
	defer in.close()
	if err := in.start(ctx); err != nil {
		return err
	}
	watched := watchMemory(ctx, time.Second, in.api, in.worker)
	defer watched.stop()
	for _, s := range b.shapes {
		if err := in.compareShape(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	watched.into(b.find("memory over all of it"))
	if err := in.atCreation(ctx, b.shapes[0]); err != nil {
		return fmt.Errorf("runs at creation: %w", err)
	}
	if err := in.killed(ctx, b.shapes[0]); err != nil {
		return fmt.Errorf("kill -9: %w", err)
	}
	return nil
}

func (b *bench) newIngestion(ctx context.Context) (_ *ingestion, err error) {
	in := &ingestion{bench: b, prefix: fmt.Sprintf("bench/%d/", time.Now().UnixNano())}
	if in.bucket, err = openBucket(); err != nil {
		return nil, err
	}
	url, err := b.newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	if in.pool, err = pgxpool.New(ctx, url); err != nil {
		return nil, err
	}
	b.later(in.pool.Close)
	// Runs are named after tasks: no two databases on one Temporal may share ids.
	if err := in.exec(ctx, fmt.Sprintf(`ALTER SEQUENCE tasks_id_seq RESTART WITH %d`, time.Now().UnixMilli())); err != nil {
		return nil, err
	}
	if in.deployment, err = b.deploy(ctx, url); err != nil {
		return nil, err
	}
	if in.applied, err = in.apply(ctx, ingestDocument); err != nil {
		return nil, err
	}
	in.client = newAPIClient(in.base, in.key)
	in.script, err = b.newScript(ctx, in, url)
	return in, err
}

func (in *ingestion) close() {
	in.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := in.bucket.remove(ctx, in.prefix); err != nil {
		in.say("objects are left behind: %v", err)
	}
}

// exec runs a statement that prepares or checks, never one that is measured.
func (in *ingestion) exec(ctx context.Context, sql string) error {
	_, err := in.pool.Exec(ctx, sql)
	return err
}

// clear removes what a sample left.
func (in *ingestion) clear(ctx context.Context) error {
	for {
		err := in.exec(ctx, `TRUNCATE tasks, task_nodes, task_events, submissions, drafts, outbox, files, upload_rows, uploads`)
		if err == nil {
			break
		}
		// The worker locks the tables in another order: it looks after what is there.
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != pgDeadlock {
			return fmt.Errorf("clear: %w", err)
		}
	}
	for _, prefix := range []string{in.filesPrefix(), in.prefix + "copy/", in.prefix + "script/"} {
		if err := in.bucket.remove(ctx, prefix); err != nil {
			return err
		}
	}
	return nil
}

func (in *ingestion) filesPrefix() string { return fmt.Sprintf("org/%d/files/", in.org) }

// room makes sure that a shape fits on the disk: its sources, an archive, what
// comes of it, and what the script lays aside twice.
func (in *ingestion) room(s shape) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(os.TempDir(), &fs); err != nil {
		return fmt.Errorf("look for room in %s: %w", os.TempDir(), err)
	}
	free, need := int64(fs.Bavail)*fs.Bsize, 5*s.bytes() //nolint:gosec // no disk is that large
	if free < need {
		return fmt.Errorf("%s has %d GB free, this needs %d GB: set TMPDIR to a larger disk, or choose smaller archives with -shapes",
			os.TempDir(), free/1e9, need/1e9+1)
	}
	return nil
}
