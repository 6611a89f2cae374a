package filetype_test

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/filetype"
)

const (
	png  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	html = "<!doctype html><script>alert(1)</script>"
	svg  = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
)

func TestBytesTellTheType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, head, want string }{
		{"a.png", png, "image/png"},
		{"a.png", html, "text/html; charset=utf-8"},
		{"a.txt", svg, "image/svg+xml"},
		{"a.csv", html, "text/html; charset=utf-8"},
		{"a.html", "just words", "text/plain; charset=utf-8"},
		{"A.CSV", "one column\nonly", "text/csv; charset=utf-8"},
		{"notes.md", "# Notes", "text/markdown; charset=utf-8"},
		{"noise.gz", "\x1f\x8b\xff\xff", "application/octet-stream"},
		{"none", "", "text/plain"},
	} {
		require.Equal(t, c.want, filetype.Of(c.name, []byte(c.head)), "%s %q", c.name, c.head)
	}
}

func TestAFilePassesForWhatItsBytesCannotTell(t *testing.T) {
	t.Parallel()
	const plain = "text/plain; charset=utf-8"
	for _, c := range []struct {
		name, shown string
		want        []string
	}{
		{"notes.md", plain, []string{"text/markdown; charset=utf-8", plain}},
		{"A.YML", "text/plain", []string{"application/yaml", "text/plain"}},
		{"notes.txt", plain, []string{plain}},
		{"notes.md", "text/html; charset=utf-8", []string{"text/html; charset=utf-8"}},
		{"notes.md", "image/svg+xml", []string{"image/svg+xml"}},
		{"a.md", "text/csv", []string{"text/markdown; charset=utf-8", "text/csv"}},
		{"a.txt", "text/csv", []string{"text/csv", "text/plain"}},
		{"a.webm", "video/webm", []string{"video/webm", "audio/webm"}},
		{"a.weba", "video/webm", []string{"video/webm", "audio/webm"}},
		{"a.m4a", "video/mp4", []string{"video/mp4", "audio/mp4"}},
		{"a.m4a", "audio/x-m4a", []string{"audio/x-m4a", "audio/mp4"}},
		{"a.mp4", "video/mp4", []string{"video/mp4"}},
		{"a.webm", "video/mp4", []string{"video/mp4"}},
	} {
		require.Equal(t, c.want, filetype.Kinds(c.name, c.shown), "%s %s", c.name, c.shown)
	}
}

func TestANameMayNotLieAboutItsBytes(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("word/document.xml")
	require.NoError(t, err)
	_, err = w.Write([]byte("<w/>"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for _, c := range []struct {
		name, head string
		want       bool
	}{
		{"a.png", png, true},
		{"a.PNG", html, false},
		{"a.jpg", png, false},
		{"a.pdf", svg, false},
		{"a.png", "", false},
		{"a.docx", packed.String(), true},
		{"a.zip", packed.String(), true},
		{"a.html", html, true},
		{"a.svg", svg, true},
		{"a.dat", png, true},
		{"none", html, true},
	} {
		require.Equal(t, c.want, filetype.Honest(c.name, []byte(c.head)), "%s %q", c.name, c.head)
	}
}
