package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"time"
)

// bench is one run: its options, what it made and what it found.
type bench struct {
	options
	databaseURL string
	progress    io.Writer
	began       time.Time
	report      *report
	part        string
	profile     *profile
	large       *world
	dir         string // for files; see directory
	blind       bool   // the note about DEV_DIR is made
	cleanups    []func()
}

func newBench(ctx context.Context, o options, progress io.Writer) (*bench, error) {
	b := &bench{options: o, databaseURL: os.Getenv("DATABASE_URL"), progress: progress, began: time.Now()}
	if b.databaseURL == "" {
		return nil, errors.New("DATABASE_URL names no Postgres: run `make bench`, or set it to one whose user may create databases")
	}
	m, err := describeMachine(ctx, b.databaseURL)
	if err != nil {
		return nil, err
	}
	b.report = &report{Machine: m, Rounds: o.rounds, LargeTasks: o.tasks}
	b.profile, err = newProfile(o.cpuProfile)
	return b, err
}

// say tells whoever waits how far the run is.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "%6.1fs  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

// later registers what must be undone when the run ends, last first.
func (b *bench) later(fn func()) { b.cleanups = append(b.cleanups, fn) }

func (b *bench) close() {
	for _, v := range slices.Backward(b.cleanups) {
		v()
	}
	if err := b.profile.close(); err != nil {
		b.say("the profile is not whole: %v", err)
	}
}

// profile is a CPU profile of this process. pprof writes one stretch, so it
// covers all that is measured of the product from the first time on, floors
// between included; -only narrows it.
type profile struct{ file *os.File }

func newProfile(name string) (*profile, error) {
	if name == "" {
		return &profile{}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("make profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &profile{file: f}, nil
}

func (p *profile) close() error {
	if p.file == nil {
		return nil
	}
	pprof.StopCPUProfile()
	return p.file.Close()
}
