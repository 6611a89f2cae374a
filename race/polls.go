package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// benchReport is what `go run ./bench` writes, as far as the race of polls needs
// it.
type benchReport struct {
	Measures []benchMeasure `json:"measures"`
	Findings []struct {
		Case    string `json:"case"`
		Figures []struct {
			Name  string  `json:"name"`
			Value float64 `json:"value"`
			Unit  string  `json:"unit"`
		} `json:"figures"`
	} `json:"findings"`
}

// benchMeasure is a floor and the product, or the product twice.
type benchMeasure struct {
	Case           string         `json:"case"`
	Unit           string         `json:"unit"`
	Floor          spread         `json:"floor"`
	Ours           spread         `json:"ours"`
	Noise          float64        `json:"noise"`
	FloorLatencies benchLatencies `json:"floor_latencies_ms"`
	OursLatencies  benchLatencies `json:"ours_latencies_ms"`
}

type benchLatencies struct {
	P50 float64 `json:"p50"`
}

// pollsRace is race 5. The repository's bench has the floor server (chi, pgx and
// the same SQL) and the open loops already: it is run as it is, and what it
// wrote becomes a race of ours.
func pollsRace(ctx context.Context, r *room) error {
	r.say("polls: bench -only polls")
	out := filepath.Join(r.dir, "polls.json")
	binary, err := filepath.Abs(r.binary)
	if err != nil {
		return err
	}
	bench, err := filepath.Abs(filepath.Join(r.cache, "bench"))
	if err != nil {
		return err
	}
	args := []string{
		"-only", "polls", "-rounds", strconv.Itoa(r.rounds), "-tasks", strconv.Itoa(max(r.present, mostPerRequest)),
		"-sample", r.window.String(), "-results", out, "-taskloom", binary, "-etag-polls", strconv.Itoa(r.etagPolls),
	}
	cmd := exec.CommandContext(ctx, bench, args...)
	var stdout bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.benchDir, &stdout, r.progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %v: %w", bench, args, err)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	var report benchReport
	if err := json.Unmarshal(raw, &report); err != nil {
		return fmt.Errorf("read what bench wrote: %w", err)
	}
	r.results.Polls = raw
	r.results.Races = append(r.results.Races, pollResults(&report, taskloomVersion(r.options), r.rounds)...)
	return nil
}

const (
	pollFloor = "floor server"
	// pollTags is in the names of bench's comparisons of polls with entity tags.
	pollTags = "If-None-Match"
	// The aims: p99 in relation to the floor, CPU milliseconds a poll.
	pollAim, pollCPU = 3, 2
)

// pollResults puts what bench has compared together: the product beside the
// floor, and the product with entity tags beside itself without.
func pollResults(report *benchReport, version string, rounds int) []*raceResult {
	product := info{Name: ours, Version: version, Contract: "taskloom"}
	plain := newPollRace("a status and a list of 200", rounds, pollFloor, product, info{Name: pollFloor, Version: "chi and pgx, same SQL", Contract: "floor"})
	with, without := product, product
	with.Name, without.Name = ours+" with "+pollTags, ours+" without"
	tags := newPollRace("polls of what has not changed", rounds, without.Name, with, without)
	for i := range report.Measures {
		m := &report.Measures[i]
		if strings.Contains(m.Case, pollTags) {
			tags.compare(figure{Says: "CPU for " + m.Case, Unit: "s"}, m)
			continue
		}
		f := figure{Says: m.Case, Unit: m.Unit, More: m.Unit == "/s"}
		if m.Unit == "ms" {
			f.Aim, f.Against = pollAim, pollFloor
			plain.both(figure{Says: strings.Replace(m.Case, "p99", "p50", 1), Unit: "ms"}, m.OursLatencies.P50, m.FloorLatencies.P50)
		}
		plain.compare(f, m)
	}
	for _, f := range report.Findings {
		for _, x := range f.Figures {
			of := figure{Says: f.Case + ": " + x.Name, Unit: x.Unit}
			switch name, side, _ := strings.Cut(x.Name, ", "); {
			case strings.HasPrefix(x.Name, "with: "), strings.HasPrefix(x.Name, "without: "):
				side, what, _ := strings.Cut(x.Name, ": ")
				tags.one(figure{Says: f.Case + ": " + what, Unit: x.Unit}, map[string]int{"with": 0, "without": 1}[side], x.Value)
			case strings.HasPrefix(name, "CPU a poll"):
				of.Says, of.Unit = f.Case+": CPU a poll", "ms"
				if strings.HasPrefix(side, "the floor") {
					plain.one(of, 1, x.Value)
					continue
				}
				of.Bound = pollCPU
				plain.one(of, 0, x.Value)
			case name == "polls that failed":
				of.None = true
				plain.one(of, 0, x.Value)
			}
		}
	}
	return []*raceResult{plain.raceResult, tags.raceResult}
}

// pollRace is a race whose figures come one by one.
type pollRace struct{ *raceResult }

func newPollRace(title string, rounds int, noiseOf string, sides ...info) pollRace {
	r := &raceResult{Race: "polls", Title: title, Rounds: rounds, Noise: map[string]float64{}, NoiseOf: noiseOf}
	for _, side := range sides {
		// As many samples as bench tells of: the least, the median, the most.
		c := &contenderResult{info: side}
		for range 3 {
			c.Samples = append(c.Samples, &sample{Values: map[string]float64{}})
		}
		r.Contenders = append(r.Contenders, c)
	}
	return pollRace{r}
}

// figure adds one that is not there yet; what it says is its name.
func (r pollRace) figure(f figure) string {
	f.Name = f.Says
	for i, have := range r.Figures {
		if have.Name == f.Name {
			r.Figures[i].Bound = max(have.Bound, f.Bound)
			return f.Name
		}
	}
	r.Figures = append(r.Figures, f)
	return f.Name
}

// compare adds what was sampled of both sides.
func (r pollRace) compare(f figure, m *benchMeasure) {
	name := r.figure(f)
	for i, s := range []spread{m.Ours, m.Floor} {
		for k, v := range []float64{s.Min, s.Median, s.Max} {
			r.Contenders[i].Samples[k].Values[name] = v
		}
	}
	r.Noise[name] = m.Noise
}

// one adds a single value of a side.
func (r pollRace) one(f figure, side int, value float64) {
	r.Contenders[side].Samples[0].Values[r.figure(f)] = value
}

func (r pollRace) both(f figure, first, second float64) {
	r.one(f, 0, first)
	r.one(f, 1, second)
}
