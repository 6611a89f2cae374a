package blob

import (
	"io"
	"net"
	"net/http"
	"time"
)

const (
	dialTimeout   = 3 * time.Second
	headerTimeout = 30 * time.Second
	idleConns     = 64 // as many files are in flight at a time, at most
	copyBuffer    = 64 << 10
	errorBytes    = 64 << 10
)

// transport is the way to the object store, whose address an operator sets. It
// follows no redirects: a signed request is good for one host.
type transport struct{ *http.Transport }

func newTransport() transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return transport{&http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		MaxIdleConns:          idleConns,
		MaxIdleConnsPerHost:   idleConns,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   5 * time.Second,
		ExpectContinueTimeout: time.Second,
		ResponseHeaderTimeout: headerTimeout,
		ReadBufferSize:        copyBuffer,
		WriteBufferSize:       copyBuffer,
		DisableCompression:    true, // objects come as they are
	}}
}

// Do sends a request for the SDK, which keeps the body of a refusal in memory:
// no more of it is given than an error can have to say.
func (t transport) Do(r *http.Request) (*http.Response, error) {
	res, err := t.RoundTrip(r)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, errorBytes), res.Body}
	}
	return res, err
}
