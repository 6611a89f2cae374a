package fault_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

func TestKindOfFindsTheKindThroughWrapping(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("load task: %w", fault.New(fault.NotFound, "task %d not found", 7))
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.True(t, fault.Is(err, fault.NotFound))
	require.False(t, fault.Is(err, fault.Conflict))
	require.Equal(t, fault.Internal, fault.KindOf(errors.New("boom")))
	require.Equal(t, fault.Kind(""), fault.KindOf(nil))
	require.False(t, fault.Is(nil, fault.Internal))
}

func TestAnErrorCarriesItsCauseForTheLogOnly(t *testing.T) {
	t.Parallel()
	cause := errors.New("connection refused")
	plain := fault.New(fault.Unavailable, "the database does not answer")
	err := plain.Because(cause)
	require.Equal(t, "service_unavailable: the database does not answer", plain.Error())
	require.Equal(t, "service_unavailable: the database does not answer: connection refused", err.Error())
	require.Equal(t, "the database does not answer", err.Message)
	require.ErrorIs(t, err, cause)
	require.NotErrorIs(t, plain, cause)
	require.NoError(t, plain.Unwrap())
}

// The copying methods leave the original as it is, so that an error can be a
// package variable.
func TestCopiesLeaveTheOriginalAlone(t *testing.T) {
	t.Parallel()
	e := fault.New(fault.RateLimited, "slow down")
	problems := []fault.Problem{{Path: "a", Message: "b"}}
	all := e.After(time.Second).With(problems).Because(errors.New("x"))
	require.Equal(t, time.Second, all.RetryAfter)
	require.Equal(t, problems, all.Problems)
	require.Error(t, all.Unwrap())
	require.Equal(t, fault.New(fault.RateLimited, "slow down"), e)
}

func TestKindsAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[fault.Kind]bool{}
	for _, k := range fault.Kinds() {
		require.False(t, seen[k], k)
		seen[k] = true
	}
	require.Len(t, seen, 12)
}
