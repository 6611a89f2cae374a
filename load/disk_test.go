package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/procfs"
)

func TestADiskThatStandsStillIsSeen(t *testing.T) {
	t.Parallel()
	began := time.Unix(1000, 0)
	type look struct {
		at            time.Duration
		done, waiting int64
	}
	still := func(from, to time.Duration, done int64) (out []look) {
		for at := from; at <= to; at += diskEach {
			out = append(out, look{at, done, 5})
		}
		return out
	}
	for name, c := range map[string]struct {
		looks        []look
		times        int
		all, longest time.Duration
	}{
		"busy":                     {[]look{{0, 10, 5}, {diskEach, 20, 5}, {2 * diskEach, 30, 5}}, 0, 0, 0},
		"idle":                     {[]look{{0, 10, 0}, {diskEach, 10, 0}, {time.Second, 10, 0}}, 0, 0, 0},
		"still":                    {append(still(0, time.Second, 10), look{1050 * time.Millisecond, 11, 4}), 1, time.Second, time.Second},
		"still for a flush":        {append(still(0, 200*time.Millisecond, 10), look{250 * time.Millisecond, 11, 4}), 0, 0, 0},
		"still, then nothing more": {append(still(0, time.Second, 10), look{1050 * time.Millisecond, 10, 0}), 1, time.Second, time.Second},
		"this program stood still": {[]look{{0, 10, 5}, {time.Second, 10, 5}, {time.Second + diskEach, 11, 5}}, 0, 0, 0},
		"twice": {
			append(append(still(0, time.Second, 10), still(2*time.Second, 2500*time.Millisecond, 11)...), look{3 * time.Second, 12, 0}),
			2, 1500 * time.Millisecond, time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r run
			r.numbers.set(map[string]float64{})
			r.sumDisk()
			require.Empty(t, r.numbers.get(), "nobody looked")
			for _, l := range c.looks {
				r.disk.with(func(s *stillness) { s.saw(procfs.Disk{Done: l.done, Waiting: l.waiting}, began.Add(l.at)) })
			}
			s := r.disk.get()
			require.Equal(t, c.times, s.times)
			require.Equal(t, c.all, s.all)
			require.Equal(t, c.longest, s.longest)
		})
	}
}
