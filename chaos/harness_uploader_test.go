package chaos

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/stacktest"
)

// rowsOfUpload files are in each archive of the load, a few kilobytes each.
const rowsOfUpload = 6

// uploader is a program that sends one archive after the other. What fails it
// does again, as a program does: an archive that was stored twice is the same, a
// confirmation that was accepted is told so.
type uploader struct {
	*uploads

	rand *rand.Rand
	// admin is of its tenant, and cancels some of its uploads.
	admin *client
	// confirmed are the uploads that were accepted, cancelled those whose end was.
	confirmed, cancelled []upload
}

func (r *Run) newUploader() *uploader {
	u := &uploader{uploads: r.newUploads(), rand: rand.New(rand.NewPCG(r.Seed, 3))}
	u.admin = r.client(u.program.org, "admin@qfiles.test", "", 6)
	return u
}

// live works until home is closed.
func (u *uploader) live(ctx context.Context, home <-chan struct{}) error {
	if err := u.admin.login(ctx); err != nil {
		return nil //nolint:nilerr // the run is over
	}
	for !closed(home) {
		if u.rand.IntN(2) == 0 {
			if err := u.withdraw(ctx, home); err != nil {
				return nil //nolint:nilerr // as below
			}
		}
		up, err := u.send(ctx, home)
		if err != nil {
			return nil //nolint:nilerr // it was sent home, or the run is over
		}
		u.confirmed = append(u.confirmed, up)
		u.follow(ctx, up)
		_ = wait(ctx, time.Second+time.Duration(u.rand.Int64N(int64(2*time.Second))))
	}
	return nil
}

// follow polls an upload until it is over, also when it is time to go home: what
// is under way is to come to rest with everything else. Whether it was in time is
// check's to say.
func (u *uploader) follow(ctx context.Context, up upload) {
	ctx, cancel := context.WithTimeout(ctx, 2*recoverWithin)
	defer cancel()
	_ = u.until(ctx, nil, func() error {
		got, err := u.poll(ctx, up.ID)
		if err == nil && (got.Status == "pending" || got.Status == "processing") {
			err = errors.New("under way")
		}
		return err
	})
}

// send makes an upload, stores its archive and has it accepted.
func (u *uploader) send(ctx context.Context, home <-chan struct{}) (up upload, err error) {
	archive := zipOf(u.run.t, rowsOfUpload, 2000+u.rand.IntN(4000))
	err = u.until(ctx, home, func() error {
		var err error
		up, err = u.put(ctx, archive)
		return err
	})
	if err != nil {
		return up, err
	}
	tries := 0
	return up, u.until(ctx, home, func() error {
		tries++
		status, answer, err := u.confirm(ctx, up)
		if status == http.StatusConflict && tries == 1 {
			u.run.Violate("upload %s was confirmed for the first time and refused with 409: %.200s", up.ID, answer)
		}
		if err == nil && status != http.StatusAccepted && status != http.StatusConflict {
			err = fmt.Errorf("%d %.200s", status, answer)
		}
		return err
	})
}

// until does something again and again until it succeeds; an error when there is
// no more time for it.
func (u *uploader) until(ctx context.Context, home <-chan struct{}, do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		if closed(home) {
			return err
		}
		if waited := wait(ctx, 200*time.Millisecond); waited != nil {
			return waited
		}
	}
}

// check is I5: every upload that was accepted made each of its tasks once. Whether
// every file of theirs is in the store with its bytes is checkFiles' to say.
func (u *uploader) check(ctx context.Context) error {
	for _, up := range u.confirmed {
		u.made(ctx, u.ended(ctx, up.ID, recoverWithin), rowsOfUpload)
	}
	u.run.Logf("%d uploads were accepted", len(u.confirmed))
	if len(u.confirmed) == 0 {
		return errors.New("invalid run: no upload was accepted")
	}
	return u.checkCancelled(ctx)
}

// bucketOf is the store of a stack, not as the product reaches it.
func bucketOf(st *stacktest.Stack) *blob.Store {
	return blob.Open(blob.Config{
		Endpoint: st.Value("S3_ENDPOINT"), Region: st.Value("S3_REGION"), Bucket: st.Value("S3_BUCKET"),
		AccessKeyID: st.Value("S3_ACCESS_KEY_ID"), SecretAccessKey: st.Value("S3_SECRET_ACCESS_KEY"),
	})
}

// filesAreWhole is I8: every file that a row names is in the store, with its
// bytes: those of uploads, and those that people uploaded.
func (r *Run) filesAreWhole(ctx context.Context, objects *blob.Store) error {
	n := 0
	for _, peoples := range []bool{false, true} {
		of, err := r.areWhole(ctx, objects, peoples)
		if err != nil {
			return err
		}
		n += of
	}
	r.Logf("%d files are whole", n)
	return nil
}

func (r *Run) areWhole(ctx context.Context, objects *blob.Store, peoples bool) (n int, err error) {
	for after := uuid.Nil; ; {
		page, err := r.Store().ReferencedFiles(ctx, 0, peoples, after, 100)
		if err != nil || len(page) == 0 {
			return n, err
		}
		for _, f := range page {
			after, n = f.ID, n+1
			sum := sha256.New()
			o, err := objects.Head(ctx, f.Key)
			if err == nil {
				var body io.ReadCloser
				if body, err = objects.Reader(ctx, f.Key, o).Stream(0, o.Size); err == nil {
					_, err = io.Copy(sum, body)
					_ = body.Close()
				}
			}
			if got := hex.EncodeToString(sum.Sum(nil)); err != nil || o.Size != f.Size || got != f.SHA256 {
				r.Violate("I8: file %s of %d bytes with sha256 %s is %d bytes with %s in the store (%v)", f.ID, f.Size, f.SHA256, o.Size, got, err)
			}
		}
	}
}
