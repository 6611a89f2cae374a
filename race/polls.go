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
)

// benchReport is what `go run ./bench` writes, as far as the race of polls needs
// it.
type benchReport struct {
	Measures []struct {
		Part  string  `json:"part"`
		Case  string  `json:"case"`
		Unit  string  `json:"unit"`
		Floor spread  `json:"floor"`
		Ours  spread  `json:"ours"`
		Ratio float64 `json:"ratio"`
		Noise float64 `json:"noise"`
	} `json:"measures"`
	Findings []struct {
		Part    string `json:"part"`
		Case    string `json:"case"`
		Figures []struct {
			Name  string  `json:"name"`
			Value float64 `json:"value"`
			Unit  string  `json:"unit"`
		} `json:"figures"`
	} `json:"findings"`
}

// pollsRace is race 5. The repository's bench has the floor server (chi, pgx and
// the same SQL) and the open loops already: it is run as it is, and what it
// wrote becomes a race of ours.
func pollsRace(ctx context.Context, r *room) error {
	r.say("polls: go run ./bench -only polls")
	out := filepath.Join(r.dir, "polls.json")
	binary, err := filepath.Abs(r.binary)
	if err != nil {
		return err
	}
	args := []string{
		"run", "./bench", "-only", "polls", "-rounds", strconv.Itoa(r.rounds), "-tasks", strconv.Itoa(max(r.present, mostPerRequest)),
		"-sample", r.window.String(), "-results", out, "-taskloom", binary, "-etag-polls", strconv.Itoa(r.etagPolls),
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	var stdout bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.benchDir, &stdout, r.progress
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %v: %w", args, err)
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
	r.results.Races = append(r.results.Races, pollResults(report, taskloomVersion(r.options), r.rounds)...)
	return nil
}

// pollResults makes a race of each comparison.
func pollResults(report benchReport, version string, rounds int) []*raceResult {
	const floor = "floor server"
	var out []*raceResult
	for _, m := range report.Measures {
		f := figure{Name: "value", Says: m.Case, Unit: m.Unit, More: m.Unit == "/s"}
		if m.Unit == "ms" {
			f.Aim, f.Against = 3, floor
		}
		sides := [2]*contenderResult{
			{info: info{Name: "Taskloom", Version: version, Contract: "taskloom"}},
			{info: info{Name: floor, Version: "chi and pgx, same SQL", Contract: "floor"}},
		}
		for i, s := range []spread{m.Ours, m.Floor} {
			for _, v := range []float64{s.Min, s.Median, s.Max} { // its samples, as far as bench tells them
				sides[i].Samples = append(sides[i].Samples, &sample{Values: map[string]float64{"value": v}})
			}
		}
		out = append(out, &raceResult{
			Race: "polls", Title: m.Case, Rounds: rounds, Figures: []figure{f}, Contenders: sides[:],
			Noise: map[string]float64{"value": m.Noise}, NoiseOf: floor,
		})
	}
	return out
}
