package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// killedRuns is how often each side is killed.
	killedRuns = 2
	// watchEvery is how closely the rows are watched for the middle.
	watchEvery = 5 * time.Millisecond
)

// atCreation ingests once into a workflow whose runs begin at creation: Temporal
// hears of every task beside the ingestion, and after it.
func (in *ingestion) atCreation(ctx context.Context, s shape) error {
	r, err := in.newRun(s.archive(false), in.pipelines["at creation"])
	if err != nil {
		return err
	}
	took, err := r.sample(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := in.told(ctx); err != nil {
		return err
	}
	until := time.Since(began).Seconds()
	peak, err := peakMB(in.worker)
	if err != nil {
		return err
	}
	in.find(fmt.Sprintf("%s, runs at creation", s)).add(
		figure{Name: "files", Value: float64(s.files) / took, Unit: unitFiles},
		figure{Name: "until the last run has begun", Value: until, Unit: unitSeconds},
		figure{Name: "peak RSS of the worker while it ingests", Value: r.workerPeak[0], Unit: unitMB},
		figure{Name: "peak RSS of the worker until the last run has begun", Value: peak, Unit: unitMB})
	return in.clear(ctx)
}

// told waits until Temporal knows of all tasks.
func (in *ingestion) told(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ingestTimeout)
	defer cancel()
	for {
		var left int
		if err := in.pool.QueryRow(ctx, `SELECT count(*) FROM outbox`).Scan(&left); err != nil {
			return err
		}
		if left == 0 {
			return nil
		}
		if err := wait(ctx, pollEvery); err != nil {
			return fmt.Errorf("%d runs have not begun: %w", left, err)
		}
	}
}

// killed kills the worker in the middle of an ingestion and starts it again at
// once, and does the like to the script.
func (in *ingestion) killed(ctx context.Context, s shape) error {
	in.say("  kill -9 in the middle of %s", s)
	// What is measured before keeps its runs in the worker's memory.
	in.worker.Stop()
	if err := in.start(ctx); err != nil {
		return err
	}
	r, err := in.newRun(s.archive(false), in.pipelines["on claim"])
	if err != nil {
		return err
	}
	undisturbed, err := r.sample(ctx)
	if err != nil {
		return err
	}
	r.wrong = wrongRows{}
	var after, whole, done []float64
	for range killedRuns {
		k := &killer{ingestion: in, rows: s.files}
		took, err := r.ingest(ctx, k.run)
		if err != nil {
			return err
		}
		if k.missed {
			in.note("%s: one ingestion was over before the worker could be killed; take more files", s)
			continue
		}
		after, whole = append(after, took-k.after), append(whole, took)
		done = append(done, 100*float64(k.done)/float64(s.files))
	}
	f := in.find(fmt.Sprintf("%s, the worker killed in the middle", s))
	f.add(
		figure{Name: "rows done when it was killed", Value: spreadOf(done).Median, Unit: unitPercent},
		figure{Name: "from the kill to the end", Value: spreadOf(after).Median, Unit: unitSeconds},
		figure{Name: "the whole", Value: spreadOf(whole).Median, Unit: unitSeconds},
		figure{Name: "the whole, undisturbed", Value: undisturbed, Unit: unitSeconds})
	r.wrong.into(f)
	if in.script == nil {
		return in.clear(ctx)
	}
	return errors.Join(in.script.killed(ctx, r), in.clear(ctx))
}

// killer kills the worker when half of the rows are done, by the rows
// themselves.
type killer struct {
	*ingestion

	rows  int
	done  int     // rows, when it was killed
	after float64 // seconds

	missed bool // the upload had ended
}

func (k *killer) run(ctx context.Context, id string) error {
	began := time.Now()
	for {
		err := k.pool.QueryRow(ctx, `SELECT rows_done FROM uploads WHERE id = $1`, id).Scan(&k.done)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if 2*k.done >= k.rows {
			break
		}
		if wait(ctx, watchEvery) != nil {
			k.missed = true
			return nil //nolint:nilerr // the upload has ended, or the one who waits for that tells why not
		}
	}
	k.after = time.Since(began).Seconds()
	k.worker.Kill()
	return k.worker.Start()
}
