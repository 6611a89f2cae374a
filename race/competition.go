package main

import (
	"context"
	"fmt"
	"strings"
)

// figure is a value of samples that is compared.
type figure struct {
	Name string `json:"name"` // in sample.Values
	Says string `json:"says"`
	Unit string `json:"unit,omitempty"`
	// More says that more is better.
	More bool `json:"more,omitempty"`
	// None says that it must be 0: no ratio makes sense.
	None bool `json:"none,omitempty"`
	// Aim is what ours must reach, in relation to the contender Against; 0 is none.
	Aim     float64 `json:"aim,omitempty"`
	Against string  `json:"against,omitempty"`
	// Bound is what ours must keep by itself, in the unit; 0 is none.
	Bound float64 `json:"bound,omitempty"`
	// Drawn says that the plot is of this one; otherwise it is of the first.
	Drawn bool `json:"drawn,omitempty"`
	// CPU says that the plot of CPU time is of this one: what is done in a CPU
	// second, or what is used.
	CPU bool `json:"cpu,omitempty"`
	// Turns is, of a figure of bench, how many samples each side has, there and back;
	// 0 where bench told the least, the median and the most of them only.
	Turns int `json:"turns,omitempty"`
}

// ofCPU says that the figure is of CPU seconds, or of what is done in one.
func (f figure) ofCPU() bool { return f.CPU || strings.Contains(f.Unit, "CPU") }

// competition is contenders that do the same.
type competition struct {
	race, title string
	figures     []figure
	contenders  []contender
	// noise is the index of the contender that runs against itself first.
	noise int
	// phase is the one whose CPU seconds are told by process.
	phase string
	// curves are the latencies that are drawn, by their names in sample.Latencies.
	curves []string
}

// run lets everybody compete: first one contender against itself, then rounds
// of all in the order of a palindrome. A contender that fails is out, and the
// others go on.
func (c *competition) run(ctx context.Context, r *room) error {
	if len(c.contenders) == 0 {
		r.say("%s: %s: nobody who was asked for takes part", c.race, c.title)
		return nil
	}
	res := &raceResult{
		Race: c.race, Title: c.title, Figures: c.figures, Noise: map[string]float64{}, Rounds: r.rounds, Phase: c.phase, Curves: c.curves,
	}
	r.results.add(res)
	r.say("%s: %s", c.race, c.title)
	defer func() {
		for _, x := range c.contenders {
			x.close(r)
		}
	}()
	out := make([]error, len(c.contenders))
	for i, x := range c.contenders {
		res.Contenders = append(res.Contenders, &contenderResult{info: x.info()})
		if err := x.setup(ctx, r); err != nil {
			out[i] = c.fail(r, res, i, fmt.Errorf("set up: %w", err))
		}
	}
	if r.noise && out[c.noise] == nil {
		if err := c.measureNoise(ctx, r, res); err != nil {
			out[c.noise] = c.fail(r, res, c.noise, err)
		}
	}
	for round := range r.rounds {
		for _, i := range palindrome(len(c.contenders)) {
			if out[i] != nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			s, err := c.contenders[i].sample(ctx, r)
			if err != nil {
				out[i] = c.fail(r, res, i, fmt.Errorf("round %d: %w", round+1, err))
				continue
			}
			res.Contenders[i].Samples = append(res.Contenders[i].Samples, s)
			r.say("  %s: %s", res.Contenders[i].Name, c.line(s))
			if share := s.CPU[c.phase].strange(c.contenders[i].info().Uses); share > mostOthers {
				r.say("  the machine did %.0f %% as much for others meanwhile", 100*share)
			}
			if err := r.results.keep(r.resultsFile); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *competition) fail(r *room, res *raceResult, i int, err error) error {
	name := c.contenders[i].info().Name
	r.say("  %s is out: %v", name, err)
	res.Contenders[i].Failure = err.Error()
	r.results.Failures = append(r.results.Failures, fmt.Sprintf("%s, %s, %s: %v", c.race, c.title, name, err))
	return err
}

// measureNoise lets one contender play both sides of A B B A.
func (c *competition) measureNoise(ctx context.Context, r *room, res *raceResult) error {
	sides := [2]map[string][]float64{{}, {}}
	for _, side := range palindrome(2) {
		s, err := c.contenders[c.noise].sample(ctx, r)
		if err != nil {
			return fmt.Errorf("against itself: %w", err)
		}
		for name, v := range s.Values {
			sides[side][name] = append(sides[side][name], v)
		}
		res.NoiseSamples = append(res.NoiseSamples, s)
	}
	res.NoiseOf = c.contenders[c.noise].info().Name
	for _, f := range c.figures {
		if !f.None && len(sides[0][f.Name]) > 0 {
			res.Noise[f.Name] = noiseOf(sides[0][f.Name], sides[1][f.Name])
		}
	}
	r.say("  %s against itself: %v", res.NoiseOf, res.Noise)
	return r.results.keep(r.resultsFile)
}

// line tells a sample in short.
func (c *competition) line(s *sample) string {
	var text string
	for _, f := range c.figures {
		if v, ok := s.Values[f.Name]; ok {
			if text != "" {
				text += ", "
			}
			text += f.Says + " " + inUnit(v, f.Unit)
		}
	}
	return text
}

// add lets a contender take part that was asked for.
func (c *competition) add(r *room, x contender) {
	if r.takesPart(x.info().Name) {
		c.contenders = append(c.contenders, x)
	}
}
