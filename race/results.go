package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// results is a whole run as it is kept.
type results struct {
	// Machine is that of a run that was kept before its races said theirs.
	Machine  *machine      `json:"machine,omitempty"`
	Options  []string      `json:"options"`
	Races    []*raceResult `json:"races"`
	Failures []string      `json:"failures,omitempty"`
	// Polls and Ingest are all that the bench wrote about them.
	Polls  json.RawMessage `json:"polls,omitempty"`
	Ingest json.RawMessage `json:"ingest,omitempty"`

	// now is the race that is run, and earlier how many results are of those before.
	now     begun
	earlier int
}

// raceResult is one competition.
type raceResult struct {
	Race       string             `json:"race"`
	Title      string             `json:"title"`
	Rounds     int                `json:"rounds"`
	Figures    []figure           `json:"figures"`
	Contenders []*contenderResult `json:"contenders"`
	// Once says that rounds had no way back, as those of chaos once had none; Phase is
	// the one whose CPU seconds are told by process.
	Once  bool   `json:"once,omitempty"`
	Phase string `json:"phase,omitempty"`
	// Curves are the latencies that are drawn; where none is named, those that all
	// races once had.
	Curves []string `json:"curves,omitempty"`
	// Runs are when its samples were taken, and on what.
	Runs []begun `json:"runs,omitempty"`
	// Told says that bench measured it: the values of a figure are as many turns as it
	// says, or the least, the median and the most of them, or a single one.
	Told bool `json:"told,omitempty"`
	// Noise is, by figure, the ratio of one contender to itself; nothing when it
	// was not measured.
	Noise        map[string]float64 `json:"noise,omitempty"`
	NoiseOf      string             `json:"noise_of,omitempty"`
	NoiseSamples []*sample          `json:"noise_samples,omitempty"`
}

// begun is when samples were taken, in RFC 3339, and /proc/loadavg around it.
type begun struct {
	Date       string `json:"date"`
	LoadBefore string `json:"load_before,omitempty"`
	LoadAfter  string `json:"load_after,omitempty"`
	// Rounds are those of this run; among runs that were put together before it was
	// told, the first has them all.
	Rounds int `json:"rounds,omitempty"`
	// Machine is what it ran on; nil where that was not kept with it.
	Machine *machine `json:"machine,omitempty"`
}

// contenderResult is all samples of one contender.
type contenderResult struct {
	info

	Samples []*sample `json:"samples"`
	Failure string    `json:"failure,omitempty"`
}

// values of a figure in the order in which they were measured.
func (c *contenderResult) values(name string) (all []float64) {
	for _, s := range c.Samples {
		if v, ok := s.Values[name]; ok {
			all = append(all, v)
		}
	}
	return all
}

// spread of a figure over all samples.
func (c *contenderResult) spread(name string) spread { return spreadOf(c.values(name)) }

// find returns a contender by its name; nil when it did not take part.
func (r *raceResult) find(name string) *contenderResult {
	for _, c := range r.Contenders {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// begin notes that a race begins, and on what.
func (r *results) begin(m *machine) {
	r.now = begun{Date: time.Now().UTC().Format(time.RFC3339), LoadBefore: firstLine("/proc/loadavg"), Machine: m}
	r.earlier = len(r.Races)
}

// add takes in what the race that is run has found, or is about to find.
func (r *results) add(found ...*raceResult) {
	for _, x := range found {
		x.Runs = []begun{r.now}
		x.Runs[0].Rounds = x.Rounds
		r.Races = append(r.Races, x)
	}
}

// wrong is what makes a run fail: somebody was out, or ours did what nobody may.
func (r *results) wrong() (errs []error) {
	for _, f := range r.Failures {
		errs = append(errs, errors.New(f))
	}
	if len(r.Races) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("nobody took part: -contenders names none of these races"))
	}
	for _, x := range r.Races {
		for _, c := range x.Contenders {
			for _, f := range x.Figures {
				if s := c.spread(f.Name); c.Contract == contractOurs && f.None && s.Max > 0 {
					errs = append(errs, fmt.Errorf("%s, %s, %s: %s is %s and must be 0", x.Race, x.Title, c.Name, f.Says, inUnit(s.Max, f.Unit)))
				}
			}
		}
	}
	return errs
}

// keep writes what is known so far: a run takes long, and may be cut short.
func (r *results) keep(name string) error {
	if name == "" {
		return nil
	}
	for _, x := range r.Races[r.earlier:] {
		for i := range x.Runs {
			x.Runs[i].LoadAfter = firstLine("/proc/loadavg")
		}
	}
	doc, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("encode results: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	// Never half of it: report may read it at the same time.
	if err := os.WriteFile(name+".part", append(doc, '\n'), 0o644); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return os.Rename(name+".part", name)
}

func readResults(name string) (*results, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	var r results
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("read results %s: %w", name, err)
	}
	r.complete()
	return &r, nil
}

// complete tells races what was kept before they said it by themselves. The machine
// of a run is that of its races; among runs that were put together it was that of the
// first, which the date tells, and of the others it is not known.
func (r *results) complete() {
	m := r.Machine
	r.Machine = nil
	for _, x := range r.Races {
		x.Told = x.Told || x.Race == pollsName || x.Race == ingestName
		if len(x.Runs) == 0 {
			x.Runs = []begun{{}}
			if m != nil {
				x.Runs[0] = begun{Date: m.Date, LoadBefore: m.LoadBefore, LoadAfter: m.LoadAfter}
			}
		}
		if !slices.ContainsFunc(x.Runs, func(run begun) bool { return run.Rounds > 0 }) {
			x.Runs[0].Rounds = x.Rounds
		}
		for i := range x.Runs {
			if run := &x.Runs[i]; run.Machine == nil && m != nil && run.Date == m.Date {
				run.Machine = m
			}
		}
	}
}
