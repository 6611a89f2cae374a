package worker_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/measure/procfs"
	"github.com/taskloom/taskloom/internal/store"
)

// What BenchmarkIngest unpacks: TASKLOOM_BENCH_FILES files of
// TASKLOOM_BENCH_BYTES each, that cannot be compressed.
func benchSize(b *testing.B, name string, standard int) int {
	b.Helper()
	v := os.Getenv(name)
	if v == "" {
		return standard
	}
	n, err := strconv.Atoi(v)
	require.NoError(b, err)
	return n
}

// BenchmarkIngest unpacks an archive with a worker in a process of its own, and
// reports its memory and CPU time, and the CPU time of the whole machine. Run it
// with -benchtime 3x.
func BenchmarkIngest(b *testing.B) {
	files, each := benchSize(b, "TASKLOOM_BENCH_FILES", 5000), benchSize(b, "TASKLOOM_BENCH_BYTES", 100_000)
	w := dbtest.NewWorld(b, dbtest.WithDefinition(lazily(dbtest.FileDefinition(dbtest.FileField("doc")))))
	queue := fmt.Sprintf("bench-%d", rand.Int64())
	doc, err := json.Marshal(victim{Database: w.Store.Pool().Config().ConnString(), Queue: queue, Ingest: queue + "-ingest"})
	require.NoError(b, err)
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	cmd.Env, cmd.Stderr = append(os.Environ(), victimEnv+"="+string(doc)), os.Stderr
	require.NoError(b, cmd.Start())
	died := make(chan struct{})
	go func() {
		defer close(died)
		_ = cmd.Wait()
	}()
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-died
		tidy(b, w, "sweep-uploads-"+queue+"-ingest")
	})
	archive := packFiles(b, files, each)
	s3 := bucket(b)
	var own, all time.Duration
	for b.Loop() {
		b.StopTimer()
		key := fmt.Sprintf("org/%d/uploads/%s.zip", w.OrgID, uuid.NewString())
		size := putFile(b, s3, key, archive)
		o, err := s3.Head(b.Context(), key)
		require.NoError(b, err)
		require.Equal(b, size, o.Size)
		ownBefore, allBefore := cpuOf(b, cmd.Process.Pid)
		b.StartTimer()
		u := w.AddUpload(b, key, o.Size, o.ETag)
		require.Eventually(b, func() bool {
			select {
			case <-died: // nobody would end the upload
				return true
			default:
			}
			got, _ := w.LoadUpload(b, u.ID)
			return got.Ended()
		}, time.Hour, 50*time.Millisecond)
		ownAfter, allAfter := cpuOf(b, cmd.Process.Pid)
		own, all = own+ownAfter-ownBefore, all+allAfter-allBefore
		got, _ := w.LoadUpload(b, u.ID)
		require.Equal(b, []any{store.UploadCompleted, files}, []any{got.Status, got.SuccessCount})
	}
	b.ReportMetric(float64(b.N*files)/b.Elapsed().Seconds(), "files/s")
	b.ReportMetric(float64(b.N*files*each)/b.Elapsed().Seconds()/1e6, "MB/s")
	memory, err := procfs.MemoryOf(cmd.Process.Pid)
	require.NoError(b, err)
	b.ReportMetric(float64(memory.Peak)/1e6, "worker-peak-MB")
	b.ReportMetric(own.Seconds()*1e3/float64(b.N*files), "worker-CPU-ms/file")
	b.ReportMetric(all.Seconds()*1e3/float64(b.N*files), "all-CPU-ms/file")
}

// tidy deletes what others on the same Temporal and object store would find.
func tidy(b *testing.B, w *dbtest.World, schedule string) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	_ = temporalClient(b).ScheduleClient().GetHandle(ctx, schedule).Delete(ctx)
	rows, _ := w.Store.Pool().Query(ctx, `SELECT object_key FROM files UNION ALL SELECT object_key FROM uploads`)
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(b, err)
	s3 := bucket(b)
	var all errgroup.Group
	all.SetLimit(16)
	for _, key := range keys {
		all.Go(func() error { return s3.Delete(ctx, key) })
	}
	require.NoError(b, all.Wait())
}

func packFiles(b *testing.B, files, each int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.zip")
	f, err := os.Create(path)
	require.NoError(b, err)
	z, random := zip.NewWriter(f), rand.NewChaCha8([32]byte{1})
	for i := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%06d.bin", i), Method: zip.Store})
		require.NoError(b, err)
		_, err = io.CopyN(w, io.MultiReader(strings.NewReader("bench "), random), int64(each)) // noise alone looks like anything
		require.NoError(b, err)
	}
	require.NoError(b, z.Close())
	require.NoError(b, f.Close())
	return path
}

func putFile(b *testing.B, s3 activities.Bucket, key, path string) int64 {
	b.Helper()
	f, err := os.Open(path)
	require.NoError(b, err)
	defer f.Close()
	is, err := f.Stat()
	require.NoError(b, err)
	_, err = s3.Put(b.Context(), key, "application/zip", is.Size(), f)
	require.NoError(b, err)
	return is.Size()
}

// cpuOf is the CPU time of a process, and of the whole machine.
func cpuOf(b *testing.B, pid int) (own, all time.Duration) {
	b.Helper()
	table, err := procfs.Read()
	require.NoError(b, err)
	all, err = procfs.Busy()
	require.NoError(b, err)
	return table.Tree(pid), all
}
