package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

// landingStyle is the whole look of the landing page.
const landingStyle = `body{font:1rem/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}`

const landingPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Taskloom</title>
<style>` + landingStyle + `</style>
</head>
<body>
<h1>Taskloom</h1>
<p>The server runs, but this build carries no web app: it was made without Node. <code>make build</code> on a machine with
Node 20.19 or newer, a release and the image have it. Everything is there over HTTP:</p>
<ul>
<li><a href="/api/v1/docs">External API</a>: create tasks and poll them, with an API key</li>
<li><a href="/api/console/docs">Console API</a>: claim, submit, review and administer, with a login</li>
<li><a href="/readyz">Readiness</a> of every part</li>
</ul>
</body>
</html>
`

// landing answers where the web app would, in a build without it: 503, so that
// nobody takes it for the app.
func landing() http.HandlerFunc {
	sum := sha256.Sum256([]byte(landingStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(landingPage)) // a reader who left misses the page
	}
}
