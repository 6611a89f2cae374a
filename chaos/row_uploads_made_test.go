package chaos

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// archived are the files of an archive as it was sent, by name: the sha256 of each.
type archived map[string]string

// archivedIn reads an archive; nil when it is none, as one that was cut off.
func archivedIn(archive []byte) archived {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil
	}
	out := archived{}
	for _, entry := range z.File {
		f, err := entry.Open()
		if err != nil {
			return nil
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		_ = f.Close()
		if err != nil {
			return nil
		}
		out[entry.Name] = hex.EncodeToString(sum.Sum(nil))
	}
	return out
}

// rowTask is a task with a file of an upload, as the database has it.
type rowTask struct {
	ID           int64
	Name, SHA256 string
}

// made checks an upload that has ended, all of whose n rows must have become tasks.
func (u *uploads) made(ctx context.Context, done upload, n int) {
	u.run.t.Helper()
	if done.Status != "completed" || done.SuccessCount != n || len(done.TaskIDs) != n {
		u.run.Violate("I5: upload %s is %s (%s) with %d of %d rows; errors %.500s", done.ID, done.Status, done.Message, done.SuccessCount, n, done.Errors)
		return
	}
	u.mu.Lock()
	sent := u.sent[done.ID]
	u.mu.Unlock()
	require.Len(u.run.t, sent, n, "what was sent for upload %s", done.ID)
	tasks, err := u.tasksOf(ctx, done.ID)
	require.NoError(u.run.t, err)
	for _, wrong := range done.against(sent, tasks) {
		u.run.Violate("%s", wrong)
	}
}

// tasksOf finds the tasks of an upload by their files: what became of its rows, not
// what it says became of them. It asks again while Postgres comes back.
func (u *uploads) tasksOf(ctx context.Context, id string) ([]rowTask, error) {
	for {
		rows, _ := u.run.Store().Pool().Query(ctx, `SELECT t.id, f.name, f.sha256 FROM tasks t
			JOIN files f ON f.id = (t.input->'scan'->>'file_id')::uuid WHERE f.upload_id = $1 ORDER BY t.id`, id)
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[rowTask])
		if err == nil || wait(ctx, 50*time.Millisecond) != nil {
			return found, err
		}
	}
}

// against compares an upload that has ended with what was sent and with the tasks that
// have its files: each row is one task, with the bytes that the row named.
func (up upload) against(sent archived, tasks []rowTask) (wrong []string) {
	of := map[string][]int64{}
	var there []int64
	for _, t := range tasks {
		there = append(there, t.ID)
		of[t.Name] = append(of[t.Name], t.ID)
		if want, known := sent[t.Name]; !known {
			wrong = append(wrong, fmt.Sprintf("I5: task %d of upload %s has the file %q, which was not sent", t.ID, up.ID, t.Name))
		} else if t.SHA256 != want {
			wrong = append(wrong, fmt.Sprintf("I8: the file %q of task %d of upload %s has the sha256 %s, what was sent has %s", t.Name, t.ID, up.ID, t.SHA256, want))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if ids := of[name]; len(ids) != 1 {
			wrong = append(wrong, fmt.Sprintf("I5: the row of %q of upload %s is the tasks %v", name, up.ID, ids))
		}
	}
	slices.Sort(there)
	if told := slices.Sorted(slices.Values(up.TaskIDs)); !slices.Equal(told, there) {
		wrong = append(wrong, fmt.Sprintf("I5: upload %s says that it made the tasks %v, those with its files are %v", up.ID, told, there))
	}
	return wrong
}

func TestWhatAnUploadMadeIsCompared(t *testing.T) {
	t.Parallel()
	sent := archivedIn(zipOf(t, 2, 100))
	require.Len(t, sent, 2)
	a, b := "file-00000.bin", "file-00001.bin"
	require.NotEqual(t, sent[a], sent[b])
	for name, c := range map[string]struct {
		told  []int64
		tasks []rowTask
		wrong int
	}{
		"each once":                {[]int64{7, 8}, []rowTask{{7, a, sent[a]}, {8, b, sent[b]}}, 0},
		"a row became two tasks":   {[]int64{7, 8}, []rowTask{{7, a, sent[a]}, {8, b, sent[b]}, {9, b, sent[b]}}, 2},
		"twice, and told so":       {[]int64{7, 8, 9}, []rowTask{{7, a, sent[a]}, {8, b, sent[b]}, {9, b, sent[b]}}, 1},
		"a row became none":        {[]int64{7}, []rowTask{{7, a, sent[a]}}, 1},
		"the bytes of another row": {[]int64{7, 8}, []rowTask{{7, a, sent[b]}, {8, b, sent[b]}}, 1},
		"a file that was not sent": {[]int64{7, 8}, []rowTask{{7, a, sent[a]}, {8, "c", sent[b]}}, 2},
		"other tasks are told":     {[]int64{7, 9}, []rowTask{{7, a, sent[a]}, {8, b, sent[b]}}, 1},
	} {
		require.Len(t, upload{TaskIDs: c.told}.against(sent, c.tasks), c.wrong, name)
	}
	require.Nil(t, archivedIn(zipOf(t, 2, 100)[:150]), "one that was cut off")
}
