package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// corsKey is an object that nobody has: the question is whether a browser may
// put it.
const corsKey = "taskloom-doctor-cors"

// cors asks the object store, at the address that browsers use, what a browser
// asks before it puts a file there from a page of ours.
func (d *doctor) cors(ctx context.Context) finding {
	if !d.config.S3.Configured() {
		return finding{verdict: skipped, text: "S3_BUCKET is not set; contributors cannot upload files"}
	}
	link, err := d.objects.PresignPut(ctx, corsKey, "text/plain", time.Minute)
	if err != nil {
		return finding{failure, oneLine(err), "check the S3_ variables"}
	}
	return preflight(ctx, link, d.config.PublicURL)
}

func preflight(ctx context.Context, link, origin string) finding {
	r, err := http.NewRequestWithContext(ctx, http.MethodOptions, link, http.NoBody)
	if err != nil {
		return finding{failure, oneLine(err), "check S3_PUBLIC_ENDPOINT"}
	}
	r.Header.Set("Origin", origin)
	r.Header.Set("Access-Control-Request-Method", http.MethodPut)
	r.Header.Set("Access-Control-Request-Headers", "content-type")
	place := r.URL.Scheme + "://" + r.URL.Host
	res, err := (&http.Client{Timeout: answerTimeout}).Do(r)
	if err != nil {
		return finding{
			warning, fmt.Sprintf("%s, where browsers put files, does not answer from here: %s", place, oneLine(err)),
			"fine if browsers reach it and this machine does not; else check S3_PUBLIC_ENDPOINT",
		}
	}
	defer res.Body.Close()
	return corsFinding(place, origin, res.StatusCode, res.Header)
}

// corsFinding judges the answer to the question of a browser whose page is
// from origin.
func corsFinding(place, origin string, status int, h http.Header) finding {
	wayOut := fmt.Sprintf("allow %s the methods GET, HEAD and PUT with any header in the bucket's CORS rules; docs/operations.md shows how", origin)
	allowed := h.Get("Access-Control-Allow-Origin")
	switch {
	case status >= 300:
		return finding{failure, fmt.Sprintf("%s refuses browsers that come from %s (status %d): they cannot upload files", place, origin, status), wayOut}
	case allowed != "*" && allowed != origin:
		return finding{failure, fmt.Sprintf("%s does not let pages of %s put files", place, origin), wayOut}
	case !lists(h, "Access-Control-Allow-Methods", http.MethodPut):
		return finding{failure, fmt.Sprintf("%s lets pages of %s in, but not with PUT", place, origin), wayOut}
	case !lists(h, "Access-Control-Allow-Headers", "content-type"):
		return finding{failure, fmt.Sprintf("%s lets pages of %s put files, but not with their content type", place, origin), wayOut}
	}
	return finding{verdict: fine, text: fmt.Sprintf("browsers on %s may put files at %s", origin, place)}
}

// lists reports whether a list in a header has the value, or all.
func lists(h http.Header, name, value string) bool {
	all := strings.Split(strings.Join(h.Values(name), ","), ",")
	return slices.ContainsFunc(all, func(s string) bool {
		s = strings.TrimSpace(s)
		return s == "*" || strings.EqualFold(s, value)
	})
}
