package blob_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/fault"
)

const zipType = "application/zip"

// gateway is the real object store.
func gateway(t testing.TB) blob.Config {
	t.Helper()
	c := blob.Config{
		Endpoint: os.Getenv("S3_ENDPOINT"), Region: os.Getenv("S3_REGION"), Bucket: os.Getenv("S3_BUCKET"),
		AccessKeyID: os.Getenv("S3_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("S3_SECRET_ACCESS_KEY"),
	}
	require.NotEmpty(t, c.Bucket, "this test needs an object store: run `make test`, or set the S3_ variables")
	return c
}

// newKey names an object that goes with the test.
func newKey(t testing.TB) string {
	t.Helper()
	key := "test/" + rand.Text() + "/ä b+%.zip"
	t.Cleanup(func() {
		// The test's own context is over by now.
		require.NoError(t, blob.Open(gateway(t)).Delete(context.Background(), key))
	})
	return key
}

// someBytes are random, and the same for the same length.
func someBytes(n int) []byte {
	out := make([]byte, n)
	_, _ = mathrand.NewChaCha8([32]byte{byte(n)}).Read(out)
	return out
}

// put stores an object whose hash is no matter.
func put(ctx context.Context, s *blob.Store, key string, size int64, from io.Reader) error {
	_, err := s.Put(ctx, key, zipType, size, from)
	return err
}

// stored puts an object and returns what Head says of it.
func stored(t testing.TB, s *blob.Store, content []byte) (string, blob.Object) {
	t.Helper()
	key := newKey(t)
	sum, err := s.Put(t.Context(), key, zipType, int64(len(content)), bytes.NewReader(content))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(content)), sum)
	o, err := s.Head(t.Context(), key)
	require.NoError(t, err)
	require.EqualValues(t, len(content), o.Size)
	return key, o
}

func content(t testing.TB, r *blob.Reader, off, n int64) []byte {
	t.Helper()
	s, err := r.Stream(off, n)
	require.NoError(t, err)
	defer s.Close()
	got, err := io.ReadAll(s)
	require.NoError(t, err)
	return got
}

func requireAbsent(t testing.TB, s *blob.Store, key string) {
	t.Helper()
	_, err := s.Head(t.Context(), key)
	require.Equal(t, fault.NotFound, fault.KindOf(err), "%v", err)
}

func TestObjectsComeAndGo(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	for _, n := range []int{0, 1, 1000, 256 << 10, 256<<10 + 1, 3 << 20} {
		want := someBytes(n)
		key, o := stored(t, s, want)
		require.NotEmpty(t, o.ETag)
		require.True(t, bytes.Equal(want, content(t, s.Reader(t.Context(), key, o), 0, o.Size)), n)
		require.NoError(t, s.Delete(t.Context(), key))
		requireAbsent(t, s, key)
		require.NoError(t, s.Delete(t.Context(), key), "again changes nothing")
	}
}

func TestAnotherBodyTakesTheOldOnesPlace(t *testing.T) {
	t.Parallel()
	s := blob.Open(gateway(t))
	key, before := stored(t, s, []byte("before"))
	require.NoError(t, put(t.Context(), s, key, 5, bytes.NewReader([]byte("after"))))
	after, err := s.Head(t.Context(), key)
	require.NoError(t, err)
	require.NotEqual(t, before.ETag, after.ETag)

	r := s.Reader(t.Context(), key, before)
	_, err = r.ReadAt(make([]byte, 1), 0)
	require.Equal(t, fault.Conflict, fault.KindOf(err), "%v", err)
	_, err = r.Stream(0, 6)
	require.Equal(t, fault.Conflict, fault.KindOf(err), "%v", err)
	require.NoError(t, s.Delete(t.Context(), key))
	_, err = r.Stream(0, 6)
	require.Equal(t, fault.NotFound, fault.KindOf(err), "%v", err)
}

func TestTheBucketIsChecked(t *testing.T) {
	t.Parallel()
	c := gateway(t)
	s := blob.Open(c)
	require.NoError(t, s.Check(t.Context()))
	made, err := s.EnsureBucket(t.Context())
	require.NoError(t, err)
	require.False(t, made)

	c.Bucket = "taskloom-test-absent"
	s = blob.Open(c)
	require.Contains(t, faultOf(t, s.Check(t.Context())).Message, "S3_SECRET_ACCESS_KEY")
	err = put(t.Context(), s, "k", 1, bytes.NewReader([]byte("x")))
	require.Contains(t, faultOf(t, err).Message, "taskloom doctor")
	missing := faultOf(t, s.RoundTrip(t.Context()))
	require.Equal(t, fault.NotFound, missing.Kind)
	require.Equal(t, "there is no bucket taskloom-test-absent at "+c.Endpoint, missing.Message)

	c = gateway(t)
	c.SecretAccessKey = "wrong"
	s = blob.Open(c)
	require.Equal(t, fault.Unavailable, faultOf(t, s.Check(t.Context())).Kind)
	_, err = s.Head(t.Context(), "k")
	require.Contains(t, faultOf(t, err).Message, "credentials")
	require.ErrorContains(t, s.RoundTrip(t.Context()), "put object: ")
}

func TestARoundTrip(t *testing.T) {
	t.Parallel()
	require.NoError(t, blob.Open(gateway(t)).RoundTrip(t.Context()))
}

func faultOf(t testing.TB, err error) *fault.Error {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	return f
}
