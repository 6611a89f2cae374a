package chaos

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/s3proxy"
)

const (
	// mostMemory is what a process of the product may ever hold in this row.
	mostMemory = 512 << 20
	gigabyte   = 1 << 30
	// unharmedFor is how long everything is as it should be, to compare with: a
	// p99 wants hundreds of claims.
	unharmedFor = time.Minute
	// answersAfter is how long a stub takes in the matrix.
	answersAfter = 30 * time.Second
)

// TestRow17SlowConsumers has clients that send or read next to nothing, 410 at
// once, and an object store that answers after half a minute, gives a byte a
// second, redirects without end, or answers with a gigabyte that means nothing,
// each while an archive is unpacked. The slow connections end by their
// deadlines, what is unpacked goes on once the store is itself again, everybody
// else is served as before, when archives were unpacked too, and no process
// grows.
//
// The product calls no agent, model or webhook yet: what the matrix says of
// their stubs (concurrency by host, the size of an answer, costed attempts)
// waits for the steps that call them.
func TestRow17SlowConsumers(t *testing.T) {
	var b badS3
	var slow *slowClients
	var from time.Time
	var before measured
	store := func(name string, w s3proxy.Way) Fault {
		f := b.waits(name, w, false)
		f.During = nil
		return f
	}
	RunRow(t, Row{
		Number: 17, Name: "slow consumers",
		Settings: func(s *Settings) {
			lightly(&s.Load)
			b.behind(t, s)
		},
		Prepare: func(ctx context.Context, r *Run) error { return b.prepare(ctx, r, 1) },
		Faults: []Fault{
			{Name: "nothing", During: b.unharmed, Inject: func(context.Context, *Run) (func(context.Context) error, error) {
				from = time.Now()
				return nil, nil //nolint:nilnil // to compare with
			}},
			{Name: "slow clients", Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
				before = r.latencies(from, time.Now())
				r.Logf("p99 before: %s", before)
				from = time.Now()
				var err error
				slow, err = b.slowClients(ctx, r)
				return nil, err
			}},
			store("S3 answers after half a minute", s3proxy.Way{Delay: answersAfter}),
			store("S3 gives a byte a second", s3proxy.Loris()),
			store("S3 redirects without end", s3proxy.Redirects()),
			store("S3 answers 200 with a gigabyte of garbage", s3proxy.Garbage(http.StatusOK, gigabyte)),
			store("S3 answers 500 with a gigabyte of garbage", s3proxy.Garbage(http.StatusInternalServerError, gigabyte)),
			{Name: "the slow clients are left", Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
				return nil, slow.allEnd(ctx, r)
			}},
		},
		Hold: holdFor(10 * time.Second),
		After: func(ctx context.Context, r *Run) error {
			r.inside("slow clients and a store that is no store", r.latencies(from, slow.over), before)
			for i, p := range append(r.Serves[:2:2], r.Workers...) {
				m := p.Memory()
				r.Logf("process %d of 2 serve and 2 worker held %d MB at most", i, m.Peak>>20)
				if m.Peak > mostMemory {
					r.Violate("I10: process %d of 2 serve and 2 worker held %d MB", i, m.Peak>>20)
				}
			}
			return b.whole(ctx, r)
		},
	})
}

// unharmed has archives unpacked by a store that is well, one after the other
// and as many at a time as while it is not.
func (b *badS3) unharmed(ctx context.Context, r *Run) error {
	n := 0
	for until := time.Now().Add(unharmedFor); time.Now().Before(until); n++ {
		up, err := b.put(ctx, zipOf(r.t, rowsOfArchive, bytesOfFile))
		if err != nil {
			return err
		}
		b.completes(ctx, up, rowsOfArchive, recoverWithin)
		if err := r.pause(ctx, min(holdFor(10*time.Second), time.Until(until))); err != nil {
			return err
		}
	}
	r.Logf("%d archives were unpacked in %s, to compare with", n, unharmedFor)
	return nil
}
