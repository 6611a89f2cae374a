package edge

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
)

// assetPath is where the files of the pages are. Each is under the hash of its
// content, so that it may be cached for ever.
const assetPath = "/docs/assets/"

// assets are the files of the pages by name.
type assets map[string]asset

type asset struct {
	content []byte
	// gzipped says that content is; it is sent so to whom takes it.
	gzipped     bool
	contentType string
	hash        string
}

// built are the files that only a build with Node has.
var built = []string{"swagger-ui-bundle.js", "swagger-ui.css", "redoc.standalone.js", "NOTICE.txt"}

var assetTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8",
}

func loadAssets(files fs.FS) (assets, error) {
	out := assets{}
	for _, dir := range []string{"apidocs/pages", "apidocs/dist"} {
		entries, err := fs.ReadDir(files, dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name, gzipped := strings.CutSuffix(e.Name(), ".gz")
			kind, served := assetTypes[path.Ext(name)]
			if !served { // a template, the placeholder
				continue
			}
			content, err := fs.ReadFile(files, path.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			sum := sha256.Sum256(content)
			out[name] = asset{content: content, gzipped: gzipped, contentType: kind, hash: hex.EncodeToString(sum[:8])}
		}
	}
	return out, nil
}

func (a assets) complete() bool {
	for _, name := range built {
		if _, ok := a[name]; !ok {
			return false
		}
	}
	return true
}

// address is relative to the pages: whatever prefix a proxy adds, it holds.
func (a assets) address(name string) (string, error) {
	file, ok := a[name]
	if !ok {
		return "", fmt.Errorf("there is no file %s", name)
	}
	return strings.TrimPrefix(assetPath, "/") + file.hash + "/" + name, nil
}

func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	file, ok := a[chi.URLParam(r, "name")]
	if !ok || file.hash != chi.URLParam(r, "hash") {
		NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.contentType)
	public(h, "public, max-age=31536000, immutable")
	if !file.gzipped {
		_, _ = w.Write(file.content) // a reader who left misses the file
		return
	}
	h.Set("Vary", "Accept-Encoding")
	if AcceptsGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(file.content)))
		_, _ = w.Write(file.content) // a reader who left misses the file
		return
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(file.content))
	if err != nil {
		WriteError(w, r, fmt.Errorf("embedded file: %w", err))
		return
	}
	_, _ = io.Copy(w, unzipped) //nolint:gosec // our own file, of known size; a reader who left misses it
}

// AcceptsGzip reads Accept-Encoding (RFC 9110, 12.5.3): gzip must be named, by
// itself or by *, and not with the weight 0.
func AcceptsGzip(header []string) bool {
	weight := func(coding string) (named, wanted bool) {
		for entry := range strings.SplitSeq(strings.Join(header, ","), ",") {
			name, parameters, _ := strings.Cut(entry, ";")
			if !strings.EqualFold(strings.TrimSpace(name), coding) {
				continue
			}
			q, weighted := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(parameters, " ", "")), "q=")
			value, err := strconv.ParseFloat(q, 64)
			return true, !weighted || err == nil && value > 0
		}
		return false, false
	}
	if named, wanted := weight("gzip"); named {
		return wanted
	}
	_, wanted := weight("*")
	return wanted
}
