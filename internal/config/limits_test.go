package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/limit"
)

func TestRateLimits(t *testing.T) {
	t.Parallel()
	c, err := config.Load(nil)
	require.NoError(t, err)
	require.Equal(t, limit.Rates{
		limit.Key: {Limit: 1200, Period: time.Minute}, limit.Address: {Limit: 300, Period: time.Minute},
		limit.FailedAuth: {Limit: 30, Period: time.Minute},
	}, c.RateLimits.Rates())

	c, err = config.Load([]string{"RATE_LIMIT_KEY=off", "RATE_LIMIT_ADDRESS=5-S", "RATE_LIMIT_FAILED_AUTH="})
	require.NoError(t, err)
	require.Equal(t, limit.Rates{
		limit.Key: {}, limit.Address: {Limit: 5, Period: time.Second}, limit.FailedAuth: {Limit: 30, Period: time.Minute},
	}, c.RateLimits.Rates())

	_, err = config.Load([]string{"RATE_LIMIT_KEY=many", "RATE_LIMIT_ADDRESS=0-M", "RATE_LIMIT_FAILED_AUTH=30/m"})
	problems := found(t, err)
	for _, name := range []string{"RATE_LIMIT_KEY", "RATE_LIMIT_ADDRESS", "RATE_LIMIT_FAILED_AUTH"} {
		require.Contains(t, problems[name], "1200-M", name)
	}
}

func TestRedisURLIsChecked(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"http://x", "redis://:hunter2", "redis://:hunter2@h/db", "h:6379"} {
		_, err := config.Load([]string{"REDIS_URL=" + bad})
		message := found(t, err)["REDIS_URL"]
		require.Contains(t, message, "redis://user:password@host:6379/0", bad)
		require.NotContains(t, message, "hunter2", bad)
	}
	_, err := config.Load([]string{"REDIS_URL=rediss://u:p@h:6380/2"})
	require.NoError(t, err)
}
