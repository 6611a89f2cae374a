package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// The people and programs of the day.
const (
	contributorCount = 500
	// standIns see to it that somebody is free for all that is due: in the busiest
	// stretch of a day 513 contributors are at work at a time, and by chance some 60
	// more. Reviews wait for their reviewers.
	standIns        = 80
	reviewerCount   = 50
	integratorCount = 20
	// archiveCount are archives at the same time, each with a key of its own: who
	// follows one asks all the time.
	archiveCount = 2
)

// world is an organization with people, keys and pipelines.
type world struct {
	pool    *pgxpool.Pool
	org     int64
	project int64
	// main is the pipeline with many tasks, small the one whose queue runs
	// empty, scans the one that archives go into.
	main, small, scans int64
	version            int64 // of main
	smallVersion       int64
	admin              person
	contributors       []*person
	reviewers          []*person
	keys               []string
	stranger           string // the key of another organization
	filled             int64  // the last id of a task that was filled in
}

// person is somebody with a session.
type person struct {
	id    int64
	token string
	last  guarded[seen] // answer to a poll
	acted atomic.Int64  // how often they began or ended something of their own
}

// newWorld makes everything but tasks, by SQL: 630 logins would take longer
// than some scripts.
func newWorld(ctx context.Context, pool *pgxpool.Pool, o options) (*world, error) {
	w := &world{pool: pool}
	// Runs are named after tasks: no two databases on one Temporal may share ids.
	if _, err := pool.Exec(ctx, fmt.Sprintf(`ALTER SEQUENCE tasks_id_seq RESTART WITH %d`, time.Now().UnixMilli())); err != nil {
		return nil, err
	}
	if err := pool.QueryRow(ctx, `WITH o AS (INSERT INTO organizations (slug, name) VALUES ('load', 'Load') RETURNING id)
		INSERT INTO projects (org_id, name) SELECT id, 'Main' FROM o RETURNING org_id, id`).Scan(&w.org, &w.project); err != nil {
		return nil, err
	}
	if err := w.addPeople(ctx, o); err != nil {
		return nil, fmt.Errorf("add people: %w", err)
	}
	if err := w.addKeys(ctx); err != nil {
		return nil, fmt.Errorf("add API keys: %w", err)
	}
	for _, p := range []struct {
		id, version *int64
		def         pipeline.Definition
	}{
		{&w.main, &w.version, named(mathcheck.Definition(), "Math check", o.runs)},
		{&w.small, &w.smallVersion, named(mathcheck.Definition(), "Small", o.runs)},
		{&w.scans, new(int64), named(scans(), "Scans", o.runs)},
	} {
		if err := w.addPipeline(ctx, p.def, p.id, p.version); err != nil {
			return nil, fmt.Errorf("add pipeline %q: %w", p.def.Name, err)
		}
	}
	return w, nil
}

func named(d pipeline.Definition, name, runs string) pipeline.Definition {
	d.Name, d.Runs = name, pipeline.Runs(runs)
	return d
}

// scans is a pipeline with a file in each task.
func scans() pipeline.Definition {
	return pipeline.Definition{
		Nodes: []pipeline.Node{
			{Key: "start", Kind: pipeline.KindStart},
			{Key: "read", Kind: pipeline.KindSubtask, Title: "Read the scan", Fields: []form.Field{
				{Name: "scan", Title: "Scan", Type: form.FileUpload, Input: form.Seeded, Required: true},
				{Name: "total", Title: "Total", Type: form.ShortText, Input: form.Contributor, Required: true},
			}},
			{Key: "end", Kind: pipeline.KindEnd},
		},
		Edges: []pipeline.Edge{{From: "start", To: "read"}, {From: "read", To: "end"}},
	}
}

func (w *world) addPipeline(ctx context.Context, d pipeline.Definition, id, version *int64) error {
	def, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := w.pool.QueryRow(ctx, `INSERT INTO pipelines (org_id, project_id, name, status, draft) VALUES ($1, $2, $3, 'ACTIVE', $4)
		RETURNING id`, w.org, w.project, d.Name, def).Scan(id); err != nil {
		return err
	}
	if err := w.pool.QueryRow(ctx, `INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition) VALUES ($1, $2, 1, $3)
		RETURNING id`, w.org, *id, def).Scan(version); err != nil {
		return err
	}
	_, err = w.pool.Exec(ctx, `UPDATE pipelines SET version_id = $1 WHERE id = $2`, *version, *id)
	return err
}

