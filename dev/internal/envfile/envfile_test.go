package envfile_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/dev/internal/envfile"
)

func TestAShellAndTheParserReadTheSame(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"", "plain", "postgres://u:p@127.0.0.1:5432/db?sslmode=disable", "a&b=c", "it's", "$HOME `x` \"y\"", "#no comment", "a b", "é",
	} {
		path := filepath.Join(t.TempDir(), "env")
		require.NoError(t, envfile.Write(path, []envfile.Var{{Name: "V", Value: value}}))
		out, err := exec.Command("sh", "-c", `. "$0"; printf %s "$V"`, path).Output()
		require.NoError(t, err)
		require.Equal(t, value, string(out))
		text := envfile.Format([]envfile.Var{{Name: "V", Value: value}})
		require.Equal(t, map[string]string{"V": value}, envfile.Parse(text))
	}
}

func TestValuesWithoutSpecialCharactersAreNotQuoted(t *testing.T) {
	t.Parallel()
	const url = "postgres://u:p@127.0.0.1:5432/db?sslmode=disable"
	require.Equal(t, "URL="+url+"\n", envfile.Format([]envfile.Var{{Name: "URL", Value: url}}))
}

func FuzzParse(f *testing.F) {
	f.Add("A=1\n#c\nexport B='x y'\n")
	f.Fuzz(func(t *testing.T, text string) {
		for name, value := range envfile.Parse(text) {
			again := envfile.Parse(envfile.Format([]envfile.Var{{Name: name, Value: value}}))
			if len(again) == 1 { // a name with odd characters may be read differently
				for _, v := range again {
					require.Equal(t, value, v)
				}
			}
		}
	})
}
