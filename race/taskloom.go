package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/taskloom/taskloom/internal/measure/process"
)

// taskloom is the product as production runs it, each process by itself, on a
// database of its own. Only its HTTP API, its commands and, to make people and
// to look at rows, SQL are used.
type taskloom struct {
	db       *database
	base     string
	env      []string
	binary   string
	serve    *child
	worker   *child
	ready    string // where the worker is asked whether it is ready
	pipeline int64
	key      string
	cookies  []string // of people who may do everything in the project
}

// taskloomWorld is what taskloom's samples begin from: a database with people
// and a pipeline.
type taskloomWorld struct {
	template *database
	pipeline int64
	key      string
	cookies  []string
	secret   string
}

const taskloomDocument = `
organizations:
  - slug: race
    name: Race
    users:
      - {email: admin@race.test, name: Admin, password: for-one-run-only, role: org_admin}
    projects:
      - name: Race
        members:
          - {email: admin@race.test, role: project_admin}
        pipelines:
          - status: ACTIVE
            definition:
              name: Math check
              runs: at_creation
              nodes:
                - {key: start, kind: start}
                - key: solve
                  kind: subtask
                  title: Solve the problem
                  lease: %s
                  fields:
                    - {name: question, title: Question, type: long_text, input: seeded, required: true}
                    - {name: answer, title: Answer, type: short_text, input: contributor, required: true}
                    - {name: sure, title: "Sure?", type: boolean, input: contributor}
                - key: check
                  kind: review
                  title: Check the answer
                  reviews: [{node: solve, fields: [answer]}]
                - {key: end, kind: end}
              edges:
                - {from: start, to: solve}
                - {from: solve, to: check}
                - {from: check, to: end}
    api_keys:
      - {name: race, created_by: admin@race.test, expires: never}
`

