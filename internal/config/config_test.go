package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/fault"
)

const key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

func found(t *testing.T, err error) map[string]string {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f, "%v", err)
	out := map[string]string{}
	for _, p := range f.Problems {
		out[p.Path] = p.Message
	}
	return out
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := config.Load(nil)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", c.Addr)
	require.Equal(t, "127.0.0.1:9090", c.MetricsAddr)
	require.Equal(t, "http://127.0.0.1:8080", c.PublicURL)
	require.Equal(t, "default", c.TemporalNamespace)
	require.Equal(t, slog.LevelInfo, c.Level())
	require.False(t, c.S3.Configured())
	require.False(t, c.Tracing())
}

func TestLoad(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{
		"DATABASE_URL=postgres://u:hunter2@db/app", "SECRET_KEY=" + key, "ADDR=:9999", "LOG_LEVEL=debug",
		"TEMPORAL_ADDRESS=temporal:7233", "TEMPORAL_NAMESPACE=prod", "TEMPORAL_API_KEY=hunter2",
		"S3_BUCKET=b", "S3_ACCESS_KEY_ID=a", "S3_SECRET_ACCESS_KEY=hunter2", "OTEL_TRACES_EXPORTER=console",
		"METRICS_ADDR=", "no equals sign",
	})
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:9999", c.PublicURL)
	require.Equal(t, "127.0.0.1:9090", c.MetricsAddr, "empty counts as unset")
	require.Len(t, c.Key(), 32)
	require.Equal(t, slog.LevelDebug, c.Level())
	require.True(t, c.S3.Configured())
	require.True(t, c.Tracing())
	require.Equal(t, "postgres://u:hunter2@db/app", c.DatabaseURL.Reveal())

	o, err := c.Temporal()
	require.NoError(t, err)
	require.Equal(t, "temporal:7233", o.HostPort)
	require.Equal(t, "prod", o.Namespace)
	require.NotNil(t, o.Credentials)
}

// The client and what looks after it, as the doctor, are in one namespace, wherever
// it is named.
func TestTheNamespaceMayComeFromTemporalsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "temporal.toml")
	require.NoError(t, os.WriteFile(file, []byte("[profile.default]\nnamespace = \"team\"\n"), 0o600))
	for want, environ := range map[string][]string{
		"team": {"TEMPORAL_CONFIG_FILE=" + file, "TEMPORAL_ADDRESS=temporal:7233"},
		"prod": {"TEMPORAL_CONFIG_FILE=" + file, "TEMPORAL_ADDRESS=temporal:7233", "TEMPORAL_NAMESPACE=prod"},
	} {
		c, err := config.Load(environ)
		require.NoError(t, err)
		o, err := c.Temporal()
		require.NoError(t, err)
		require.Equal(t, want, o.Namespace)
		require.Equal(t, want, c.TemporalNamespace)
	}
}

func TestEveryProblemIsToldWithItsVariable(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{
		"DATABASE_URL=postgres://u:hunter2@h:port/db", "DATABASE_MAX_CONNS=many", "TEMPORAL_ADDRESS=here",
		"ADDR=8080", "METRICS_ADDR=9090", "PUBLIC_URL=ftp://x", "TEMPORAL_UI_URL=x", "S3_ENDPOINT=s3",
		"S3_PUBLIC_ENDPOINT=ftp://files",
		"REDIS_URL=http://x", "SECRET_KEY=hunter2", "LOG_LEVEL=loud", "LOG_FORMAT=xml", "CACHED_RUNS=0",
		"REQUESTS_AT_ONCE=-1", "REQUESTS_PER_PROCESSOR=0",
	})
	problems := found(t, err)
	for _, name := range []string{
		"DATABASE_URL", "DATABASE_MAX_CONNS", "TEMPORAL_ADDRESS", "ADDR", "METRICS_ADDR", "PUBLIC_URL",
		"TEMPORAL_UI_URL", "S3_ENDPOINT", "S3_PUBLIC_ENDPOINT", "S3_BUCKET", "REDIS_URL", "SECRET_KEY", "LOG_LEVEL", "LOG_FORMAT",
		"CACHED_RUNS", "REQUESTS_AT_ONCE", "REQUESTS_PER_PROCESSOR",
	} {
		require.Contains(t, problems, name)
		require.NotContains(t, problems[name], "hunter2")
	}
	require.Len(t, problems, 17)
	require.Nil(t, c.Key(), "a broken key is no key")

	_, err = config.Load([]string{"S3_BUCKET=b"})
	require.Len(t, found(t, err), 2, "credentials")
	_, err = config.Load([]string{"SECRET_KEY=abcd"})
	require.Contains(t, found(t, err)["SECRET_KEY"], "64")
	for _, name := range []string{"CACHED_RUNS", "REQUESTS_AT_ONCE", "REQUESTS_PER_PROCESSOR"} {
		_, err = config.Load([]string{name + "=all"})
		require.Contains(t, found(t, err)[name], "whole number")
		require.Len(t, found(t, err), 1)
	}
}

