package edge

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/taskloom/taskloom/api/internal/wirejson"
	"github.com/taskloom/taskloom/internal/fault"
)

// MaxBody is the largest JSON body of any endpoint (spec section 8).
const MaxBody = 32 << 20

// bodyTimeout is how long a caller may take to send a body: 32 MB at 2.3 Mbit/s.
const bodyTimeout = 2 * time.Minute

// Body is a JSON body that was read whole.
type Body struct {
	Bytes []byte
	done  func()
}

// Close gives the body's memory back to the budget.
func (b Body) Close() {
	if b.done != nil {
		b.done()
	}
}

// Reader reads JSON bodies. It bounds each one, and the memory that all take
// together.
type Reader struct {
	budget *budget
	// arrival is how long a body may take, rest how long what is left of one that
	// was refused.
	arrival, rest time.Duration
	// refused has whom ReadOn listens to.
	refused chan struct{}
}

// NewReader makes a Reader.
func NewReader() *Reader {
	return &Reader{budget: newBudget(), arrival: bodyTimeout, rest: discardTime, refused: make(chan struct{}, refusedMost)}
}

// Read reads the body of a request: at most limit bytes, JSON by content type,
// UTF-8 and well-formed. Errors are faults.
func (rd *Reader) Read(w http.ResponseWriter, r *http.Request, limit int64) (Body, error) {
	if err := checkContentType(r); err != nil {
		return Body{}, err
	}
	return rd.read(w, r, limit, wirejson.Check)
}

func (rd *Reader) read(w http.ResponseWriter, r *http.Request, limit int64, check func([]byte) error) (Body, error) {
	ex := From(r.Context())
	ex.read = true
	inside := ex.inside
	ex.Leave() // before anything of the body is read, also of one that is refused
	if r.ContentLength > limit {
		rd.discard(w, r, limit)
		return Body{}, tooLarge(limit)
	}
	ticket := rd.budget.open(ex.owner)
	data, err := rd.readInTime(w, r, limit, ticket)
	if err == nil && inside {
		err = ex.enterWith(r.Context(), len(data))
	}
	if err == nil {
		if bad := check(data); bad != nil {
			err = fault.New(fault.InvalidRequest, "%s", bad)
		}
	}
	if err != nil {
		ticket.close()
		return Body{}, err
	}
	return Body{Bytes: data, done: ticket.close}, nil
}

func tooLarge(limit int64) error {
	return fault.New(fault.PayloadTooLarge, "the body is larger than %d bytes; send it in parts", limit)
}

// What is read of a body only to be thrown away.
const (
	discardBytes = 1 << 20 // and as much again as the operation takes
	discardTime  = 5 * time.Second
)

// discard reads on after a body was refused, within bounds: a client that
// sends all of it before it looks for the answer would meet a broken
// connection instead of the answer. One that waits to be asked is not asked.
func (rd *Reader) discard(w http.ResponseWriter, r *http.Request, limit int64) {
	if r.Header.Get("Expect") != "" {
		return
	}
	_ = huma.SetReadDeadline(w, time.Now().Add(rd.rest))      // not every test's writer has deadlines
	_, _ = io.CopyN(io.Discard, r.Body, 2*limit+discardBytes) // what does not come is not missed
}

// checkContentType refuses what is not plain JSON. A body without a content
// type is taken for JSON.
func checkContentType(r *http.Request) error {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return unsupported("Content-Encoding", e)
	}
	given := r.Header.Get("Content-Type")
	if given == "" {
		return nil
	}
	media, params, err := mime.ParseMediaType(given)
	if err != nil || media != "application/json" {
		return unsupported("Content-Type", given)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return unsupported("Content-Type", given)
	}
	return nil
}

func unsupported(header, value string) error {
	const most = 80
	if len(value) > most {
		value = value[:most] + "…"
	}
	return UnsupportedMedia("%s %q is not supported; send plain JSON with Content-Type: application/json", header, value)
}

// UnsupportedMedia is the error for a body that is not JSON by its headers.
func UnsupportedMedia(format string, args ...any) error {
	return withStatus(http.StatusUnsupportedMediaType, fault.New(fault.InvalidRequest, format, args...))
}

// readInTime reads a body with a deadline, and no longer once others wait for the room of
// one that hardly comes. One that came whole leaves no deadline, so that the operation may
// take longer. After an error one stays: net/http reads
// what is left of a body before it sends the answer, and would wait for ever for
// somebody who sends no more.
func (rd *Reader) readInTime(w http.ResponseWriter, r *http.Request, limit int64, ticket *ticket) ([]byte, error) {
	_ = huma.SetReadDeadline(w, time.Now().Add(rd.arrival)) // not every test's writer has deadlines
	ticket.reading(func() { _ = huma.SetReadDeadline(w, time.Now()) })
	data, err := rd.readAll(w, r, limit, ticket)
	if ticket.arrived() && err != nil {
		err = fault.New(fault.InvalidRequest, "the body came too slowly while others waited to send theirs; send it in parts")
	}
	var deadline time.Time
	if err != nil {
		deadline = time.Now().Add(rd.rest)
	}
	_ = huma.SetReadDeadline(w, deadline)
	return data, err
}

