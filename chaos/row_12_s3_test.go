package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/s3proxy"
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/stacktest"
)

const (
	// rowsOfArchive files of bytesOfFile are in each archive: more than a
	// megabyte, after which one of the faults cuts every body.
	rowsOfArchive = 12
	bytesOfFile   = 1_200_000
	// confirmWithin is how long a confirmation may take when the store does not
	// answer.
	confirmWithin = 2 * time.Second
)

// badS3 is the store behind two proxies, one for `serve` and one for `worker`,
// and the tenant that has files in it. Clients go around them: what is tested
// is the product's own way to the store.
type badS3 struct {
	*uploads

	serve, worker *s3proxy.Proxy
	direct        *blob.Store
	// readable are tasks with a file that nobody has claimed yet.
	readable []int64
}

// behind leads the product to S3 through the proxies.
func (b *badS3) behind(t *testing.T, s *Settings) {
	t.Helper()
	s.RouteEach = func(st *stacktest.Stack) (serve, worker []string) {
		direct := st.Value("S3_ENDPOINT")
		for _, p := range []**s3proxy.Proxy{&b.serve, &b.worker} {
			*p = must(s3proxy.Listen(t.Context(), direct))(t)
			t.Cleanup(func() { _ = (*p).Close() })
		}
		b.direct = bucketOf(st)
		links := "S3_PUBLIC_ENDPOINT=" + direct
		return []string{"S3_ENDPOINT=" + b.serve.URL(), links}, []string{"S3_ENDPOINT=" + b.worker.URL(), links}
	}
}

// prepare makes the tenant and tasks with files, while all is well.
func (b *badS3) prepare(ctx context.Context, r *Run, tasks int) error {
	b.uploads = r.newUploads()
	if err := b.reader.login(ctx); err != nil {
		return err
	}
	up, err := b.put(ctx, zipOf(r.t, tasks, 1000))
	if err != nil {
		return err
	}
	b.completes(ctx, up, tasks, recoverWithin)
	done, err := b.poll(ctx, up.ID)
	b.readable = done.TaskIDs
	return err
}

func (b *badS3) set(w s3proxy.Way) {
	b.serve.Set(w)
	b.worker.Set(w)
}

func (b *badS3) mend(ctx context.Context) error {
	b.set(s3proxy.Way{})
	return errors.Join(b.serve.Up(ctx), b.worker.Up(ctx))
}

// midway confirms an upload, lets the worker read some of its archive, and has
// it meet the way then.
func (b *badS3) midway(ctx context.Context, w s3proxy.Way) (upload, error) {
	up, err := b.put(ctx, zipOf(b.run.t, rowsOfArchive, bytesOfFile))
	if err != nil {
		return up, err
	}
	w.Pass = 6
	met := b.worker.Harmed()
	b.worker.Set(w)
	if status, answer, err := b.confirm(ctx, up); err != nil || status != http.StatusAccepted {
		return up, fmt.Errorf("the confirmation was answered %d %.200s: %w", status, answer, err)
	}
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	return up, b.run.until(ctx, func(context.Context) (bool, error) { return b.worker.Harmed() > met, nil })
}

// waits is a fault that an ingestion meets midway: it waits and goes on once
// the way is mended.
func (b *badS3) waits(name string, w s3proxy.Way, down bool) Fault {
	return Fault{Name: name, Serves: true, During: b.others, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		up, err := b.midway(ctx, w)
		if err != nil {
			return nil, err
		}
		b.set(w)
		if down {
			b.serve.Down()
			b.worker.Down()
		}
		return func(ctx context.Context) error {
			meanwhile, err := b.poll(ctx, up.ID)
			if err != nil {
				return err
			}
			r.Logf("upload %s is %s with %d rows done while %s", up.ID, meanwhile.Status, meanwhile.Progress.RowsDone, name)
			if meanwhile.Status != "processing" && meanwhile.Status != "completed" {
				r.Violate("upload %s did not wait while %s: it is %s (%s)", up.ID, name, meanwhile.Status, meanwhile.Message)
			}
			if err := b.mend(ctx); err != nil {
				return err
			}
			b.made(r.t.Context(), b.ended(r.t.Context(), up.ID, recoverWithin), rowsOfArchive)
			return nil
		}, nil
	}}
}

// fails is a lie: an upload that meets it ends as failed, with the reason, and
// makes nothing.
func (b *badS3) fails(name string, on func() *s3proxy.Proxy, w s3proxy.Way) Fault {
	return Fault{Name: name, Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		on().Set(w)
		up, err := b.put(ctx, zipOf(r.t, rowsOfArchive, bytesOfFile))
		if err != nil {
			return nil, err
		}
		b.refusedFor(ctx, up, "the archive was changed")
		return b.mend, nil
	}}
}

// refusedFor confirms an upload that must fail, saying why.
func (b *badS3) refusedFor(ctx context.Context, up upload, reason string) {
	b.run.t.Helper()
	status, answer, err := b.confirm(ctx, up)
	require.NoError(b.run.t, err)
	require.Equal(b.run.t, http.StatusAccepted, status, "%s", answer)
	done := b.ended(ctx, up.ID, recoverWithin)
	n := b.run.number(ctx, `SELECT count(*) FROM tasks t JOIN files f ON f.id = (t.input->'scan'->>'file_id')::uuid WHERE f.upload_id = $1`, up.ID)
	if done.Status != "failed" || !strings.Contains(done.Message, reason) || n > 0 || len(done.TaskIDs) > 0 {
		b.run.Violate("I5: an upload whose store lies is %s (%s) with %d tasks", done.Status, done.Message, n)
	}
	b.run.Logf("the upload is %s: %s", done.Status, done.Message)
}

