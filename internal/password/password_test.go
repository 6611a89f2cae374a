package password_test

import (
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/password"
)

func TestHashAndCheck(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	hash, err := password.Hash(ctx, "correct horse")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"), hash)
	again, err := password.Hash(ctx, "correct horse")
	require.NoError(t, err)
	require.NotEqual(t, hash, again, "salted")

	ok, outdated, err := password.Check(ctx, "correct horse", hash)
	require.NoError(t, err)
	require.True(t, ok)
	require.False(t, outdated)
	for _, wrong := range []string{"", "correct horsf", "Correct horse", strings.Repeat("x", 1<<20)} {
		ok, _, err = password.Check(ctx, wrong, hash)
		require.NoError(t, err)
		require.False(t, ok)
	}
}

func TestCheckOfAnUnknownUserSaysNo(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{"", "correct horse", "taskloom nobody"} {
		ok, outdated, err := password.Check(t.Context(), plain, "")
		require.NoError(t, err)
		require.False(t, ok)
		require.False(t, outdated)
	}
}

func TestCheckTellsAnOutdatedHash(t *testing.T) {
	t.Parallel()
	old, err := argon2id.CreateHash("correct horse", &argon2id.Params{
		Memory: 1024, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32,
	})
	require.NoError(t, err)
	ok, outdated, err := password.Check(t.Context(), "correct horse", old)
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, outdated)
	ok, outdated, err = password.Check(t.Context(), "wrong horse!", old)
	require.NoError(t, err)
	require.False(t, ok)
	require.False(t, outdated)
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	require.Empty(t, password.Problem("twelve chars"))
	require.Empty(t, password.Problem(strings.Repeat("é", 12)))
	require.Contains(t, password.Problem("eleven char"), "at least 12")
	require.Contains(t, password.Problem(strings.Repeat("é", 11)), "at least 12")
	require.Contains(t, password.Problem(strings.Repeat("x", 1001)), "at most 1000")
	require.NotEmpty(t, password.Problem(strings.Repeat("\xff", 12)))
	_, err := password.Hash(t.Context(), "too short")
	require.Equal(t, fault.Validation, fault.KindOf(err))
}
