package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// Races that the repository's bench runs already: it is run as it is, and what it
// wrote becomes races of ours.

// Their names, by which older results are known to come from there.
const pollsName, ingestName = "polls", "ingest"

// benchReport is what `go run ./bench` writes, as far as a race needs it.
type benchReport struct {
	Measures []benchMeasure `json:"measures"`
	Findings []benchFinding `json:"findings"`
	Failures []string       `json:"failures"`
}

// benchMeasure is a floor and the product, or the product twice.
type benchMeasure struct {
	Case           string         `json:"case"`
	Unit           string         `json:"unit"`
	Floor          benchSpread    `json:"floor"`
	Ours           benchSpread    `json:"ours"`
	Noise          float64        `json:"noise"`
	FloorLatencies benchLatencies `json:"floor_latencies_ms"`
	OursLatencies  benchLatencies `json:"ours_latencies_ms"`
}

// benchSpread has the values of every turn since bench tells them.
type benchSpread struct {
	spread

	Values []float64 `json:"values"`
}

// turns is how many samples each side has that are told one by one.
func (m *benchMeasure) turns() int {
	if len(m.Ours.Values) != len(m.Floor.Values) {
		return 0
	}
	return len(m.Ours.Values)
}

// told is what becomes the values of samples: the turns, or what is told of them.
func (s benchSpread) told(turns int) []float64 {
	if turns > 0 {
		return s.Values
	}
	return []float64{s.Min, s.Median, s.Max}
}

// benchLatencies are percentiles in milliseconds.
type benchLatencies struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	N    int64   `json:"n"`
}

func (l benchLatencies) quantiles() quantiles {
	return quantiles{N: l.N, P50: l.P50, P90: l.P90, P99: l.P99, P999: l.P999, Max: l.Max}
}

// benchFinding is figures of the product, or of what it is compared with.
type benchFinding struct {
	Case    string        `json:"case"`
	Figures []benchFigure `json:"figures"`
}

type benchFigure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Most  float64 `json:"most"`
	Least float64 `json:"least"`
	None  bool    `json:"none"`
}

// bench runs a part of the bench. What it wrote until it failed is returned with
// the error: such a part takes an hour.
func (r *room) bench(ctx context.Context, part string, flags ...string) (raw json.RawMessage, report benchReport, err error) {
	r.say("%s: bench -only %s", part, part)
	binary, err := filepath.Abs(r.binary)
	if err != nil {
		return nil, report, err
	}
	bench, err := filepath.Abs(filepath.Join(r.cache, "bench"))
	if err != nil {
		return nil, report, err
	}
	out := filepath.Join(r.dir, part+".json")
	args := slices.Concat([]string{"-only", part, "-rounds", strconv.Itoa(r.rounds), "-results", out, "-taskloom", binary}, flags)
	cmd := exec.CommandContext(ctx, bench, args...)
	var stdout bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.benchDir, &stdout, r.progress
	// Asked to end, it writes what it has found.
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, readyTimeout
	ran := cmd.Run()
	if ran != nil {
		ran = fmt.Errorf("%s %v: %w", bench, args, ran)
	}
	raw, report, err = readBench(out)
	return raw, report, errors.Join(ran, err)
}

func readBench(name string) (raw json.RawMessage, report benchReport, err error) {
	raw, err = os.ReadFile(name)
	if err != nil {
		return nil, report, fmt.Errorf("read what bench wrote: %w", err)
	}
	if err := json.Unmarshal(raw, &report); err != nil {
		return nil, report, fmt.Errorf("read what bench wrote: %w", err)
	}
	return raw, report, nil
}

// benchRace is a race whose figures come one by one.
type benchRace struct{ *raceResult }

func newBenchRace(race, title string, rounds int, noiseOf string, sides ...info) benchRace {
	r := &raceResult{Race: race, Title: title, Rounds: rounds, Told: true, Noise: map[string]float64{}, NoiseOf: noiseOf}
	for _, side := range sides {
		// What bench tells once is in the first.
		r.Contenders = append(r.Contenders, &contenderResult{info: side, Samples: []*sample{benchSample()}})
	}
	return benchRace{r}
}

func benchSample() *sample {
	return &sample{Values: map[string]float64{}, Latencies: map[string]quantiles{}}
}

// figure adds one that is not there yet; what it says is its name.
func (r benchRace) figure(f figure) string {
	f.Name = f.Says
	for i, have := range r.Figures {
		if have.Name == f.Name {
			r.Figures[i].Bound = max(have.Bound, f.Bound)
			r.Figures[i].None = have.None || f.None
			r.Figures[i].CPU = have.CPU || f.CPU
			return f.Name
		}
	}
	r.Figures = append(r.Figures, f)
	return f.Name
}

// compare adds what was sampled of the product, which is the first side, and of
// another one.
func (r benchRace) compare(f figure, other int, m *benchMeasure) {
	f.Turns = m.turns()
	name := r.figure(f)
	for i, s := range map[int]benchSpread{0: m.Ours, other: m.Floor} {
		c := r.Contenders[i]
		for k, v := range s.told(f.Turns) {
			if k == len(c.Samples) {
				c.Samples = append(c.Samples, benchSample())
			}
			c.Samples[k].Values[name] = v
		}
	}
	r.Noise[name] = m.Noise
}

// latency keeps the percentiles of both for a plot.
func (r benchRace) latency(name string, other int, m *benchMeasure) {
	for i, l := range map[int]benchLatencies{0: m.OursLatencies, other: m.FloorLatencies} {
		if l.N > 0 {
			r.Contenders[i].Samples[0].Latencies[name] = l.quantiles()
		}
	}
}

// one adds a single value of a side.
func (r benchRace) one(f figure, side int, value float64) {
	r.Contenders[side].Samples[0].Values[r.figure(f)] = value
}
