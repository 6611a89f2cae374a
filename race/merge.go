package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// readAll reads runs and puts them together: a machine may be quiet for some
// minutes at a time only. Races of one name and title become one with all
// samples, which knows when each part was run, and on what.
func readAll(names []string) (*results, error) {
	var all *results
	for _, name := range names {
		r, err := readResults(name)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = r
			continue
		}
		all.Options = append(append(all.Options, "+"), r.Options...)
		all.Failures = append(all.Failures, r.Failures...)
		if all.Polls == nil {
			all.Polls = r.Polls
		}
		if all.Ingest == nil {
			all.Ingest = r.Ingest
		}
		for _, x := range r.Races {
			at := slices.IndexFunc(all.Races, func(have *raceResult) bool { return have.Race == x.Race && have.Title == x.Title })
			if at < 0 {
				all.Races = append(all.Races, x)
				continue
			}
			have := all.Races[at]
			if have.Once != x.Once {
				return nil, fmt.Errorf("%s: %q has one turn each in one of the runs, and goes there and back in another: name one of them", name, x.Title)
			}
			if x.Told {
				return nil, fmt.Errorf("%s: %q is in an earlier run, too: what bench told cannot be put together, name one of them", name, x.Title)
			}
			have.join(x)
		}
	}
	// The races in their order, whichever was run first.
	order := map[string]int{}
	for i, x := range races {
		order[x.name] = i
	}
	slices.SortStableFunc(all.Races, func(a, b *raceResult) int { return order[a.Race] - order[b.Race] })
	return all, nil
}

// join adds the samples of a later run.
func (r *raceResult) join(later *raceResult) {
	for _, c := range later.Contenders {
		for _, s := range c.Samples {
			s.Run += len(r.Runs)
		}
	}
	r.Rounds += later.Rounds
	r.Runs = append(r.Runs, later.Runs...)
	r.Noise = worseNoise(r.Noise, later.Noise)
	r.NoiseOf = cmp.Or(r.NoiseOf, later.NoiseOf)
	r.NoiseSamples = append(r.NoiseSamples, later.NoiseSamples...)
	for _, c := range later.Contenders {
		have := r.find(c.Name)
		if have == nil {
			r.Contenders = append(r.Contenders, c)
			continue
		}
		if !slices.Contains(strings.Split(have.Version, versions), c.Version) {
			have.Version += versions + c.Version
		}
		have.Samples = append(have.Samples, c.Samples...)
		if have.Failure == "" {
			have.Failure = c.Failure
		}
	}
}

// versions stands between those of a contender that was another one in a later run.
const versions = " and "

// worseNoise is, by figure, what differs more from silence: samples of a loud run
// are not better for those of a quiet one. What one of the two did not measure is
// 0, which allows no claim.
func worseNoise(a, b map[string]float64) map[string]float64 {
	worse := map[string]float64{}
	for _, noise := range []map[string]float64{a, b} {
		for name := range noise {
			worse[name] = a[name]
			if math.Abs(b[name]-1) > math.Abs(a[name]-1) {
				worse[name] = b[name]
			}
		}
	}
	return worse
}

// coarse is a run small enough to be kept with the sources: histograms have two
// digits instead of three, a line each, and what bench wrote is left out, as is
// where the files of whoever ran it are.
func (r *results) coarse() ([]byte, error) {
	small := *r
	small.Polls, small.Ingest = nil, nil
	doc, err := json.Marshal(&small)
	if err != nil {
		return nil, fmt.Errorf("encode results: %w", err)
	}
	var copied results
	if err := json.Unmarshal(doc, &copied); err != nil {
		return nil, fmt.Errorf("copy results: %w", err)
	}
	for i, o := range copied.Options {
		flag, value, joined := strings.Cut(o, "=")
		switch {
		case joined && filepath.IsAbs(value):
			copied.Options[i] = flag + "=" + filepath.Base(value)
		case filepath.IsAbs(o):
			copied.Options[i] = filepath.Base(o)
		}
	}
	for _, x := range copied.Races {
		x.NoiseSamples = withoutHistograms(x.NoiseSamples)
		for _, c := range x.Contenders {
			for _, s := range c.Samples {
				for name, q := range s.Latencies {
					q.Buckets = twoDigits(q.Buckets)
					s.Latencies[name] = q
				}
			}
		}
	}
	raw, err := json.Marshal(&copied)
	if err != nil {
		return nil, fmt.Errorf("encode results: %w", err)
	}
	// A sample a line: what changes from run to run can be seen.
	return append([]byte(strings.ReplaceAll(string(raw), `{"values":`, "\n"+`{"values":`)), '\n'), nil
}

func withoutHistograms(samples []*sample) []*sample {
	for _, s := range samples {
		for name, q := range s.Latencies {
			q.Buckets = nil
			s.Latencies[name] = q
		}
	}
	return samples
}

// twoDigits rounds the bounds of buckets up and adds up what falls together.
func twoDigits(buckets [][2]int64) [][2]int64 {
	counts := map[int64]int64{}
	for _, b := range buckets {
		unit := int64(1)
		for b[0]/unit >= 100 {
			unit *= 10
		}
		counts[(b[0]+unit-1)/unit*unit] += b[1]
	}
	var out [][2]int64
	for _, bound := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, [2]int64{bound, counts[bound]})
	}
	return out
}