// newTaskloomWorld makes a template with so many people.
func newTaskloomWorld(ctx context.Context, r *room, people int, lease string) (*taskloomWorld, error) {
	db, err := r.newDatabase(ctx, nil)
	if err != nil {
		return nil, err
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	w := &taskloomWorld{template: db, secret: hex.EncodeToString(secret[:])}
	t, err := w.prepare(ctx, r, db)
	if err != nil {
		return nil, err
	}
	if _, err := t.command(ctx, nil, "migrate"); err != nil {
		return nil, err
	}
	if err := w.apply(ctx, t, fmt.Sprintf(taskloomDocument, lease)); err != nil {
		return nil, err
	}
	err = w.addPeople(ctx, people)
	return w, err
}

// apply brings the document about and keeps the ids that it got.
func (w *taskloomWorld) apply(ctx context.Context, t *taskloom, document string) error {
	out, err := t.command(ctx, strings.NewReader(document), "apply", "-f", "-", "--output", "json")
	if err != nil {
		return err
	}
	var doc struct {
		Organizations []struct {
			Pipelines []struct{ ID int64 }
			APIKeys   []struct{ Value string } `json:"api_keys"`
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return fmt.Errorf("read what apply prints: %w", err)
	}
	if len(doc.Organizations) != 1 || len(doc.Organizations[0].APIKeys) != 1 || len(doc.Organizations[0].Pipelines) != 1 {
		return fmt.Errorf("apply prints not one pipeline and one key: %s", out)
	}
	w.pipeline, w.key = doc.Organizations[0].Pipelines[0].ID, doc.Organizations[0].APIKeys[0].Value
	return nil
}

// addPeople adds people with sessions by SQL: 500 logins would only measure how
// slow the hash of a password is on purpose.
func (w *taskloomWorld) addPeople(ctx context.Context, n int) error {
	conn, err := pgx.Connect(ctx, w.template.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	batch := &pgx.Batch{}
	for i := range n {
		token := rand.Text()
		hash := sha256.Sum256([]byte(token))
		batch.Queue(`WITH u AS (INSERT INTO users (email, name, password_hash) VALUES ($1, $1, 'none') RETURNING id),
			o AS (INSERT INTO org_members (org_id, user_id, role) SELECT g.id, u.id, 'member' FROM organizations g, u RETURNING org_id, user_id)
			INSERT INTO sessions (hash, user_id, agent, expires_at) SELECT $2, id, 'race', now() + interval '1 day' FROM u`,
			fmt.Sprintf("person%d@race.test", i), hash[:])
		w.cookies = append(w.cookies, "sid="+token)
	}
	batch.Queue(`INSERT INTO project_members (org_id, project_id, user_id, role)
		SELECT p.org_id, p.id, u.id, 'project_admin' FROM projects p, users u WHERE u.email LIKE 'person%'`)
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("add people: %w", err)
	}
	return nil
}

// prepare sets processes up on a database, with settings besides the usual ones.
func (w *taskloomWorld) prepare(ctx context.Context, r *room, db *database, settings ...string) (*taskloom, error) {
	binary, err := filepath.Abs(r.binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: build the product first (make build), or name it with -taskloom", err)
	}
	var addrs [3]string
	for i := range addrs {
		if addrs[i], err = process.FreeAddr(ctx); err != nil {
			return nil, err
		}
	}
	t := &taskloom{
		db: db, base: "http://" + addrs[0], ready: "http://" + addrs[2] + "/readyz", binary: binary,
		pipeline: w.pipeline, key: w.key, cookies: w.cookies,
	}
	t.env = append(os.Environ(), // of two equal names the last counts
		"DATABASE_URL="+db.url, "ADDR="+addrs[0], "METRICS_ADDR="+addrs[1], "PUBLIC_URL="+t.base,
		"SECRET_KEY="+w.secret, "LOG_LEVEL=info", "LOG_FORMAT=json",
		// What is measured is the product, not how it holds callers back.
		"RATE_LIMIT_KEY=off", "RATE_LIMIT_ADDRESS=off", "RATE_LIMIT_FAILED_AUTH=off")
	t.env = append(t.env, settings...)
	t.serve = r.newChild("serve", binary, t.env, "serve")
	t.worker = r.newChild("worker", binary, append(slices.Clip(t.env), "METRICS_ADDR="+addrs[2]), "worker")
	return t, nil
}

// begin copies the template and starts the API on it.
func (w *taskloomWorld) begin(ctx context.Context, r *room, settings ...string) (*taskloom, error) {
	return w.beginFrom(ctx, r, nil, settings...)
}

// beginFrom is begin with a copy of another database that was made from the
// template; of the template itself when it is nil. What it could not start it has
// stopped.
func (w *taskloomWorld) beginFrom(ctx context.Context, r *room, from *database, settings ...string) (*taskloom, error) {
	if from == nil {
		from = w.template
	}
	db, err := r.newDatabase(ctx, from)
	if err != nil {
		return nil, err
	}
	// Runs are named after tasks: no two databases on one Temporal may share ids.
	err = execURL(ctx, db.url, fmt.Sprintf(`ALTER SEQUENCE tasks_id_seq RESTART WITH %d`, time.Now().UnixMilli()))
	if err != nil {
		return nil, err
	}
	t, err := w.prepare(ctx, r, db, settings...)
	if err != nil {
		return nil, err
	}
	err = t.serve.Start()
	if err == nil {
		err = awaitOK(ctx, t.serve, t.base+"/healthz")
	}
	if err != nil {
		t.end(r)
		return nil, err
	}
	return t, nil
}

// startWorker starts the worker and waits until it works.
func (t *taskloom) startWorker(ctx context.Context) error {
	if err := t.worker.Start(); err != nil {
		return err
	}
	return awaitOK(ctx, t.worker, t.ready)
}

// end stops the processes and drops the database.
func (t *taskloom) end(r *room) {
	if t == nil {
		return
	}
	t.worker.Stop()
	t.serve.Stop()
	r.drop(t.db)
}

// command runs a command of the product.
func (t *taskloom) command(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, t.binary, args...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = t.env, stdin, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("taskloom %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// caughtUpWithin bounds the wait for the runs: some hundred tasks a second are told.
const caughtUpWithin = 10 * time.Minute

// caughtUp waits until Temporal has heard of everything and all that follows is in
// the rows.
func (t *taskloom) caughtUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, caughtUpWithin)
	defer cancel()
	conn, err := pgx.Connect(ctx, t.db.url)
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		var left int64
		if err := conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM task_lag)`).Scan(&left); err != nil {
			return fmt.Errorf("wait for the runs: %w", err)
		}
		if left == 0 {
			return nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%d events have not reached their runs: %w", left, err)
		}
	}
}

// createPath is where tasks are created.
func (t *taskloom) createPath() string { return fmt.Sprintf("/api/v1/workflows/%d/tasks", t.pipeline) }

// fill creates n tasks through the API.
func (t *taskloom) fill(ctx context.Context, n, size int) error {
	c := newHTTPClient(t.base, 1, "Authorization", "Bearer "+t.key)
	defer c.closeIdle()
	for ; n > 0; n -= mostPerRequest {
		body := createBody(min(n, mostPerRequest), size)
		if _, _, err := c.call(ctx, http.MethodPost, t.createPath(), body); err != nil {
			return fmt.Errorf("create tasks: %w", err)
		}
	}
	return nil
}

// people are the clients of those who have a session, one each; they share connections.
func (t *taskloom) people(connections int) []*httpClient {
	shared := newHTTPClient(t.base, connections)
	out := make([]*httpClient, len(t.cookies))
	for i, cookie := range t.cookies {
		out[i] = shared.with("Cookie", cookie)
	}
	return out
}

// held is a claim.
type held struct {
	ID     string `json:"claim_id"`
	TaskID int64  `json:"task_id"`
}

// claim takes the next subtask or review.
func (t *taskloom) claim(ctx context.Context, c *httpClient, role string) (held, error) {
	var h held
	status, err := c.decode(ctx, http.MethodPost, fmt.Sprintf("/api/console/pipelines/%d/claim", t.pipeline),
		map[string]string{"role": role}, &h)
	if err == nil && status == http.StatusNoContent {
		err = errEmpty
	}
	return h, err
}

// submit hands in what a contributor wrote.
func (t *taskloom) submit(ctx context.Context, c *httpClient, claim string) error {
	_, err := c.decode(ctx, http.MethodPost, "/api/console/claims/"+claim+"/submit",
		map[string]any{"values": map[string]any{"answer": "72", "sure": true}}, nil)
	return err
}

// approve accepts it.
func (t *taskloom) approve(ctx context.Context, c *httpClient, claim string) error {
	_, err := c.decode(ctx, http.MethodPost, "/api/console/claims/"+claim+"/review", map[string]any{"verdict": "approve"}, nil)
	return err
}

// taskloomVersion is what the binary says of itself, without how it was built.
func taskloomVersion(o options) string {
	version, _, _ := strings.Cut(strings.TrimPrefix(firstOf(context.Background(), o.binary, "version"), "taskloom "), ",")
	return version
}

// errEmpty says that a queue has nothing left.
var errEmpty = errors.New("the queue is empty")