func (w *world) addPeople(ctx context.Context, o options) error {
	add := func(role string, n int) ([]*person, error) {
		out := make([]*person, n)
		hashes := make([][]byte, n)
		for i := range out {
			out[i] = &person{token: rand.Text()}
			sum := sha256.Sum256([]byte(out[i].token))
			hashes[i] = sum[:]
		}
		rows, err := w.pool.Query(ctx, `WITH s AS (SELECT hash, number, $1 || number || '@load.test' AS email FROM unnest($2::bytea[])
				WITH ORDINALITY AS t(hash, number)
			), u AS (INSERT INTO users (email, name, password_hash) SELECT email, email, 'none' FROM s RETURNING id, email
			), m AS (INSERT INTO org_members (org_id, user_id, role) SELECT $3, id, 'member' FROM u RETURNING user_id
			), p AS (INSERT INTO project_members (org_id, project_id, user_id, role) SELECT $3, $4, user_id, $1 FROM m
			), k AS (INSERT INTO sessions (hash, user_id, expires_at, agent)
				SELECT s.hash, u.id, now() + interval '3 days', 'load' FROM s JOIN u USING (email))
			SELECT u.id, s.number FROM u JOIN s USING (email)`, role, hashes, w.org, w.project)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			var number int
			if err := rows.Scan(&id, &number); err != nil {
				return nil, err
			}
			out[number-1].id = id
		}
		return out, rows.Err()
	}
	var err error
	if w.contributors, err = add("contributor", o.count(contributorCount+standIns)); err != nil {
		return err
	}
	if w.reviewers, err = add("reviewer", o.count(reviewerCount)); err != nil {
		return err
	}
	admins, err := add("project_admin", 1)
	if err != nil {
		return err
	}
	w.admin = person{id: admins[0].id, token: admins[0].token}
	return nil
}

// keyCount are one a program, one for each of those that create tasks, one for each
// archive, and one for who walks over all tasks.
const keyCount = integratorCount + creatorCount + archiveCount + 1

// walkKey is the key that nothing but a walk is sent with.
func (w *world) walkKey() string { return w.keys[keyCount-1] }

// archiveKey is the key that nothing but this archive is sent with.
func (w *world) archiveKey(number uint64) string {
	return w.keys[integratorCount+creatorCount+number%archiveCount]
}

// addKeys makes all keys, and one of an organization that has nothing to do with
// all this.
func (w *world) addKeys(ctx context.Context) error {
	for i := range keyCount {
		key, err := w.addKey(ctx, w.org, fmt.Sprintf("key-%d", i))
		if err != nil {
			return err
		}
		w.keys = append(w.keys, key)
	}
	var other int64
	err := w.pool.QueryRow(ctx, `INSERT INTO organizations (slug, name) VALUES ('strangers', 'Strangers') RETURNING id`).Scan(&other)
	if err != nil {
		return err
	}
	w.stranger, err = w.addKey(ctx, other, "stranger")
	return err
}

func (w *world) addKey(ctx context.Context, org int64, name string) (string, error) {
	key, err := apikey.Generate(rand.Reader)
	if err != nil {
		return "", err
	}
	hash := apikey.Hash(key)
	_, err = w.pool.Exec(ctx, `INSERT INTO api_keys (org_id, name, hash, last4, created_by) VALUES ($1, $2, $3, $4, $5)`,
		org, name, hash[:], apikey.Last4(key), w.admin.id)
	return key, err
}

// fill puts tasks into the large pipeline.
func (w *world) fill(ctx context.Context, n int, m mathcheck.Mix) error {
	if err := mathcheck.FillMix(ctx, w.pool, w.place(), n, m); err != nil {
		return fmt.Errorf("fill in %d tasks: %w", n, err)
	}
	return w.mark(ctx)
}

// mark notes that all tasks so far were filled in.
func (w *world) mark(ctx context.Context) error {
	return w.pool.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM tasks`).Scan(&w.filled)
}

func (w *world) place() mathcheck.Place {
	p := mathcheck.Place{Org: w.org, Pipeline: w.main, Version: w.version, Actor: w.admin.id}
	for _, c := range w.contributors {
		p.Holders = append(p.Holders, c.id)
	}
	return p
}

// someTasks are ids from all over the large pipeline.
func (w *world) someTasks(ctx context.Context, n int) ([]int64, error) {
	rows, err := w.pool.Query(ctx, `SELECT id FROM tasks WHERE pipeline_id = $1 AND id % greatest(1, (SELECT count(*) FROM tasks) / $2) = 0
		ORDER BY md5(id::text) LIMIT $2`, w.main, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}
