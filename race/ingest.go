package main

import (
	"context"
	"strconv"
	"strings"
)

// ingestRace is race 6: the bench makes the archives, the bare copy and the
// script, and kills the worker and the script in the middle.
func ingestRace(ctx context.Context, r *room) error {
	raw, report, err := r.bench(ctx, "ingest", "-shapes", r.shapes, "-long-rounds", strconv.Itoa(r.rounds))
	if raw != nil {
		r.results.Ingest = raw
		r.results.add(ingestResults(&report, taskloomVersion(r.options), r.rounds, r.shapes))
	}
	return err
}

// ingestSides are who takes part besides the product, as bench's comparisons
// end, with the aims of files or bytes a second.
var ingestSides = []struct {
	ends string
	info info
	aim  float64
}{
	{" against a bare copy", info{Name: "bare copy", Version: "S3 to S3, 16 at a time", Contract: "bare-copy"}, 0.7},
	{" against the script", info{Name: "script", Version: "unzip, rclone, \\copy", Contract: "script"}, 1},
}

// ingestResults puts what bench has compared side by side. The product stands in
// two lines of each archive, one for each that it is compared with.
func ingestResults(report *benchReport, version string, rounds int, shapes string) *raceResult {
	sides := []info{{Name: ours, Version: version, Contract: contractOurs}}
	for _, s := range ingestSides {
		sides = append(sides, s.info)
	}
	r := newBenchRace(ingestName, "archives of "+strings.ReplaceAll(shapes, ",", ", ")+", stored and deflated", rounds, sides[1].Name, sides...)
	for i := range report.Measures {
		m := &report.Measures[i]
		for k, s := range ingestSides {
			if strings.HasSuffix(m.Case, s.ends) {
				f := figure{Says: m.Case, Unit: m.Unit, More: true, Aim: s.aim, Against: s.info.Name}
				r.compare(f, k+1, m)
			}
		}
	}
	for _, f := range report.Findings {
		if f.Case == ingestMemory {
			continue
		}
		for _, x := range f.Figures {
			r.ingestFigure(f.Case, x)
		}
	}
	return r.raceResult
}

const (
	ingestCPU = "CPU of all processes"
	// ingestMemory is the case of curves of memory, which the JSON has.
	ingestMemory = "memory over all of it"
	// ingestKilled and ingestScriptKilled end the cases of a kill: the product's and
	// the script's.
	ingestKilled       = ", the worker killed in the middle"
	ingestScriptKilled = ", the script killed in the middle and run again"
	// ingestInside ends the case of the store that copies by itself.
	ingestInside = " copied by the store itself"
)

// ingestFigure adds what was found of one side.
func (r benchRace) ingestFigure(about string, x benchFigure) {
	side, about, name := ingestSide(about, x.Name)
	f := figure{Says: about + ": " + name, Unit: x.Unit, None: x.None, CPU: name == ingestCPU, Bound: x.Most}
	if x.Least > 0 {
		f.Bound, f.More = x.Least, true
	}
	r.one(f, side, x.Value)
}

// ingestSide is whose figure of bench it is, and what it is about among those of
// all sides.
func ingestSide(about, name string) (side int, what, figure string) {
	if shape, ok := strings.CutSuffix(about, ingestScriptKilled); ok {
		return 2, shape + ", killed in the middle", name
	}
	if shape, ok := strings.CutSuffix(about, ingestKilled); ok {
		return 0, shape + ", killed in the middle", name
	}
	if strings.HasSuffix(about, ingestInside) {
		return 1, about, name
	}
	for i, end := range []string{", the bare copy", ", the script"} {
		if of, ok := strings.CutSuffix(name, end); ok {
			return i + 1, about, of
		}
	}
	return 0, about, name
}
