package stack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/dev/internal/envfile"
)

func TestASourcedEnvironmentIsNoWishForPartsOfOnesOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, envfile.Write(filepath.Join(dir, "env"), []envfile.Var{
		{Name: "DATABASE_URL", Value: "postgres://ours"},
		{Name: "S3_ENDPOINT", Value: "http://ours"},
		{Name: "ADDR", Value: "127.0.0.1:9"},
		{Name: stackVar, Value: dir},
	}))
	env := NewEnviron([]string{
		stackVar + "=" + dir, "DATABASE_URL=postgres://ours", "S3_ENDPOINT=http://theirs", "ADDR=127.0.0.1:9", "LOG_LEVEL=debug",
	})
	require.Equal(t, Environ{"S3_ENDPOINT": "http://theirs", "ADDR": "127.0.0.1:9", "LOG_LEVEL": "debug"}, env)
	require.Equal(t, wanted{postgres: true, database: true, temporal: true, ui: true}, env.wants())
}

func TestOurPostgresRunsForTemporalAlone(t *testing.T) {
	t.Parallel()
	require.Equal(t, wanted{postgres: true, temporal: true, ui: true, s3: true}, Environ{"DATABASE_URL": "x"}.wants())
	require.Equal(t, wanted{s3: true}, Environ{"DATABASE_URL": "x", "TEMPORAL_ADDRESS": "y"}.wants())
}

func TestServeSharesItsProcessors(t *testing.T) {
	t.Parallel()
	require.Equal(t, []envfile.Var{{Name: "REQUESTS_PER_PROCESSOR", Value: "2"}}, Environ{}.places())
	require.Empty(t, Environ{"REQUESTS_AT_ONCE": "7"}.places(), "the caller says it")
	require.Empty(t, Environ{"REQUESTS_PER_PROCESSOR": "3"}.places(), "the caller says it")
	require.Empty(t, Environ{"DATABASE_URL": "postgres://elsewhere/x"}.places(), "Postgres is elsewhere")
}

func TestTheDemoFileHasTheLoginsOfTheBanner(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../demo.yaml")
	require.NoError(t, err)
	logins, err := readLogins(text, "demo")
	require.NoError(t, err)
	groups, password := groupLogins(logins)
	require.Equal(t, "taskloom-demo", password)
	require.Equal(t, []roleGroup{
		{Role: "Admin", Emails: "admin@demo.test"},
		{
			Role: "Contributors",
			Emails: "ada@demo.test, ben@demo.test, cleo@demo.test, dan@demo.test, eve@demo.test, finn@demo.test, " +
				"gia@demo.test, hal@demo.test",
		},
		{Role: "Reviewers", Emails: "rita@demo.test, raj@demo.test"},
	}, groups)
}

func TestTheBrowserGetsAnAddressThatItCanReach(t *testing.T) {
	t.Parallel()
	for addr, url := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", ":8080": "http://127.0.0.1:8080",
		"0.0.0.0:80": "http://127.0.0.1:80", "[::]:80": "http://127.0.0.1:80", "box.test:81": "http://box.test:81",
	} {
		require.Equal(t, url, baseURL(addr))
	}
}

func TestAnAddressThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"8080", "localhost", "127.0.0.1:http-x", "127.0.0.1:99999"} {
		require.ErrorContains(t, checkAddr(addr), "ADDR=")
	}
}
