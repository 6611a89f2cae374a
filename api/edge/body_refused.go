package edge

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
)

// refusedMost is how many bodies of refused requests are read on at a time: a flood of
// callers without a good key takes no more than that, and the others are told at once,
// as costs least.
const refusedMost = 16

// ReadOn reads on after a request was refused before its body was looked at, as discard
// does: a client that sends all of it before it looks for the answer would meet a broken
// connection, and come again and again for what it is told is in vain, or before it is
// time. It stands before all that refuses. An overload, which is 503, is no time to listen.
func (rd *Reader) ReadOn(ctx huma.Context, next func(huma.Context)) {
	next(ctx)
	r, w := humachi.Unwrap(ctx)
	status, length := ctx.Status(), r.ContentLength
	if status < http.StatusBadRequest || status == http.StatusServiceUnavailable ||
		length == 0 || From(r.Context()).read {
		return
	}
	select {
	case rd.refused <- struct{}{}:
		defer func() { <-rd.refused }()
		began := time.Now()
		rd.discard(w, r, MaxBody)
		From(r.Context()).listened = time.Since(began)
	default:
	}
}
