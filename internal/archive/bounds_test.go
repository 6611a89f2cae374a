package archive_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/fault"
)

func manyFiles(t testing.TB, n int) []byte {
	t.Helper()
	files := make([]file, n)
	for i := range files {
		files[i] = file{name: fmt.Sprintf("a folder/of customer %05d/photograph of the front %05d.jpeg", i/10, i), data: "x", head: stored}
	}
	return build(t, "", files...)
}

// Not parallel: it measures the heap.
func TestALargeDirectoryTakesLittleMemory(t *testing.T) { //nolint:paralleltest // see above
	data := manyFiles(t, 100_000)
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	src := source(data)
	a, err := archive.Open(src, archive.DefaultLimits())
	require.NoError(t, err)
	_, err = a.Find("photograph of the front 00007.jpeg")
	require.ErrorContains(t, err, "customer 00000/")
	used := int64(live()) - int64(before)
	t.Logf("%d bytes live for %d entries", used, len(a.Entries))
	require.Less(t, used, int64(60<<20))
	require.LessOrEqual(t, src.read, int64(100_000*192+(129<<10)), "of the archive, only the directory is read")
	require.Len(t, a.Entries, 100_000)
	runtime.KeepAlive(a)
}

func BenchmarkOpen(b *testing.B) {
	data := manyFiles(b, 50_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := archive.Open(source(data), archive.DefaultLimits()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	a := open(b, build(b, "", file{name: "a", data: noise(100_000)}))
	b.SetBytes(100_000)
	b.ReportAllocs()
	for b.Loop() {
		r, err := a.Read(a.Entries[0])
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

func FuzzOpen(f *testing.F) {
	good := build(f, "comment", file{name: "a.txt", data: "aaaa"}, file{name: "f/b.txt", data: "bbbb", head: stored}, file{name: "f/"}, file{name: ".DS_Store", data: "x"})
	f.Add(good)
	f.Add(zip64(good[:len(good)-7], 4))
	f.Add(append([]byte("#!/bin/sh\n"), good...))
	f.Add(build(f, "", file{name: "../caf\u00e9", data: noise(100)}, file{name: "A", data: "x"}, file{name: "a", data: "x"}))
	f.Add(undeclared(f, []file{{name: "a", data: "x"}, {name: "b", data: "x"}}, 10))
	l := archive.Limits{Entries: 100, TotalBytes: 1 << 20, FileBytes: 1 << 19, Ratio: 100, NameBytes: 100, Depth: 4}
	f.Fuzz(func(t *testing.T, data []byte) {
		src := source(data)
		a, err := archive.Open(src, l)
		if err != nil {
			require.Equal(t, fault.Validation, fault.KindOf(err), "the source is fine: %v", err)
			return
		}
		require.LessOrEqual(t, src.read, int64(100*192+(64+65)<<10+100))
		require.LessOrEqual(t, len(a.Entries)+len(a.Skipped), l.Entries)
		require.LessOrEqual(t, a.Bytes, l.TotalBytes)
		total := int64(0)
		for _, e := range a.Entries {
			require.NotContains(t, e.Name, "\x00")
			found, err := a.Find(e.Name)
			require.NoError(t, err)
			require.Equal(t, e.Name, found.Name)
			r, err := a.Read(e)
			if err != nil {
				continue
			}
			require.Empty(t, e.Problem)
			n, err := io.Copy(io.Discard, r)
			if err == nil {
				require.Equal(t, e.Size, n)
			} else {
				var wrong *archive.EntryError
				require.ErrorAs(t, err, &wrong)
				require.Less(t, n, e.Size)
			}
			total += n
			require.NoError(t, r.Close())
		}
		require.LessOrEqual(t, total, a.Bytes)
	})
}
