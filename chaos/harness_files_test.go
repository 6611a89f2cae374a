package chaos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// The calls of a file that a person uploads, in their order. The second one goes to
// the object store, past the product.
const (
	opBegin    = "begin file"
	opPut      = "put file"
	opComplete = "complete file"
)

// fieldScan is what people may fill in with a file, beside the answer to solve.
const fieldScan = "scan"

// begun says where a file is to be put.
type begun struct {
	FileID  string            `json:"file_id"`
	URL     string            `json:"upload_url"`
	Headers map[string]string `json:"headers"`
}

// attached is a file that was completed.
type attached struct {
	FileID      string `json:"file_id"`
	Name        string `json:"name"`
	Size        int64  `json:"size"`
	ContentType string `json:"content_type"`
	SHA256      string `json:"sha256"`
	URL         string `json:"url"`
}

// value is what a form says of the file.
func (f attached) value() object {
	return object{"file_id": f.FileID, "name": f.Name, "size": f.Size, "content_type": f.ContentType, "sha256": f.SHA256}
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func (c *client) beginFile(ctx context.Context, k *claim, name string, size int) (out begun, err error) {
	_, err = c.do(ctx, request{
		Op: k.of(opBegin), method: http.MethodPost, path: claimPath(k.ID, "/files"), refusals: lost,
		in:  object{"field": fieldScan, "name": name, "size": size, "content_type": "text/plain"},
		out: &out, note: func(op *Op) { op.File = out.FileID },
	})
	return out, err
}

// completeFile completes what was put: again where a try of before arrives meanwhile.
func (c *client) completeFile(ctx context.Context, k *claim, f begun) (attached, error) {
	for {
		var out attached
		of := k.of(opComplete)
		of.File = f.FileID
		op, err := c.do(ctx, request{
			Op: of, method: http.MethodPost, path: claimPath(k.ID, "/files/"+f.FileID+"/complete"), refusals: lost,
			out: &out, note: func(op *Op) { op.SHA256 = out.SHA256 },
		})
		switch {
		case !errors.Is(err, errRefused):
			return out, err
		case strings.Contains(op.Error, "have not arrived"):
			c.run.Violate("I8: %s put file %s, the object store acknowledged it, and its completion was refused: %s", c.who, f.FileID, op.Error)
			return out, err
		case !strings.Contains(op.Error, "put again while it was looked at"):
			return out, err
		}
		if err := wait(ctx, pauseAfterUnknown); err != nil {
			return out, err
		}
	}
}

// putFile puts a file until the object store acknowledges it, or, errRefused, until the
// claim is over and the file with it.
func (c *client) putFile(ctx context.Context, k *claim, f begun, content []byte) error {
	op := k.of(opPut)
	op.Intent, op.Who, op.Org = c.run.History.intent(), c.who, c.org.Mark
	op.File, op.SHA256, op.Server = f.FileID, sumOf(content), partS3
	for {
		op.Call, op.Outcome, op.Error = time.Now().UnixNano(), Unknown, ""
		status, answer, err := c.putOnce(ctx, f, content)
		op.Status, op.Return = status, time.Now().UnixNano()
		switch {
		case err != nil:
			op.Error = err.Error()
		case status == http.StatusOK:
			op.Outcome = OK
		default:
			op.Error = fmt.Sprintf("%.300s", answer)
			// 409 is for now: the store of the stack keeps objects in directories, and
			// one may go with its last object just when the next is put into it.
			if status < http.StatusInternalServerError && status != http.StatusConflict {
				op.Outcome = Refused
			}
		}
		c.run.History.add(op)
		switch {
		case op.Outcome == OK:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case op.Outcome == Refused:
			c.run.Violate("%s: the address for file %s was refused with %d: %s", c.who, f.FileID, status, op.Error)
			return errRefused
		case time.Now().After(c.run.local(k.LeaseEnds)):
			return errRefused
		}
		if err := wait(ctx, pauseAfterUnknown); err != nil {
			return err
		}
	}
}

// putOnce is one try, as a browser does it: without the session.
func (c *client) putOnce(ctx context.Context, f begun, content []byte) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if c.rand.Float64() < c.run.loseShare() {
		lost, cancel := losing(ctx)
		defer cancel()
		ctx = lost
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, f.URL, bytes.NewReader(content))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range f.Headers {
		req.Header.Set(name, value)
	}
	return fromStore(req)
}

// fromStore sends a request to the object store.
func fromStore(req *http.Request) (status int, answer []byte, err error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// attach uploads a small file for a claim and returns what the form says of it.
func (p *person) attach(ctx context.Context, k *claim) (object, error) {
	text := p.answer(k)
	name, content := text+".txt", []byte(strings.Repeat(text+"\n", 1+p.rand.IntN(200)))
	f, err := p.beginFile(ctx, k, name, len(content))
	if err != nil {
		return nil, err
	}
	if err := p.putFile(ctx, k, f, content); err != nil {
		return nil, err
	}
	got, err := p.completeFile(ctx, k, f)
	if err != nil {
		return nil, err
	}
	want := attached{FileID: f.FileID, Name: name, Size: int64(len(content)), ContentType: got.ContentType, SHA256: sumOf(content), URL: got.URL}
	if got != want || got.ContentType == "" || got.URL == "" {
		p.run.Violate("I8: %s uploaded %+v and was told that it is %+v", p.who, want, got)
	}
	if p.chance(p.load.Repeat) {
		again, err := p.completeFile(ctx, k, f)
		if err != nil {
			return nil, err // the claim may be over meanwhile
		}
		if again.URL = got.URL; again != got { // its links are new each time
			p.run.Violate("I8: the completion of file %s answered %+v, and %+v when it was sent once more", f.FileID, got, again)
		}
	}
	if p.chance(rereadShare) {
		p.readBack(ctx, got)
	}
	return got.value(), nil
}

// readBack reads a file by the link that its completion told. An object store that is
// away says nothing.
func (p *person) readBack(ctx context.Context, f attached) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, http.NoBody)
	if err != nil {
		p.run.Violate("I8: the link to file %s is %q: %v", f.FileID, f.URL, err)
		return
	}
	status, got, err := fromStore(req)
	if err == nil && status < http.StatusInternalServerError && (status != http.StatusOK || sumOf(got) != f.SHA256) {
		p.run.Violate("I8: %s completed file %s with sha256 %s, and its link gives %d bytes with %s (%d)", p.who, f.FileID, f.SHA256, len(got), sumOf(got), status)
	}
}
