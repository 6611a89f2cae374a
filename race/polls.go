package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// pollsRace is race 5: the bench has the floor server (chi, pgx and the same SQL)
// and the open loops.
func pollsRace(ctx context.Context, r *room) error {
	tasks := max(r.present, mostPerRequest)
	raw, report, err := r.bench(ctx, "polls", "-tasks", strconv.Itoa(tasks), "-sample", r.window.String(), "-etag-polls", strconv.Itoa(r.etagPolls))
	if raw != nil {
		r.results.Polls = raw
		r.results.add(pollResults(&report, taskloomVersion(r.options), r.rounds, tasks)...)
	}
	return err
}

const (
	pollFloor = "floor server"
	// pollTags is in the names of bench's comparisons of polls with entity tags.
	pollTags = "If-None-Match"
	// pollTotals begins the unit of those that compare what all polls cost.
	pollTotals = "s of CPU"
	// pollTheirs ends the names of figures of the floor.
	pollTheirs = ", the floor"
	// pollLate is how late the client sent what was due.
	pollLate = "sent late, p99"
	// The aims: p99 in relation to the floor, CPU milliseconds a poll.
	pollAim, pollCPU = 3, 2
)

// pollResults puts what bench has compared together: the product beside the
// floor, and the product with entity tags beside itself without.
func pollResults(report *benchReport, version string, rounds, tasks int) []*raceResult {
	product := info{Name: ours, Version: version, Contract: contractOurs}
	plain := newBenchRace(pollsName, fmt.Sprintf("a status and a list of 200 of %d", tasks), rounds, pollFloor,
		product, info{Name: pollFloor, Version: "chi and pgx, same SQL", Contract: "floor"})
	with, without := product, product
	with.Name, without.Name = ours+" with "+pollTags, ours+" without"
	tags := newBenchRace(pollsName, fmt.Sprintf("polls of what has not changed, of %d", tasks), rounds, without.Name, with, without)
	for i := range report.Measures {
		m := &report.Measures[i]
		if m.Unit == pollTotals {
			tags.compare(figure{Says: "CPU for " + m.Case, Unit: "s"}, 1, m)
			continue
		}
		f := figure{Says: m.Case, Unit: m.Unit, More: m.Unit == "/s"}
		if m.Unit == "ms" {
			f.Aim, f.Against = pollAim, pollFloor
			p50 := plain.figure(figure{Says: strings.Replace(m.Case, "p99", "p50", 1), Unit: "ms"})
			plain.Contenders[0].Samples[0].Values[p50], plain.Contenders[1].Samples[0].Values[p50] = m.OursLatencies.P50, m.FloorLatencies.P50
			plain.latency(latencyOf(m.Case), 1, m)
		}
		plain.compare(f, 1, m)
	}
	plain.Curves = fastest(plain.raceResult)
	for _, f := range report.Findings {
		for _, x := range f.Figures {
			if side, what, ok := strings.Cut(x.Name, ": "); ok {
				of := figure{Says: f.Case + ": " + what, Unit: x.Unit, None: x.None}
				tags.one(of, map[string]int{"with": 0, "without": 1}[side], x.Value)
				continue
			}
			plain.pollFigure(f.Case, x)
		}
	}
	return []*raceResult{plain.raceResult, tags.raceResult}
}

// pollFigure adds what was found of one comparison.
func (r benchRace) pollFigure(about string, x benchFigure) {
	what, theirs := strings.CutSuffix(x.Name, pollTheirs)
	side := 0
	if theirs {
		side = 1
	}
	f := figure{Says: about + ": " + what, Unit: x.Unit}
	switch {
	case what == "polls that failed":
		f.None = true
	case what == "CPU a poll, all processes":
		f.Unit, f.Bound, f.CPU = "ms", pollCPU, true
	case strings.HasPrefix(what, "CPU a poll"):
		f.Unit = "ms"
	case what != pollLate && !strings.Contains(about, pollTags): // 304 is for those who send a tag
		return
	}
	r.one(f, side, x.Value)
}

// latencyOf is what is polled, and how often, of a case about a p99.
func latencyOf(about string) string { return strings.TrimPrefix(about, "p99 of ") }

// fastest are of all latencies those at the highest rate, which are drawn.
func fastest(r *raceResult) []string {
	most := 0
	rates := map[string]int{}
	for name := range r.Contenders[0].Samples[0].Latencies {
		_, at, _ := strings.Cut(name, " at ")
		number, _, _ := strings.Cut(at, "/s")
		rates[name], _ = strconv.Atoi(number) // 0 when it names no rate
		most = max(most, rates[name])
	}
	var names []string
	for name, rate := range rates {
		if rate == most {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
