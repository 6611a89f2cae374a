package edge

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

func TestMatchesComparesWeakly(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		`W/"a"`: true, `"a"`: true, `"b", W/"a"`: true, `*`: true, `"b"`: false, ``: false, `a`: false, `W/"ab"`: false,
	} {
		require.Equal(t, want, Matches(header, `W/"a"`), header)
	}
}

func TestGoodNamesStayWhole(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", longestName)
	f := fault.New(fault.Validation, "x").With([]fault.Problem{{Node: name, Field: name}, {Node: name + "n", Field: name + "n"}})
	got := fromFault(f, f).Problems
	require.Equal(t, Problem{Node: name, Field: name}, got[0])
	require.Equal(t, Problem{Node: name + "…", Field: name + "…"}, got[1])
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "limit=5", "limit=&cursor=x&status=pending", "limit=5&limit=6", "%zz", "status=%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var p TaskPage
		if err := p.read(raw); err != nil {
			require.True(t, fault.Is(err, fault.InvalidRequest))
			return
		}
		require.GreaterOrEqual(t, p.Limit, 1)
		require.LessOrEqual(t, p.Limit, MaxLimit)
	})
}

// A body that may be left out is left out whatever type it would have had.
func TestNoBodyHasNoContentType(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	read := func(body, contentType string, optional bool) error {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		Identify(http.HandlerFunc(func(_ http.ResponseWriter, inside *http.Request) { r = inside })).ServeHTTP(w, r)
		p := Payload{r: r, w: w}
		if optional {
			_, err := p.ReadOptional(NewReader(), 1000)
			return err
		}
		_, err := p.Read(NewReader(), 1000)
		return err
	}
	require.NoError(t, read("", form, true))
	require.NoError(t, read("", "", true))
	require.NoError(t, read("{}", "application/json", true))
	require.ErrorContains(t, read("{}", form, true), "not supported")
	require.ErrorContains(t, read("tasks=1", form, true), "not supported")
	require.ErrorContains(t, read("", form, false), "not supported", "a body that must be there")
}

// TestARefusedBodyIsReadToItsEnd: a client that sends everything first gets
// its answer all the same.
func TestARefusedBodyIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	rd := NewReader()
	server := httptest.NewServer(Identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := rd.Read(w, r, limit)
		WriteError(w, r, err)
	})))
	t.Cleanup(server.Close)
	for name, length := range map[string]int64{"announced": 8 << 20, "chunked": -1} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, bytes.NewReader(make([]byte, 8<<20)))
		require.NoError(t, err)
		req.ContentLength = length
		req.Header.Set("Content-Type", "application/json")
		require.NoError(t, req.Write(conn), "%s: everything is sent before the answer is read", name)
		res, err := http.ReadResponse(bufio.NewReader(conn), req)
		require.NoError(t, err, name)
		require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode, name)
		require.NoError(t, res.Body.Close())
		require.NoError(t, conn.Close())
	}
}
