package blob_test

import (
	"bytes"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/blob"
)

// An operation is one ingestion's worth: 5,000 files of 100 kB by 16 writers.
// Run it with -benchtime 1x.
func BenchmarkPutFiles(b *testing.B) {
	const files, size = 5000, 100_000
	s, prefix := blob.Open(gateway(b)), newKey(b)
	each := func(do func(key string) error) {
		var all errgroup.Group
		all.SetLimit(16)
		for i := range files {
			all.Go(func() error { return do(prefix + strconv.Itoa(i)) })
		}
		require.NoError(b, all.Wait())
	}
	body := someBytes(size)
	b.ReportAllocs()
	b.SetBytes(files * size)
	for b.Loop() {
		each(func(key string) error {
			return put(b.Context(), s, key, size, unseekable{bytes.NewReader(body)})
		})
	}
	b.ReportMetric(float64(b.N*files)/b.Elapsed().Seconds(), "files/s")
	b.StopTimer()
	each(func(key string) error { return s.Delete(b.Context(), key) })
}

const long = 500 << 20

func BenchmarkPutLong(b *testing.B) {
	s, key := blob.Open(gateway(b)), newKey(b)
	b.ReportAllocs()
	b.SetBytes(long)
	for b.Loop() {
		require.NoError(b, put(b.Context(), s, key, long, io.LimitReader(zeros{}, long)))
	}
}

func BenchmarkStreamLong(b *testing.B) {
	s, key := blob.Open(gateway(b)), newKey(b)
	require.NoError(b, put(b.Context(), s, key, long, io.LimitReader(zeros{}, long)))
	o, err := s.Head(b.Context(), key)
	require.NoError(b, err)
	r := s.Reader(b.Context(), key, o)
	b.ReportAllocs()
	b.SetBytes(long)
	for b.Loop() {
		stream, err := r.Stream(0, long)
		require.NoError(b, err)
		n, err := io.Copy(onlyWriter{io.Discard}, stream)
		require.NoError(b, err)
		require.EqualValues(b, long, n)
		stream.Close()
	}
}
