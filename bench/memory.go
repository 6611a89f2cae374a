package main

import (
	"context"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/measure/process"
	"github.com/taskloom/taskloom/internal/measure/procfs"
)

const megabyte = 1e6

// memory samples what children hold in main memory, until it is stopped.
type memory struct {
	every    time.Duration
	children []*process.Process
	cancel   context.CancelFunc
	done     sync.WaitGroup

	mu     sync.Mutex
	series map[string][]float64 // MB by child
}

// watchMemory looks at once and then as often as it is told.
func watchMemory(ctx context.Context, every time.Duration, children ...*process.Process) *memory {
	ctx, cancel := context.WithCancel(ctx)
	m := &memory{every: every, children: children, cancel: cancel, series: map[string][]float64{}}
	m.done.Go(func() {
		next := time.NewTicker(every)
		defer next.Stop()
		for {
			m.look()
			select {
			case <-next.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return m
}

func (m *memory) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.children {
		if held, err := procfs.MemoryOf(c.Pid()); err == nil && held.Now > 0 { // else it is being started again
			m.series[c.Name] = append(m.series[c.Name], float64(held.Now)/megabyte)
		}
	}
}

// stop ends the sampling. Stopping twice is fine.
func (m *memory) stop() {
	m.cancel()
	m.done.Wait()
}

// into tells of every child least, median, most and the end, and keeps a curve
// of a size that can be read.
func (m *memory) into(f *finding) {
	const points = 200
	m.stop()
	if f.Series == nil {
		f.Series = map[string]series{}
	}
	for _, c := range m.children {
		all := m.series[c.Name]
		if len(all) == 0 {
			continue
		}
		s := spreadOf(all)
		f.add(
			figure{Name: "RSS of " + c.Name + ", least", Value: s.Min, Unit: unitMB},
			figure{Name: "RSS of " + c.Name + ", median", Value: s.Median, Unit: unitMB},
			figure{Name: "RSS of " + c.Name + ", most", Value: s.Max, Unit: unitMB},
			figure{Name: "RSS of " + c.Name + ", at the end", Value: all[len(all)-1], Unit: unitMB},
		)
		step := (len(all) + points - 1) / points
		curve := series{EverySeconds: m.every.Seconds() * float64(step)}
		for i := 0; i < len(all); i += step {
			curve.Values = append(curve.Values, float64(int(all[i]*10))/10)
		}
		f.Series["rss_mb_"+c.Name] = curve
	}
}

// peakMB is the most that a process held since the last ResetPeak, in MB.
func peakMB(p *process.Process) (float64, error) {
	held, err := p.Peak()
	return float64(held) / megabyte, err
}
