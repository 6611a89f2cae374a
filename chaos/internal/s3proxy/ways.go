package s3proxy

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// SlowDown is how S3 says that it has too much to do.
func SlowDown() Way {
	return Way{Answer: func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
	}}
}

// Truncated says that every object ends at half of its size, and holds no more
// than that.
func Truncated() Way {
	return Way{Lie: func(res *http.Response) {
		if res.StatusCode == http.StatusOK && res.Request.Method == http.MethodHead {
			res.Header.Set("Content-Length", strconv.FormatInt(res.ContentLength/2, 10))
			res.ContentLength /= 2
			return
		}
		var first, last, size int64
		if _, err := fmt.Sscanf(res.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &size); err != nil {
			return
		}
		size /= 2
		if first >= size {
			replace(res, http.StatusRequestedRangeNotSatisfiable, "<Error><Code>InvalidRange</Code></Error>")
			return
		}
		last = min(last, size-1)
		res.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, size))
		res.ContentLength = last - first + 1
		res.Header.Set("Content-Length", strconv.FormatInt(res.ContentLength, 10))
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, res.ContentLength), res.Body}
	}}
}

func replace(res *http.Response, status int, body string) {
	_ = res.Body.Close()
	res.StatusCode, res.Status = status, strconv.Itoa(status)+" "+http.StatusText(status)
	res.Body, res.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	res.Header.Del("Content-Range")
}

// OtherTag says that every object has another content than it has.
func OtherTag() Way {
	return Way{Lie: func(res *http.Response) {
		if res.Header.Get("ETag") != "" {
			res.Header.Set("ETag", `"0123456789abcdef0123456789abcdef"`)
		}
	}}
}

// Loris gives a byte a second of what is asked for, to those who asked while it
// was set also later on.
func Loris() Way {
	return Way{Lie: func(res *http.Response) {
		ctx := res.Request.Context()
		res.Body = &slowed{ReadCloser: res.Body, ctx: ctx, rate: func() int { return 1 }}
	}}
}

// Redirects sends whoever asks elsewhere, again and again.
func Redirects() Way {
	return Way{Answer: func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("turn"))
		u := *r.URL
		q := u.Query()
		q.Set("turn", strconv.Itoa(n+1))
		u.RawQuery = q.Encode()
		w.Header().Set("Location", "http://"+r.Host+u.RequestURI())
		w.WriteHeader(http.StatusTemporaryRedirect)
	}}
}

// Garbage answers whatever is asked with so many bytes that mean nothing, as
// fast as they are read, under the status.
func Garbage(status int, size int64) Way {
	return Way{Answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		junk := []byte(strings.Repeat("<garbage/>", 6400))
		for sent := int64(0); sent < size; sent += int64(len(junk)) {
			if _, err := w.Write(junk); err != nil || r.Context().Err() != nil {
				return
			}
		}
	}}
}

// Late is the way of the matrix to a slow store: two seconds, one more or less.
func Late() Way { return Way{Delay: 2 * time.Second, Jitter: time.Second} }