func TestPlacesFollowProcessorsAndConnections(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings []string
		want     int
	}{
		"processors of its own":   {nil, 8},
		"shared ones":             {[]string{"REQUESTS_PER_PROCESSOR=2"}, 4},
		"few connections":         {[]string{"DATABASE_MAX_CONNS=3"}, 3},
		"few, and shared":         {[]string{"DATABASE_MAX_CONNS=3", "REQUESTS_PER_PROCESSOR=2"}, 3},
		"what is said goes first": {[]string{"REQUESTS_AT_ONCE=40", "REQUESTS_PER_PROCESSOR=2"}, 40},
	} {
		got, err := config.Load(c.settings)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got.AtOnce(2), name)
	}
}

func TestThePublicEndpointIsTheEndpointUnlessSaid(t *testing.T) {
	t.Parallel()
	bucket := []string{"S3_BUCKET=b", "S3_ACCESS_KEY_ID=a", "S3_SECRET_ACCESS_KEY=s", "S3_ENDPOINT=http://s3:7070"}
	c, err := config.Load(bucket)
	require.NoError(t, err)
	require.Equal(t, "http://s3:7070", c.S3.PublicEndpoint)
	c, err = config.Load(append(bucket, "S3_PUBLIC_ENDPOINT=https://files.example.com/"))
	require.NoError(t, err)
	require.Equal(t, "http://s3:7070", c.S3.Endpoint)
	require.Equal(t, "https://files.example.com", c.S3.PublicEndpoint)

	_, err = config.Load([]string{"S3_ENDPOINT=s3"})
	require.Len(t, found(t, err), 2, "the bucket, and the address once")
	_, err = config.Load([]string{"S3_PUBLIC_ENDPOINT=https://files.example.com"})
	require.Contains(t, found(t, err), "S3_BUCKET")
}

func TestRequire(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{"LOG_FORMAT=xml", "SECRET_KEY=" + key})
	problems := found(t, c.Require(err, "DATABASE_URL", "TEMPORAL_ADDRESS", "SECRET_KEY"))
	require.Len(t, problems, 3)
	require.Contains(t, problems["DATABASE_URL"], "postgres://")
	require.Contains(t, problems["TEMPORAL_ADDRESS"], "host:port")
	require.Contains(t, problems, "LOG_FORMAT")

	for _, address := range []string{"postgres://h/db", "host=h dbname=db", "postgresql://u:a=b@h/db?sslmode=disable"} {
		c, err = config.Load([]string{"DATABASE_URL=" + address})
		require.NoError(t, c.Require(err, "DATABASE_URL"), address)
	}
	for _, address := range []string{"127.0.0.1:5432/taskloom?sslmode=disable", "u:hunter2@h/db?sslmode=disable"} {
		_, err = config.Load([]string{"DATABASE_URL=" + address})
		require.Contains(t, found(t, err)["DATABASE_URL"], "does not begin with postgres://")
		require.NotContains(t, found(t, err)["DATABASE_URL"], "hunter2")
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{
		"DATABASE_URL=postgres://u:hunter2@h/db", "REDIS_URL=redis://:hunter2@h",
		"S3_BUCKET=b", "S3_ACCESS_KEY_ID=hunter2", "S3_SECRET_ACCESS_KEY=hunter2",
	})
	require.NoError(t, err)
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "url", c.DatabaseURL, "s3", c.S3)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "url", c.DatabaseURL, "s3", c.S3)
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	for _, printed := range []string{
		log.String(), string(raw), fmt.Sprint(c.DatabaseURL), fmt.Sprintf("%+v", c.S3), fmt.Sprintf("%#v", c.S3),
		fmt.Sprintf("%s %q %v %+v %#v", c.DatabaseURL, c.DatabaseURL, c, c, c),
	} {
		require.NotContains(t, printed, "hunter2")
	}
}

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	c, err := config.Load(nil)
	require.NoError(t, err)
	require.Empty(t, c.Proxies(), "nobody is trusted unasked")
	c, err = config.Load([]string{"TRUSTED_PROXIES=10.1.2.3/8, fd00::/8,"})
	require.NoError(t, err)
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}, c.Proxies())
	for _, bad := range []string{"10.0.0.1", "10.0.0.0/33", "proxy.internal", "10.0.0.0/8;fd00::/8"} {
		_, err = config.Load([]string{"TRUSTED_PROXIES=" + bad})
		require.Contains(t, found(t, err)["TRUSTED_PROXIES"], "10.0.0.0/8,fd00::/8", bad)
	}
}
