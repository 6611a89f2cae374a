package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/taskloom/taskloom/internal/measure/process"
)

const (
	// labelStudioWorkers is how many processes gunicorn runs.
	labelStudioWorkers = 4
	// labelStudioPeople take tasks and annotate them: one for each client that there
	// may be at a time, for whoever asks twice gets the task that they hold.
	labelStudioPeople = mostPaced
	labelStudioAdmin  = "admin@race.test"
	// labelStudioToken is the administrator's, of a server that lives for one run.
	labelStudioToken = "0123456789012345678901234567890123456789"
	// taskloomPage is the largest page of our API; Label Studio's has no bound
	// (TASK_API_PAGE_SIZE_MAX is 0).
	taskloomPage = 200
	// readyFiles is where its workers say that they have started: see
	// labelstudio/gunicorn.conf.py.
	readyFiles = "RACE_READY"
)

// labelStudioWorld is what samples begin from: migrated, with a project and
// people.
type labelStudioWorld struct {
	template *database
	python   string
	dir      string // of its package
	data     string
	config   string // of gunicorn
	project  int
	tokens   []string
}

// labelStudio is Label Studio on PostgreSQL behind gunicorn.
type labelStudio struct {
	pulled

	world   *labelStudioWorld
	db      *database
	server  *child
	ready   string // the directory of readyFiles
	base    string
	admin   *httpClient
	workers []*httpClient
}

func newLabelStudioWorld(ctx context.Context, r *room) (*labelStudioWorld, error) {
	python, err := filepath.Abs(filepath.Join(r.cache, "venv", "bin", "python"))
	if err != nil {
		return nil, err
	}
	w := &labelStudioWorld{python: python, data: filepath.Join(r.dir, "label-studio")}
	if err := os.MkdirAll(w.data, 0o755); err != nil {
		return nil, err
	}
	if w.config, err = filepath.Abs("labelstudio/gunicorn.conf.py"); err != nil {
		return nil, err
	}
	w.dir = firstOf(ctx, python, "-c", `import importlib.util; print(importlib.util.find_spec("label_studio").submodule_search_locations[0])`)
	if w.dir == "" {
		return nil, fmt.Errorf("%s has no Label Studio: run race/install.sh first, as `make race` does", python)
	}
	if w.template, err = r.newDatabase(ctx, nil); err != nil {
		return nil, err
	}
	r.say("  Label Studio: its migrations take a minute or two")
	config, err := filepath.Abs("labelstudio/config.xml")
	if err != nil {
		return nil, err
	}
	if _, err := w.command(ctx, w.template, filepath.Join(filepath.Dir(python), "label-studio"), "init", "race", "--quiet", "--username", labelStudioAdmin,
		"--password", "for-one-run-only", "--user-token", labelStudioToken, "--enable-legacy-api-token", "--label-config", config); err != nil {
		return nil, err
	}
	script, err := filepath.Abs("labelstudio/prepare.py")
	if err != nil {
		return nil, err
	}
	out, err := w.command(ctx, w.template, python, script, strconv.Itoa(labelStudioPeople))
	if err != nil {
		return nil, err
	}
	_, doc, _ := strings.Cut(string(out), "READY")
	var made struct {
		Project int
		Tokens  []string
	}
	if err := json.Unmarshal([]byte(doc), &made); err != nil {
		return nil, fmt.Errorf("prepare.py prints %.300q: %w", out, err)
	}
	w.project, w.tokens = made.Project, made.Tokens
	return w, nil
}

// env is the environment of a process on a database.
func (w *labelStudioWorld) env(db *database) ([]string, error) {
	u, err := url.Parse(db.url)
	if err != nil {
		return nil, err
	}
	password, _ := u.User.Password()
	return append(os.Environ(), // of two equal names the last counts
		"DJANGO_DB=default", "DJANGO_SETTINGS_MODULE=core.settings.label_studio",
		"POSTGRE_NAME="+db.name, "POSTGRE_USER="+u.User.Username(), "POSTGRE_PASSWORD="+password, "POSTGRE_HOST="+u.Hostname(), "POSTGRE_PORT="+u.Port(),
		"LABEL_STUDIO_BASE_DATA_DIR="+w.data, "COLLECT_ANALYTICS=false", "SENTRY_DSN=", "FRONTEND_SENTRY_DSN=", "LOG_LEVEL=WARNING",
		// It asks nobody for its newest version, and leaves nothing in anybody's home.
		"LATEST_VERSION_CHECK=false", "HOME="+w.data, "XDG_CONFIG_HOME="+w.data, "XDG_DATA_HOME="+w.data, "XDG_CACHE_HOME="+w.data,
		"DEBUG=false"), nil
}

func (w *labelStudioWorld) command(ctx context.Context, db *database, name string, args ...string) ([]byte, error) {
	env, err := w.env(db)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stderr = env, w.dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		tail := stderr.Bytes()
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, tail[max(0, len(tail)-1500):])
	}
	return out, nil
}

