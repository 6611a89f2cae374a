package chaos

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/taskloom/taskloom/chaos/internal/retryproxy"
)

const (
	// callTimeout is how long a client waits for an answer; then it goes to
	// the other server with the same call, while the first one may still be
	// at it.
	callTimeout = 5 * time.Second
	// pauseAfterUnknown is the least wait before the same call goes again; up
	// to twice that by chance.
	pauseAfterUnknown = 100 * time.Millisecond
	// shunned is for how long a client goes to no server by chance that did not
	// answer it, as a proxy before them does (nginx: fail_timeout). Else clients
	// would stand at a hung one most of the time, whatever the other serves.
	shunned = 10 * time.Second
)

// errRefused ends a call that was answered with a 4xx.
var errRefused = errors.New("refused")

// client is one caller: a person with a cookie, or an integrator with a key.
// It never gives up: each call goes until it is acknowledged or refused.
type client struct {
	run  *Run
	org  *Organization
	who  string
	key  string
	http *http.Client
	rand *rand.Rand
	// at is the server that it speaks to; it changes after every unknown, and now
	// and then without a cause, or all would sit on the one that broke last.
	at int
	// silent is when a server, by its place, last gave no answer.
	silent map[int]time.Time
	// done counts acknowledged calls.
	done atomic.Int64
}

func (r *Run) client(org *Organization, who, key string, number uint64) *client {
	jar, _ := cookiejar.New(nil) // fails never without options
	// One keep-alive connection a client, as a browser behind a proxy.
	t := &http.Transport{MaxIdleConnsPerHost: 1}
	r.t.Cleanup(t.CloseIdleConnections)
	return &client{
		run: r, org: org, who: who, key: key, at: int(number), silent: map[int]time.Time{},
		http: &http.Client{Timeout: callTimeout, Jar: site{jar}, Transport: t},
		rand: rand.New(rand.NewPCG(r.Seed, number)),
	}
}

// site is a jar for all servers together, as a browser has it that sees them behind
// one proxy: they may have addresses of their own.
type site struct{ *cookiejar.Jar }

var anyServer = &url.URL{Scheme: "http", Host: "taskloom.test"}

// Cookies implements http.CookieJar.
func (s site) Cookies(*url.URL) []*http.Cookie { return s.Jar.Cookies(anyServer) }

// SetCookies implements http.CookieJar.
func (s site) SetCookies(_ *url.URL, cookies []*http.Cookie) { s.Jar.SetCookies(anyServer, cookies) }

func (c *client) chance(inHundred int) bool { return c.rand.IntN(100) < inHundred }

// request is one call: what to send, and what to know about it.
type request struct {
	Op

	method, path string
	in, out      any
	// body is sent instead of in, which the history has: a body that is too large to keep.
	body []byte
	// idempotency is the Idempotency-Key, "" for none.
	idempotency string
	// refusals are the statuses that may refuse the call; any other is
	// reported as a violation.
	refusals []int
	// note completes an acknowledged Op from the answer.
	note func(op *Op)
}

// do sends the request until it is acknowledged (nil) or refused (errRefused).
// With once, an unknown outcome ends it too (errUnknown).
func (c *client) do(ctx context.Context, q request) (Op, error) { return c.attempts(ctx, q, false) }

// errUnknown ends a call that may or may not have had its effect.
var errUnknown = errors.New("unknown outcome")

func (c *client) attempts(ctx context.Context, q request, once bool) (Op, error) {
	var body []byte
	if q.in != nil {
		var err error
		if body, err = json.Marshal(q.in); err != nil {
			return Op{}, err
		}
		q.Content = body
	}
	if q.body != nil {
		body = q.body
	}
	q.Intent, q.Who, q.Org = c.run.History.intent(), c.who, c.org.Mark
	if at := c.rand.IntN(len(c.run.front)); c.chance(10) && time.Since(c.silent[at]) > shunned {
		c.at = at
	}
	for {
		op := c.send(ctx, q, body)
		c.run.History.add(op)
		switch {
		case op.Outcome == OK:
			c.done.Add(1)
			return op, nil
		case ctx.Err() != nil:
			return op, ctx.Err()
		case op.Outcome == Refused && op.Status != http.StatusTooManyRequests:
			c.expected(q, op)
			return op, errRefused
		}
		if op.Status == 0 && op.Outcome == Unknown {
			c.silent[c.at%len(c.run.front)] = time.Now()
		}
		c.at++
		if once && op.Outcome == Unknown {
			return op, errUnknown
		}
		if err := wait(ctx, pauseAfterUnknown+time.Duration(c.rand.Int64N(int64(pauseAfterUnknown)))); err != nil {
			return op, err
		}
	}
}

