package edge

import (
	"errors"
	"io"
	"net/http"
)

// Meter tells settle how many bytes of the body were read: once it is read
// whole, else when the returned function is called, which the caller always
// does. It tells once.
func Meter(r *http.Request, settle func(bytes int64)) (done func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	m := &meter{ReadCloser: r.Body, settle: settle}
	r.Body = m
	return m.done
}

type meter struct {
	io.ReadCloser
	bytes  int64
	settle func(bytes int64)
}

// Read reads on.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.bytes += int64(n)
	if errors.Is(err, io.EOF) {
		m.done()
	}
	return n, err
}

func (m *meter) done() {
	if settle := m.settle; settle != nil {
		m.settle = nil
		settle(m.bytes)
	}
}

// freeBody is how much of a body the cost of a request covers.
const freeBody = 1 << 20

// BodyCost is what a body costs beyond its request: one for each MiB that it
// began after the first.
func BodyCost(bytes int64) int64 {
	return max(0, (bytes+freeBody-1)/freeBody-1)
}
