package blob_test

import (
	"mime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
)

func TestNamesAreMadeSafe(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"report.pdf": "report.pdf", "": "download", "..": "download", "  \t": "download", "../../etc/passwd": ".._.._etc_passwd",
		`C:\x.txt`: "C:_x.txt", "a\x00b\r\nc": "abc", "txt.\u202Egnp.exe": "txt.gnp.exe", "日本.png": "日本.png",
		"bad\xff.zip": "bad_.zip", "100% \"sure\".txt": "100% \"sure\".txt", " a ": "a", "a\u2028b": "a_b",
		strings.Repeat("ä", 200) + ".zip": strings.Repeat("ä", 118) + ".zip",
	} {
		kind, params, err := mime.ParseMediaType(blob.Download{Name: name}.Disposition())
		require.NoError(t, err, name)
		require.Equal(t, "attachment", kind)
		require.Equal(t, want, params["filename"], name)
	}
}

func TestOnlyPassiveTypesAreShown(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"image/png": "inline", "image/svg+xml": "attachment", "IMAGE/SVG+XML": "attachment", "audio/mpeg": "inline",
		"video/mp4": "inline", "application/pdf": "inline", "text/plain; charset=utf-8": "inline", "text/html": "attachment",
		"application/xhtml+xml": "attachment", "text/xml": "attachment", "": "attachment", "nonsense": "attachment",
		"image/png\r\nX: y": "attachment",
	} {
		for _, inline := range []bool{true, false} {
			got, _, _ := strings.Cut(blob.Download{Name: "x", ContentType: kind, Inline: inline}.Disposition(), ";")
			if !inline {
				want = "attachment"
			}
			require.Equal(t, want, got, kind)
		}
	}
	require.Equal(t, "text/plain; charset=utf-8", blob.Download{ContentType: "Text/Plain;charset=utf-8"}.Type())
	require.Equal(t, "application/octet-stream", blob.Download{ContentType: "text/html\r\nX: y"}.Type())
}

func FuzzDownload(f *testing.F) {
	for _, seed := range []string{"a.zip", "\"\\%\r\n;", "ä\u202e\xff", "=?utf-8?q?x?="} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, name, contentType string) {
		d := blob.Download{Name: name, ContentType: contentType, Inline: true}
		for _, header := range []string{d.Disposition(), d.Type()} {
			require.False(t, strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r > '~' }), "%q", header)
			_, params, err := mime.ParseMediaType(header)
			require.NoError(t, err, header)
			if got, ok := params["filename"]; ok {
				require.True(t, utf8.ValidString(got))
				require.NotEmpty(t, got)
				require.NotContains(t, got, "/")
			}
		}
	})
}
