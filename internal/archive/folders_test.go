package archive_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Tools that write entries for folders tell of such that hold nothing, too.
func TestFoldersAreListedAlsoWithoutFiles(t *testing.T) {
	t.Parallel()
	a := open(t, build(t, "",
		file{name: "two/"}, file{name: "one/"}, file{name: "one/a.txt", data: "x"}, file{name: "one/in/"}, file{name: "two/"},
		file{name: "__MACOSX/"}, file{name: "../out/"}, file{name: "unlisted/b.txt", data: "x"}))
	require.Equal(t, []string{"one", "two"}, a.Folders)
	require.Equal(t, []string{"one/a.txt", "unlisted/b.txt"}, names(a))
}