// begin copies a database and serves it.
func (w *labelStudioWorld) begin(ctx context.Context, r *room, from *database) (*labelStudio, error) {
	db, err := r.newDatabase(ctx, from)
	if err != nil {
		return nil, err
	}
	addr, err := process.FreeAddr(ctx)
	if err != nil {
		return nil, err
	}
	env, err := w.env(db)
	if err != nil {
		return nil, err
	}
	l := &labelStudio{world: w, db: db, base: "http://" + addr}
	l.claimer = l
	if l.ready, err = os.MkdirTemp(r.dir, "label-studio-ready-"); err != nil {
		return nil, err
	}
	l.server = r.newChild("label-studio", w.python, append(env, readyFiles+"="+l.ready), "-m", "gunicorn", "-c", w.config, "--no-control-socket",
		"--workers", strconv.Itoa(labelStudioWorkers), "--bind", addr, "--timeout", "600", "core.wsgi:application")
	l.server.Dir = w.dir
	l.admin = newHTTPClient(l.base, labelStudioPeople, "Authorization", "Token "+labelStudioToken)
	for _, token := range w.tokens {
		l.workers = append(l.workers, l.admin.with("Authorization", "Token "+token))
	}
	if err := l.server.Start(); err != nil {
		return l, err
	}
	if err := l.awaitWorkers(ctx); err != nil {
		return l, err
	}
	return l, awaitOK(ctx, l.server, l.base+"/health/")
}

// awaitWorkers waits until all of its processes have started: the first that has
// would answer for the others.
func (l *labelStudio) awaitWorkers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		ready, err := os.ReadDir(l.ready)
		if err != nil {
			return fmt.Errorf("look for the workers of Label Studio: %w", err)
		}
		if len(ready) >= labelStudioWorkers {
			return nil
		}
		err = wait(ctx, 100*time.Millisecond)
		if l.server.Pid() == 0 {
			err = process.ErrEnded
		}
		if err != nil {
			return l.server.Complain(fmt.Errorf("%d of %d workers of Label Studio have started: %w", len(ready), labelStudioWorkers, err))
		}
	}
}

// labelStudioImport is the body of an import.
func labelStudioImport(n, size int) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"data":`)
		b.Write(itemJSON(i, size))
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes()
}

// create is one import of a body that holds so many tasks.
func (l *labelStudio) create(ctx context.Context, body []byte) error {
	_, answer, err := l.admin.call(ctx, http.MethodPost, fmt.Sprintf("/api/projects/%d/import?commit_to_project=true", l.world.project), body)
	if err != nil {
		return err
	}
	var said struct {
		TaskCount int `json:"task_count"`
	}
	if err := json.Unmarshal(answer, &said); err != nil || said.TaskCount != bytes.Count(body, []byte(`{"data":`)) {
		return fmt.Errorf("not all tasks were imported: %.200s", answer)
	}
	return nil
}

// claim is the next task for somebody.
func (l *labelStudio) claim(ctx context.Context, client int) (string, string, error) {
	var task struct {
		ID int64 `json:"id"`
	}
	status, err := l.workers[client%len(l.workers)].decode(ctx, http.MethodGet, fmt.Sprintf("/api/projects/%d/next/", l.world.project), nil, &task)
	if status == http.StatusNotFound || err == nil && task.ID == 0 {
		err = errEmpty
	}
	return strconv.FormatInt(task.ID, 10), "", err
}

// finish submits an annotation.
func (l *labelStudio) finish(ctx context.Context, client int, id, _ string) error {
	_, err := l.workers[client%len(l.workers)].decode(ctx, http.MethodPost, "/api/tasks/"+id+"/annotations/", map[string]any{
		"lead_time": 1,
		"result": []map[string]any{
			{"from_name": "answer", "to_name": "question", "type": "textarea", "value": map[string]any{"text": []string{"72"}}},
			{"from_name": "sure", "to_name": "question", "type": "choices", "value": map[string]any{"choices": []string{"yes"}}},
		},
	}, nil)
	return err
}

// list asks for the ids of all tasks in pages of that many, and returns how many
// different ones there are.
func (l *labelStudio) list(ctx context.Context, most int) (int, error) {
	seen := map[int64]bool{}
	for page, listed := 1, 0; ; page++ {
		var answer struct {
			Tasks []struct {
				ID int64 `json:"id"`
			} `json:"tasks"`
			Total int `json:"total"`
		}
		path := fmt.Sprintf("/api/tasks/?project=%d&page=%d&page_size=%d&include=id&resolve_uri=false", l.world.project, page, most)
		if _, err := l.admin.decode(ctx, http.MethodGet, path, nil, &answer); err != nil {
			return len(seen), err
		}
		for _, task := range answer.Tasks {
			seen[task.ID] = true
		}
		if listed += len(answer.Tasks); len(answer.Tasks) == 0 || listed >= answer.Total {
			return len(seen), nil
		}
	}
}

func (l *labelStudio) done(ctx context.Context) (int64, error) {
	return countURL(ctx, l.db.url, `SELECT count(*) FROM task_completion`)
}

func (l *labelStudio) children() []*child { return []*child{l.server} }

func (l *labelStudio) end(r *room) {
	if l == nil {
		return
	}
	l.admin.closeIdle()
	l.server.Stop()
	r.drop(l.db)
}
