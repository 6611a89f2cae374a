package main

import (
	"context"
	"fmt"
	"time"

	"github.com/taskloom/taskloom/internal/measure/zipgen"
)

// compareShape races the product with the bare copy and with the script, on
// archives that are stored and deflated.
func (in *ingestion) compareShape(ctx context.Context, s shape) error {
	if err := in.room(s); err != nil {
		return err
	}
	sources := in.prefix + "source/"
	in.say("  %s: storing the sources of the bare copy", s)
	a := s.archive(false)
	err := each(ctx, s.files, func(ctx context.Context, i int) error {
		return in.bucket.put(ctx, sources+a.Name(i), s.size, a.Content(i))
	})
	if err != nil {
		return err
	}
	for _, deflated := range []bool{false, true} {
		if err := in.compareMethod(ctx, s, deflated); err != nil {
			return err
		}
	}
	if err := in.inside(ctx, s); err != nil {
		return err
	}
	return in.bucket.remove(ctx, sources)
}

// compareMethod is one palindrome of all sides.
func (in *ingestion) compareMethod(ctx context.Context, s shape, deflated bool) error {
	method, rounds := "stored", in.rounds
	if deflated {
		method = "deflated"
	}
	if s.long() {
		rounds = in.longRounds
	}
	what := fmt.Sprintf("%s %s", s, method)
	load := loadAverage()
	ours, err := in.newRun(s.archive(deflated), in.pipelines["on claim"])
	if err != nil {
		return err
	}
	bare := &copyRun{ingestion: in, shape: s}
	sides := []sampler{bare.sample, ours.sample}
	// The script takes the same files out of either kind.
	if in.script != nil && !deflated {
		if err := in.script.prepare(s.archive(deflated)); err != nil {
			return err
		}
		defer in.script.tidy()
		sides = append(sides, in.script.sample)
	}
	samples, err := in.palindrome(ctx, what, rounds, sides...)
	if err != nil {
		return err
	}
	if err := in.clear(ctx); err != nil {
		return err
	}
	m := in.measure(s, what+" against a bare copy", 1/0.8, load)
	m.Extra = map[string]float64{}
	mean(bare.used).into(m.Extra, "floor")
	mean(ours.used).into(m.Extra, "ours")
	in.compareRates(m, s, samples[0], samples[1])
	if len(samples) > 2 {
		m := in.measure(s, what+" against the script", 1, load)
		m.Extra = map[string]float64{}
		mean(in.script.used).into(m.Extra, "floor")
		in.compareRates(m, s, samples[2], samples[1])
	}
	f := in.find(what)
	ours.into(f)
	f.add(figure{Name: "CPU of all processes, the bare copy", Value: mean(bare.used).total(), Unit: unitSeconds})
	if len(samples) > 2 {
		f.add(figure{Name: "CPU of all processes, the script", Value: mean(in.script.used).total(), Unit: unitSeconds})
	}
	return nil
}

func (in *ingestion) measure(s shape, what string, aim, load float64) *measure {
	m := &measure{Case: what, Unit: unitMBRate, Aim: aim}
	if s.small() {
		m.Unit = unitFiles
	}
	m.Load[0] = load
	return m
}

// compareRates compares times as rates of what the shape is about.
func (in *ingestion) compareRates(m *measure, s shape, floor, ours []float64) {
	amount := float64(s.bytes()) / megabyte
	if m.Unit == unitFiles {
		amount = float64(s.files)
	}
	in.compare(m, perSecond(amount, floor), perSecond(amount, ours))
}

func perSecond(amount float64, seconds []float64) []float64 {
	out := make([]float64, len(seconds))
	for i, s := range seconds {
		out[i] = amount / s
	}
	return out
}

// copyRun is the floor: the files lie in the bucket already, and each is read
// and written under another key.
type copyRun struct {
	*ingestion

	shape shape
	used  []usage
}

func (r *copyRun) sample(ctx context.Context) (float64, error) {
	if err := r.clear(ctx); err != nil {
		return 0, err
	}
	settle(r.shape.bytes())
	return r.copyAll(ctx, r.bucket.through)
}

func (r *copyRun) copyAll(ctx context.Context, one func(ctx context.Context, from, to string) error) (float64, error) {
	before, err := r.usage(r.api, r.worker)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	err = each(ctx, r.shape.files, func(ctx context.Context, i int) error {
		name := zipgen.Archive{}.Name(i)
		return one(ctx, r.prefix+"source/"+name, r.prefix+"copy/"+name)
	})
	if err != nil {
		return 0, err
	}
	took := time.Since(began).Seconds()
	after, err := r.usage(r.api, r.worker)
	r.used = append(r.used, after.since(before))
	return took, err
}

// inside tells how fast the store copies by itself, which no program that
// unpacks an archive can do.
func (in *ingestion) inside(ctx context.Context, s shape) error {
	r := &copyRun{ingestion: in, shape: s}
	if err := in.clear(ctx); err != nil {
		return err
	}
	settle(s.bytes())
	took, err := r.copyAll(ctx, in.bucket.inside)
	if err != nil {
		in.note("the store does not copy by itself: %v", err)
		return ctx.Err()
	}
	in.find(fmt.Sprintf("%s copied by the store itself", s)).add(
		figure{Name: "CopyObject", Value: float64(s.files) / took, Unit: unitFiles},
		figure{Name: "CopyObject", Value: float64(s.bytes()) / megabyte / took, Unit: unitMBRate},
		figure{Name: "CPU of all processes", Value: r.used[0].total(), Unit: unitSeconds})
	return in.clear(ctx)
}
