package archive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Names make rows: of files that are shown alike, all but one would be in none.
func TestNamesThatCannotBeUsedAreToldApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 1100)
	var files []file
	for _, name := range []string{
		"\xae\xe2.pdf", "\xa0\xaa.pdf", "%A0%AA.pdf", "a\nb", "a\tb", "../a", "../a", "../a (2)", "\xae\u0301", long + "1", long + "2",
	} {
		files = append(files, file{name: name, data: "x"})
	}
	a := open(t, build(t, "", files...))
	cut := strings.Repeat("n", 1021) + "…"
	require.Equal(t, []string{
		"%A0%AA.pdf", "%A0%AA.pdf (2)", "%AE%E2.pdf", "%A\u00c9", "../a", "../a (2)", "../a (3)", "a%09b", "a%0Ab",
		cut, strings.Repeat("n", 1017) + "… (2)",
	}, names(a))
	for _, e := range a.Entries {
		found, err := a.Find(e.Name)
		require.NoError(t, err)
		require.Same(t, e, found)
		require.Equal(t, e.Name == "%A0%AA.pdf", e.Problem == "", e.Problem)
	}
}
