package conformance

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mutation is a product that breaks one sentence.
type mutation struct {
	name string
	// breaks are the checks that must fail, and no others.
	breaks []string
	// ask changes a request before the product sees it; answer changes what
	// the product says.
	ask, answer func(*call)
	// target changes what the suite is told.
	target func(*Target)
	// alone mutations are tried on the checks with these beginnings only,
	// because everything else would fail as well, or takes too long.
	alone []string
}

// call is one request through a broken product.
type call struct {
	r      *http.Request
	sent   []byte
	path   string // below /api/v1
	query  url.Values
	status int
	header http.Header
	body   []byte
}

func (m mutation) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		c := &call{r: r, sent: sent, path: strings.TrimPrefix(r.URL.Path, prefix), query: r.URL.Query()}
		if m.ask != nil {
			m.ask(c)
		}
		if c.status == 0 {
			c.pass(next)
		}
		if m.answer != nil {
			m.answer(c)
		}
		maps.Copy(w.Header(), c.header)
		w.Header().Del("Content-Length")
		w.WriteHeader(c.status)
		_, _ = w.Write(c.body)
	})
}

func (c *call) pass(next http.Handler) {
	c.r.Body, c.r.ContentLength = io.NopCloser(bytes.NewReader(c.sent)), int64(len(c.sent))
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, c.r)
	c.status, c.header, c.body = rec.Code, rec.Header(), rec.Body.Bytes()
}

// is reports whether the call is one to a path, in which * stands for a part.
func (c *call) is(method, pattern string) bool {
	ok, err := path.Match(pattern, c.path)
	return ok && err == nil && c.r.Method == method
}

func (c *call) creates() bool { return c.is(http.MethodPost, "/workflows/*/tasks") }
func (c *call) lists() bool   { return c.is(http.MethodGet, "/workflows/*/tasks") }
func (c *call) inits() bool   { return c.is(http.MethodPost, "/workflows/*/tasks/upload") }

// in reports whether the call is about that workflow.
func (c *call) in(workflow int64) bool {
	return strings.HasPrefix(c.path+"/", fmt.Sprintf("/workflows/%d/", workflow))
}

// key returns the key that was sent as the contract's first form.
func (c *call) key() string { return strings.TrimPrefix(c.r.Header.Get("Authorization"), "Bearer ") }

// items are the fields of what a creation sends.
func (c *call) items() []map[string]any {
	var v struct {
		Tasks []struct{ Fields map[string]any }
	}
	_ = json.Unmarshal(c.sent, &v) // what is none has none
	var out []map[string]any
	for _, t := range v.Tasks {
		out = append(out, t.Fields)
	}
	return out
}

// wrong tells which items of a creation have an unknown field: "-x-" when the
// second of three.
func (c *call) wrong() string {
	var b strings.Builder
	for _, item := range c.items() {
		if _, unknown := item[unknownField]; unknown && len(item) == 1 {
			b.WriteByte('x')
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

// edit changes the answer's body.
func (c *call) edit(change func(v map[string]any)) {
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil {
		return
	}
	change(v)
	c.say(c.status, v)
}

// say replaces the answer.
func (c *call) say(status int, v any) {
	doc, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if c.header == nil {
		c.header = http.Header{"X-Request-Id": {"made-up"}, "Cache-Control": {"no-store"}}
	}
	c.header.Set("Content-Type", "application/json")
	c.status, c.body = status, doc
}

func (c *call) refuse(status int, code string) {
	c.say(status, map[string]any{"error": code, "message": "broken on purpose"})
}

// result answers a creation that never was.
func (c *call) result() {
	c.say(http.StatusOK, map[string]any{"success_count": 1, "error_count": 0, "errors": []any{}, "task_ids": []any{1}})
}

// requery changes the query before the product sees it.
func (c *call) requery(change func(url.Values)) {
	q := c.r.URL.Query()
	change(q)
	c.r.URL.RawQuery = q.Encode()
}

func isNumber(v any, n int) bool { return fmt.Sprint(v) == strconv.Itoa(n) }

var each = flag.Bool("each", false, "try every mutation by itself (minutes), not in groups")

// A product that breaks one sentence fails the check for it, and no other: no
// check is one that cannot fail. Mutations do not meet each other, so many are
// tried in one run; -each tries them one by one.
func TestMutations(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	const groups = 6
	var batches [][]int
	together := make([][]int, groups)
	for i, m := range mutations(d.target) {
		switch {
		case *each, m.alone != nil:
			batches = append(batches, []int{i})
		default:
			together[i%groups] = append(together[i%groups], i)
		}
	}
	for _, batch := range append(batches, together...) {
		if len(batch) == 0 {
			continue
		}
		target := d.alone(t)
		fresh := mutations(target) // they have states
		var names []string
		var want []string
		h, o := d.handler(ample), Options{WithoutHeavy: true}
		for _, i := range batch {
			m := fresh[i]
			if slices.Equal(m.alone, spare) {
				h = d.handler(tight)
			}
			names, want, o.Only = append(names, m.name), append(want, m.breaks...), m.alone
			h = m.handler(h)
			if m.target != nil {
				m.target(&target)
			}
		}
		slices.Sort(want)
		t.Run(strings.Join(names, "; "), func(t *testing.T) {
			t.Parallel()
			report := run(t, h, target, o)
			got := report.failed()
			slices.Sort(got)
			if !slices.Equal(slices.Compact(want), got) {
				var text strings.Builder
				require.NoError(t, report.Text(&text))
				require.Equal(t, want, got, text.String())
			}
		})
	}
}

// Every check has a mutation that makes it fail.
func TestEveryCheckCanFail(t *testing.T) {
	t.Parallel()
	broken := map[string]bool{}
	names := map[string]bool{}
	for _, m := range mutations(Target{}) {
		require.False(t, names[m.name], "two mutations are called %q", m.name)
		names[m.name] = true
		for _, id := range m.breaks {
			broken[id] = true
		}
	}
	known := map[string]bool{}
	for _, c := range Checks() {
		require.False(t, known[c.ID], "two checks are called %s", c.ID)
		known[c.ID] = true
		require.True(t, broken[c.ID], "no mutation breaks %s", c.ID)
	}
	for id := range broken {
		require.True(t, known[id], "a mutation breaks %s, which is no check", id)
	}
}

func mutations(t Target) []mutation {
	return slices.Concat(
		resourceMutations(t), stateMutations(t), endpointMutations(t), createMutations(t), initMutations(t), confirmMutations(t),
		resultMutations(t), listMutations(t), authMutations(t), errorMutations(t), limitMutations(t), documentMutations(t),
		requestMutations(t), idempotencyMutations(t), headerMutations(t),
	)
}
