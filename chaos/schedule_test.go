package chaos

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASeedLeadsToOneSchedule(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		a, err := json.Marshal(NewSchedule(seed, 10*time.Minute, 2))
		require.NoError(t, err)
		b, err := json.Marshal(NewSchedule(seed, 10*time.Minute, 2))
		require.NoError(t, err)
		require.Equal(t, string(a), string(b))
	}
	require.NotEqual(t, NewSchedule(1, time.Minute, 1).Faults, NewSchedule(2, time.Minute, 1).Faults)
}

func TestAScheduleIsReplayedFromItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "schedule.json")
	s := NewSchedule(7, 3*time.Minute, 3)
	require.NoError(t, s.Save(path))
	again, err := LoadSchedule(path)
	require.NoError(t, err)
	require.Equal(t, s, again)

	s.Faults[3].Kind = "bad weather"
	require.NoError(t, s.Save(path))
	_, err = LoadSchedule(path)
	require.ErrorContains(t, err, `fault 4 is of the unknown kind "bad weather"`)
	require.NoError(t, os.WriteFile(path, []byte("seed 7"), 0o600))
	_, err = LoadSchedule(path)
	require.ErrorContains(t, err, "is no schedule")
}

// The pace that issues and docs speak of: at least 40 faults in three minutes
// and 1,500 in two hours, every kind among them, in the order of their times.
func TestThePaceOfASchedule(t *testing.T) {
	t.Parallel()
	for d, least := range map[time.Duration]int{3 * time.Minute: 40, 2 * time.Hour: 1500} {
		for seed := range uint64(20) {
			s := NewSchedule(seed, d, 1)
			require.GreaterOrEqual(t, len(s.Faults), least)
			kinds := map[string]bool{}
			calm := 0
			for i, f := range s.Faults {
				kinds[f.Kind] = true
				require.Less(t, f.AtMS, d.Milliseconds())
				if i > 0 {
					require.GreaterOrEqual(t, f.AtMS, s.Faults[i-1].AtMS)
				}
				if f.Calm {
					calm++
				}
			}
			require.Len(t, kinds, len(randomFaults))
			require.GreaterOrEqual(t, calm, len(s.Faults)/(calmEvery+2))
			require.True(t, s.Faults[len(s.Faults)-1].Calm)
		}
	}
}

func TestHowManyFaultsMustBeInjected(t *testing.T) {
	t.Parallel()
	for planned, least := range map[int]int{1: 0, 39: 0, 40: 40, 45: 40, 90: 80, 1800: 1600} {
		require.Equal(t, least, leastInjected(planned), "of %d", planned)
	}
}