// readAll reads into one buffer that grows with what arrives, and takes the
// bytes beyond the first few from the budget.
func (rd *Reader) readAll(w http.ResponseWriter, r *http.Request, limit int64, ticket *ticket) ([]byte, error) {
	body := http.MaxBytesReader(w, r.Body, limit)
	var data []byte
	for {
		data = grow(data, r.ContentLength)
		n, err := body.Read(data[len(data):cap(data)])
		beyond := len(data) + n - freeBytes
		data = data[:len(data)+n]
		if beyond > 0 {
			if err := ticket.take(r.Context(), int64(min(n, beyond))); err != nil {
				rd.discard(w, r, limit) // or its sender sees a broken connection, not the 503
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, rd.broken(w, r, limit, err)
		}
	}
}

// grow makes room: twice as much as there is, but not more than was announced,
// so that a body which comes as announced is in memory once.
func grow(data []byte, announced int64) []byte {
	if len(data) < cap(data) {
		return data
	}
	size := max(2*int64(len(data)), freeBytes)
	// One more byte than announced, to see the end.
	if more := announced + 1; int64(len(data)) < more {
		size = min(size, more)
	}
	bigger := make([]byte, len(data), size)
	copy(bigger, data)
	return bigger
}

// broken tells why a body did not arrive.
func (rd *Reader) broken(w http.ResponseWriter, r *http.Request, limit int64, err error) error {
	var large *http.MaxBytesError
	var slow net.Error
	switch {
	case errors.As(err, &large):
		rd.discard(w, r, limit)
		return tooLarge(limit)
	case errors.As(err, &slow) && slow.Timeout(): // which has ended the request's context as well
		return fault.New(fault.InvalidRequest, "the body did not arrive within %g minutes; send it in parts", rd.arrival.Minutes())
	case errors.Is(err, io.ErrUnexpectedEOF), r.Context().Err() != nil:
		return fault.New(fault.InvalidRequest, "the connection ended before the body was complete")
	}
	return fault.New(fault.InvalidRequest, "the body did not arrive: the connection broke")
}

// Payload is an input field that gives a handler the body itself, for bodies
// that are too large to be decoded by huma. The OpenAPI document describes the
// body through the operation.
type Payload struct {
	r *http.Request
	w http.ResponseWriter
}

// Resolve is called by huma before the handler.
func (p *Payload) Resolve(ctx huma.Context) []error {
	p.r, p.w = humachi.Unwrap(ctx)
	return nil
}

// Read reads the body. The caller closes it.
func (p *Payload) Read(rd *Reader, limit int64) (Body, error) { return rd.Read(p.w, p.r, limit) }

// ReadOptional is Read for a body that may be left out: then it is empty. What
// the headers say of a body that is not there does not matter: curl with an empty
// -d names the content type of a form.
func (p *Payload) ReadOptional(rd *Reader, limit int64) (Body, error) {
	if p.r.ContentLength != 0 {
		if err := checkContentType(p.r); err != nil {
			return Body{}, err
		}
	}
	return rd.read(p.w, p.r, limit, func(data []byte) error {
		if len(data) == 0 {
			return nil
		}
		return wirejson.Check(data)
	})
}

// Header returns a request header's values.
func (p *Payload) Header(name string) []string { return p.r.Header.Values(name) }

// Middleware reads and checks the body before huma decodes it, for small
// bodies. Operations say how small by MaxBodyBytes: one more than they take; an
// operation without a body is passed on. check may refuse what is JSON.
func (rd *Reader) Middleware(api huma.API, check func(body []byte) error) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		described := ctx.Operation().RequestBody
		r, w := humachi.Unwrap(ctx)
		if described == nil || !described.Required && r.ContentLength == 0 {
			next(&readContext{humaContext: ctx, body: ctx.BodyReader()})
			return
		}
		body, err := rd.Read(w, r, ctx.Operation().MaxBodyBytes-1)
		if err == nil {
			err = checkShape(api, ctx.Operation(), body.Bytes)
		}
		if err == nil {
			err = check(body.Bytes)
		}
		if err != nil {
			body.Close()
			WriteHumaError(api, ctx, err)
			return
		}
		defer body.Close()
		next(&readContext{humaContext: ctx, body: bytes.NewReader(body.Bytes), json: true})
	}
}

// checkShape refuses what decoding would not see, or would pay too much for.
func checkShape(api huma.API, op *huma.Operation, body []byte) error {
	if err := rejectDuplicates(body); err != nil {
		return err
	}
	media := op.RequestBody.Content["application/json"]
	if media != nil && !withinReason(api.OpenAPI().Components.Schemas, media.Schema, body) {
		return fault.New(fault.Validation, "the body has more than %d unknown properties or far too many items", MaxProblems)
	}
	return nil
}

// rejectDuplicates keeps a body from saying two things: decoders differ in
// which of two equal keys they take.
func rejectDuplicates(body []byte) error {
	if key, found := wirejson.Duplicate(body); found {
		const most = 100
		return fault.New(fault.Validation, "the body has the key %.*q twice in one object", most, key)
	}
	return nil
}

type humaContext = huma.Context

// readContext is a huma context whose body was read before.
type readContext struct {
	humaContext
	body io.Reader
	// json says that the body was checked to be JSON, by its headers, too.
	json bool
}

// Header returns a header of the request. huma knows JSON by one way to write its
// content type; what was checked may have another.
func (c *readContext) Header(name string) string {
	if c.json && strings.EqualFold(name, "Content-Type") {
		return "application/json"
	}
	return c.humaContext.Header(name)
}

// BodyReader returns the body.
func (c *readContext) BodyReader() io.Reader { return c.body }

// SetReadDeadline does nothing: the body is here already. huma's deadline for
// reading it would go on while the operation works, and when it passes
// net/http takes the caller for gone: it cancels this request and all later
// ones of the connection.
func (c *readContext) SetReadDeadline(time.Time) error { return nil }

// Unwrap returns the context that it stands for.
func (c *readContext) Unwrap() huma.Context { return c.humaContext }