// others sees that what does not need the store goes on: a form opens, with
// links to its files, and is handed in; a task is created, an upload begun. A
// confirmation, which looks at the archive, is told soon.
func (b *badS3) others(ctx context.Context, r *Run) error {
	began := time.Now()
	if err := b.read(ctx); err != nil {
		return err
	}
	if _, err := r.probes.persist(ctx, fmt.Sprintf("without-%d", began.UnixNano()), []string{r.World.Probe.Mark + " without S3"}); err != nil {
		return err
	}
	if _, _, err := b.init(ctx); err != nil {
		r.Violate("an upload could not be begun: %v", err)
	}
	if took := time.Since(began); took > slack {
		r.Violate("I10: opening a form with a file, handing it in, creating a task and beginning an upload took %s", took)
	}
	r.Logf("a form with a file, a new task, a new upload: %s", time.Since(began).Round(time.Millisecond))

	up, err := b.put(ctx, zipOf(r.t, 2, 1000))
	if err != nil {
		return err
	}
	began = time.Now()
	status, answer, err := b.confirm(ctx, up)
	if err != nil {
		return err
	}
	if took := time.Since(began); status != http.StatusAccepted && status != http.StatusServiceUnavailable || took > confirmWithin+slack {
		r.Violate("I10: a confirmation was answered %d after %s: %.200s", status, took, answer)
	}
	r.Logf("a confirmation: %d after %s", status, time.Since(began).Round(time.Millisecond))
	return nil
}

// read claims a task with a file, looks whether the form has a link to it, and
// hands it in.
func (b *badS3) read(ctx context.Context) error {
	if len(b.readable) == 0 {
		return errors.New("no task with a file is left; prepare more")
	}
	id := b.readable[0]
	b.readable = b.readable[1:]
	for {
		k, err := b.reader.claimNode(ctx, roleContributor, id, nodeRead)
		if err == nil {
			if err = b.opens(ctx, k); err == nil {
				err = b.reader.submit(ctx, k, object{"text": "qfiles read"})
			}
		}
		if !errors.Is(err, errRefused) && !errors.Is(err, errUnknown) {
			return err
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// opens asks for the form of a claim.
func (b *badS3) opens(ctx context.Context, k *claim) error {
	var work struct {
		Files []struct {
			Name string `json:"name"`
			URL  string `json:"url"`
		} `json:"files"`
	}
	_, err := b.reader.do(ctx, request{
		Op: Op{Kind: opPoll, Task: k.TaskID}, method: http.MethodGet, path: claimPath(k.ID, ""), out: &work, refusals: lost,
	})
	if err == nil && (len(work.Files) != 1 || work.Files[0].URL == "") {
		b.run.Violate("the form of task %d has no link to its file: %+v", k.TaskID, work.Files)
	}
	return err
}

// whole is I8: every file that a row names is in the store, with its bytes.
func (b *badS3) whole(ctx context.Context, r *Run) error { return r.filesAreWhole(ctx, b.direct) }

// TestRow12S3 takes the object store away, makes it slow, and lets it lie,
// each while an archive is unpacked. Forms open with links to their files,
// which a browser then cannot load and says so next to a link
// (web/src/fields/types/media.tsx); creating tasks and beginning uploads go on;
// a confirmation is told within two seconds; what is unpacked waits and goes
// on. Where the store lies about the archive, the upload fails with the reason.
func TestRow12S3(t *testing.T) {
	var b badS3
	worker := func() *s3proxy.Proxy { return b.worker }
	serve := func() *s3proxy.Proxy { return b.serve }
	half := Fault{Name: "an archive of which half is stored", Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		archive := zipOf(r.t, rowsOfArchive, bytesOfFile)
		up, err := b.put(ctx, archive[:len(archive)/2])
		if err != nil {
			return nil, err
		}
		b.refusedFor(ctx, up, "cut off")
		return nil, nil //nolint:nilnil // nothing is broken
	}}
	RunRow(t, Row{
		Number: 12, Name: "S3 down, slow, lying",
		Settings: func(s *Settings) {
			lightly(&s.Load)
			b.behind(t, s)
		},
		Prepare: func(ctx context.Context, r *Run) error { return b.prepare(ctx, r, 20) },
		Faults: []Fault{
			b.waits("S3 is down", cutOff, true),
			b.waits("S3 takes two seconds more, give or take one", s3proxy.Late(), false),
			b.waits("S3 gives 64 KB/s", s3proxy.Way{Rate: 64_000}, false),
			b.waits("S3 breaks off after 1 MB", s3proxy.Way{Cut: 1_000_000}, false),
			b.waits("S3 answers 503 SlowDown", s3proxy.SlowDown(), false),
			b.fails("the archive got shorter", worker, s3proxy.Truncated()),
			b.fails("the archive has another ETag", worker, s3proxy.OtherTag()),
			b.fails("the archive is said to be shorter when it is confirmed", serve, s3proxy.Truncated()),
			b.fails("the archive is said to have another ETag when it is confirmed", serve, s3proxy.OtherTag()),
			half,
		},
		Hold:  holdFor(10 * time.Second),
		After: b.whole,
	})
}

// cutOff ends the connection of whoever asks.
var cutOff = s3proxy.Way{Answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}
