package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
)

// uploadScript is a page of the app that does what the form does: under the
// app's own policy, at the object store's real address.
const uploadScript = `
const said = {};
const call = async (method, path, body) => {
  const r = await fetch('/api/console' + path, {
    method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
  });
  return r.status === 204 ? {} : r.json();
};
const loads = (element, source) => new Promise((settle) => {
  element.onload = () => settle(true);
  element.onerror = () => settle(false);
  element.src = source;
  document.body.append(element);
});
async function upload(claim, field, file, sent = file) {
  const made = await call('POST', '/claims/' + claim + '/files', { field, name: file.name, size: file.size, content_type: file.type });
  const status = await fetch(made.upload_url, { method: 'PUT', headers: made.headers, body: sent }).then((r) => r.status, (e) => String(e));
  return { status, done: await call('POST', '/claims/' + claim + '/files/' + made.file_id + '/complete') };
}
async function run() {
  await call('POST', '/login', { email: EMAIL, password: PASSWORD });
  const { claim_id: claim } = await call('POST', '/pipelines/' + PIPELINE + '/claim', { role: 'contributor' });
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 8;
  const picture = await new Promise((take) => canvas.toBlob(take, 'image/png'));
  const scan = await upload(claim, 'scan', new File([picture], 'Scän (1).png', { type: 'image/png' }));
  said.put = scan.status;
  said.type = scan.done.content_type;
  said.shown = await loads(new Image(), scan.done.url);
  said.read = (await fetch(scan.done.url).then((r) => r.arrayBuffer())).byteLength === picture.size;
  const longer = await upload(claim, 'other', new File(['four'], 'a.txt', { type: 'text/plain' }), 'longer than four');
  said.longer = longer.status;
  const script = '<script>fetch("' + location.origin + '/ran", { mode: "no-cors" })</' + 'script>';
  const html = await upload(claim, 'other', new File(['<!doctype html>' + script], 'page.png', { type: 'image/png' }));
  said.html = html.done.error;
  const page = await upload(claim, 'other', new File(['<!doctype html>' + script], 'page.html', { type: 'text/html' }));
  said.page = page.done.content_type;
  const svg = await upload(claim, 'other', new File(['<svg xmlns="http://www.w3.org/2000/svg">' + script + '</svg>'], 'd.svg', { type: 'image/svg+xml' }));
  said.svg = svg.done.content_type;
  for (const link of [page.done.url, svg.done.url]) {
    const frame = document.createElement('iframe');
    frame.src = link;
    document.body.append(frame);
  }
  said.elsewhere = await fetch('http://127.0.0.1:9/').then(() => 'allowed', () => 'refused');
  const value = ({ file_id, name, size, content_type, sha256 }) => ({ file_id, name, size, content_type, sha256 });
  const submitted = await call('POST', '/claims/' + claim + '/submit', { values: { scan: value(scan.done), other: [value(page.done)] } });
  said.submitted = submitted.node ?? submitted;
  await new Promise((wait) => setTimeout(wait, 500)); // for frames to do what they should not
}
document.addEventListener('securitypolicyviolation', (e) => { (said.violations ??= []).push(e.effectiveDirective + ' ' + e.blockedURI); });
run().catch((e) => { said.failed = String(e); }).finally(() => fetch('/said?' + new URLSearchParams({ said: JSON.stringify(said) })));
`

func TestABrowserUploadsStraightToTheObjectStore(t *testing.T) {
	t.Parallel()
	chromium := os.Getenv("CHROMIUM_PATH")
	if chromium == "" {
		chromium = "/usr/bin/chromium"
	}
	require.FileExists(t, chromium, "this test drives a browser: `make system` installs Chromium, CHROMIUM_PATH names another one")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := dbtest.NewWorld(t, dbtest.WithDefinition(uploadingDefinition()))
	origin, err := objects(t).PublicOrigin(t.Context())
	require.NoError(t, err)
	constants := fmt.Sprintf("const EMAIL = %q, PASSWORD = %q, PIPELINE = %d;\n", w.Email("contributor1"), dbtest.Password, w.PipelineID)
	app, err := api.NewApp(fstest.MapFS{
		"index.html":       {Data: []byte(`<!doctype html><body><script type="module" src="/assets/upload.js"></script>`)},
		"assets/upload.js": {Data: []byte(constants + uploadScript)},
	}, origin)
	require.NoError(t, err)
	said, ran := make(chan string, 1), make(chan struct{}, 10)
	b := serve(t, w, func(d *api.Deps) {
		d.PublicURL, d.Links = "http://"+l.Addr().String(), objects(t)
		d.App = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/said":
				said <- r.URL.Query().Get("said")
			case "/ran":
				ran <- struct{}{}
			default:
				app.ServeHTTP(w, r)
			}
		})
	})
	b.created(t, 1)
	server := httptest.NewUnstartedServer(b.handler)
	require.NoError(t, server.Listener.Close())
	server.Listener = l
	server.Start()
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // far more than it takes
	defer cancel()
	profile := t.TempDir()
	browser := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
		"--remote-debugging-port=0", "--user-data-dir="+profile, server.URL)
	// With all its processes: one that lives on writes into its profile while that
	// is removed.
	browser.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	browser.Cancel = func() error { return syscall.Kill(-browser.Process.Pid, syscall.SIGKILL) }
	t.Cleanup(func() {
		assert.Eventually(t, func() bool { return os.RemoveAll(profile) == nil }, 10*time.Second, 50*time.Millisecond)
	})
	require.NoError(t, browser.Start())
	var answer string
	select {
	case answer = <-said:
	case <-ctx.Done():
	}
	cancel()
	_ = browser.Wait() // it was killed
	require.NotEmpty(t, answer, "the page did not come to its end\n%s", b.logs.text())
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(answer), &got))
	require.Equal(t, map[string]any{
		"put": 200.0, "type": "image/png", "shown": true, "read": true,
		"longer": 403.0, "html": "validation_error",
		"page": "text/html; charset=utf-8", "svg": "image/svg+xml", "submitted": "solve",
		"elsewhere": "refused", "violations": []any{"connect-src http://127.0.0.1:9/"},
	}, got)
	require.Empty(t, ran, "a script in an uploaded file ran")
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM task_files WHERE name = 'Scän (1).png' AND submitted`))
}