// expected reports a refusal that nothing in the play explains.
func (c *client) expected(q request, op Op) {
	if slices.Contains(q.refusals, op.Status) {
		return
	}
	c.run.Violate("%s: %s %s was refused with %d: %s", c.who, q.method, q.path, op.Status, op.Error)
}

// send sends it once.
func (c *client) send(ctx context.Context, q request, body []byte) Op {
	op := q.Op
	base := c.run.front[c.at%len(c.run.front)]
	op.Server, op.Outcome = base, Unknown
	op.Call = time.Now().UnixNano()
	status, header, answer, err := c.exchange(ctx, base, q, body)
	op.Return = time.Now().UnixNano()
	op.Status = status
	if err != nil {
		op.Error = err.Error()
		return op
	}
	op.Server = cmp.Or(header.Get(retryproxy.ServedBy), base)
	c.holds(q, status, header, answer)
	switch {
	case status >= http.StatusInternalServerError:
		op.Error = fmt.Sprintf("%.200s", answer)
	case status >= http.StatusBadRequest:
		op.Outcome, op.Error = Refused, fmt.Sprintf("%.300s", answer)
	case status == http.StatusNoContent || q.out == nil:
		op.Outcome = OK
	default:
		if err := json.Unmarshal(answer, q.out); err != nil {
			op.Error = "the answer is no JSON: " + err.Error()
			return op
		}
		op.Outcome = OK
		if q.note != nil {
			q.note(&op)
		}
	}
	return op
}

// judge is for calls that are no part of the history: it holds their answers to all
// that those of the history are held to.
func (c *client) judge(q request, status int, header http.Header, answer []byte) {
	c.holds(q, status, header, answer)
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusTooManyRequests {
		c.expected(q, Op{Status: status, Error: fmt.Sprintf("%.300s", answer)})
	}
}

// holds reports what no answer may be, and what none may have in it.
func (c *client) holds(q request, status int, header http.Header, answer []byte) {
	c.wellTold(q, status, header, answer)
	if found := c.run.World.leak(c.org, answer); found != "" {
		c.run.Violate("I11: %s of %s got %s in the answer to %s %s: %.300s", c.who, c.org.Mark, found, q.method, q.path, answer)
	}
}

// wellTold reports answers that nobody should ever get, whatever is broken:
// internal errors, and a "later" that does not say when.
func (c *client) wellTold(q request, status int, header http.Header, answer []byte) {
	later := status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
	switch {
	case status >= http.StatusInternalServerError && !later:
		c.run.Violate("%s: %s %s was answered with %d: %.200s", c.who, q.method, q.path, status, answer)
	case later && header.Get("Retry-After") == "":
		c.run.Violate("%s: %s %s was answered with %d without Retry-After: %.200s", c.who, q.method, q.path, status, answer)
	}
}

// losing lets the answer to a request be lost: the connection is gone once the
// request has been written, whatever the server does with it.
func losing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { cancel() }}), cancel
}

func (c *client) exchange(ctx context.Context, base string, q request, body []byte) (int, http.Header, []byte, error) {
	if c.rand.Float64() < c.run.loseShare() {
		lost, cancel := losing(ctx)
		defer cancel()
		ctx = lost
	}
	var in io.Reader
	if body != nil {
		in = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, base+q.path, in)
	if err != nil {
		return 0, nil, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if q.idempotency != "" {
		req.Header.Set("Idempotency-Key", q.idempotency)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, res.Header, answer, err
}

func (c *client) login(ctx context.Context) error {
	_, err := c.do(ctx, request{
		Op: Op{Kind: opLogin}, method: http.MethodPost, path: "/api/console/login",
		in: map[string]string{"email": c.who, "password": password},
	})
	return err
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
