package blob_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
)

// send uses a link as an integrator does.
func send(t testing.TB, method, link, contentType, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, link, strings.NewReader(body))
	require.NoError(t, err)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	got, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(got))
	return res
}

func TestALinkPutsOneObjectOfOneType(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	key, other := newKey(t), newKey(t)
	link, err := s.PresignPut(t.Context(), key, zipType, time.Minute)
	require.NoError(t, err)
	u, err := url.Parse(link)
	require.NoError(t, err)
	require.Equal(t, "60", u.Query().Get("X-Amz-Expires"))
	require.Contains(t, u.Query().Get("X-Amz-SignedHeaders"), "content-type")
	require.NotContains(t, strings.ToLower(u.RawQuery), "checksum")

	elsewhere := *u
	elsewhere.Path = "/" + gateway(t).Bucket + "/" + other
	elsewhere.RawPath = ""
	longer := *u
	longer.RawQuery = strings.Replace(u.RawQuery, "X-Amz-Expires=60", "X-Amz-Expires=6000", 1)
	for name, tried := range map[string]struct{ method, link, contentType string }{
		"another type":  {http.MethodPut, link, "text/html"},
		"no type":       {http.MethodPut, link, ""},
		"a parameter":   {http.MethodPut, link, zipType + "; charset=utf-8"},
		"get":           {http.MethodGet, link, zipType},
		"delete":        {http.MethodDelete, link, zipType},
		"another key":   {http.MethodPut, elsewhere.String(), zipType},
		"a longer life": {http.MethodPut, longer.String(), zipType},
	} {
		require.Equal(t, http.StatusForbidden, send(t, tried.method, tried.link, tried.contentType, "body").StatusCode, name)
	}
	require.NotEqual(t, http.StatusOK, send(t, http.MethodPost, link, zipType, "body").StatusCode)
	requireAbsent(t, s, key)
	requireAbsent(t, s, other)
	require.Equal(t, http.StatusOK, send(t, http.MethodPut, link, zipType, "body").StatusCode)
	o, err := s.Head(t.Context(), key)
	require.NoError(t, err)
	require.EqualValues(t, 4, o.Size)
}

func TestALinkMayBeForOneSizeOnly(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	key := newKey(t)
	link, err := s.PresignPutSized(t.Context(), key, zipType, 4, time.Minute)
	require.NoError(t, err)
	for _, body := range []string{"longer", "abc", ""} {
		require.GreaterOrEqual(t, send(t, http.MethodPut, link, zipType, body).StatusCode, 400, body)
	}
	requireAbsent(t, s, key)
	require.Equal(t, http.StatusOK, send(t, http.MethodPut, link, zipType, "body").StatusCode)
}

func TestThePublicOriginIsThatOfLinks(t *testing.T) {
	t.Parallel()
	c := gateway(t)
	c.PublicEndpoint = "https://files.example.com:9000/below"
	origin, err := blob.Open(c).PublicOrigin(t.Context())
	require.NoError(t, err)
	require.Equal(t, "https://files.example.com:9000", origin)
	c.Endpoint, c.PublicEndpoint, c.Region, c.Bucket = "", "", "eu-central-1", "things"
	origin, err = blob.Open(c).PublicOrigin(t.Context())
	require.NoError(t, err)
	require.Equal(t, "https://things.s3.eu-central-1.amazonaws.com", origin)
}

func TestLinksExpire(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	key, o := stored(t, s, []byte("content"))
	get, err := s.PresignGet(t.Context(), key, blob.Download{Name: "a.zip"}, time.Second)
	require.NoError(t, err)
	put, err := s.PresignPut(t.Context(), key, zipType, time.Second)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, send(t, http.MethodGet, get, "", "").StatusCode)
	for _, tried := range [][2]string{{http.MethodGet, get}, {http.MethodPut, put}} {
		require.Eventually(t, func() bool {
			return send(t, tried[0], tried[1], zipType, "content").StatusCode == http.StatusForbidden
		}, 10*time.Second, 100*time.Millisecond)
	}
	after, err := s.Head(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, o, after)
}

func TestALinkForcesHowAnObjectIsGivenOut(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	key, _ := stored(t, s, []byte("content"))
	for _, c := range []struct {
		download          blob.Download
		kind, disposition string
	}{
		{blob.Download{Name: "a.zip", ContentType: zipType}, zipType, `attachment; filename="a.zip"; filename*=UTF-8''a.zip`},
		{blob.Download{Name: "a.png", ContentType: "image/png", Inline: true}, "image/png", `inline; filename="a.png"; filename*=UTF-8''a.png`},
		{
			blob.Download{Name: "Ärger \"1\"; x=y\r\nSet-Cookie: a=b", ContentType: "text/html\r\nX-Bad: 1"},
			"application/octet-stream",
			`attachment; filename="_rger _1_; x=ySet-Cookie: a=b"; filename*=UTF-8''%C3%84rger%20%221%22%3B%20x%3DySet-Cookie%3A%20a%3Db`,
		},
	} {
		link, err := s.PresignGet(t.Context(), key, c.download, time.Minute)
		require.NoError(t, err)
		res := send(t, http.MethodGet, link, "", "")
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Equal(t, c.kind, res.Header.Get("Content-Type"))
		require.Equal(t, c.disposition, res.Header.Get("Content-Disposition"))
		require.Empty(t, res.Header.Get("Set-Cookie"))
		require.Empty(t, res.Header.Get("X-Bad"))
		bent := strings.Replace(link, "response-content-type=", "response-content-type=text%2Fhtml&x=", 1)
		require.Equal(t, http.StatusForbidden, send(t, http.MethodGet, bent, "", "").StatusCode, "what is forced is signed")
		require.Equal(t, http.StatusForbidden, send(t, http.MethodPut, link, "", "x").StatusCode)
	}
}

func TestLinksCarryThePublicEndpoint(t *testing.T) {
	t.Parallel()
	c := gateway(t)
	inside, err := url.Parse(c.Endpoint)
	require.NoError(t, err)
	// The store by another name, which it only knows from Host.
	outside := httptest.NewServer(passOn(inside))
	t.Cleanup(outside.Close)
	c.PublicEndpoint = outside.URL
	s := blob.Open(c)
	key := newKey(t)
	link, err := s.PresignPut(t.Context(), key, zipType, time.Minute)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(link, outside.URL+"/"+c.Bucket+"/"), link)
	require.Equal(t, http.StatusOK, send(t, http.MethodPut, link, zipType, "body").StatusCode)
	_, err = s.Head(t.Context(), key)
	require.NoError(t, err)

	for endpoint, want := range map[string]string{
		"": "https://files.s3.eu-central-1.amazonaws.com/k?", "https://files.example.com": "https://files.example.com/files/k?",
	} {
		s = blob.Open(blob.Config{Endpoint: endpoint, Region: "eu-central-1", Bucket: "files", AccessKeyID: "a", SecretAccessKey: "s"})
		link, err = s.PresignGet(context.Background(), "k", blob.Download{}, time.Minute)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(link, want), link)
	}
}
