package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	temporal "go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/workflows"
)

// keptFile is a row of a file that a person uploads.
type keptFile struct {
	ID, Name, SHA256 string
	Org, Task        int64
	Done, Submitted  bool
}

// uploaded is what the clients know of files that people uploaded.
type uploaded struct {
	begun map[string]string // what was told, by id: its name
	tries map[string]int    // begins that may have left a row, by name
	put   map[string]string // by id: the sha256 of what was sent
	done  map[string]bool   // acknowledged completions, by id
	// handedIn are submissions that were acknowledged with a file, by its id.
	handedIn map[string]Op
}

func uploadedIn(ops []Op) (uploaded, error) {
	u := uploaded{map[string]string{}, map[string]int{}, map[string]string{}, map[string]bool{}, map[string]Op{}}
	for _, op := range ops {
		switch op.Kind {
		case opBegin:
			var sent struct {
				Name string `json:"name"`
			}
			if err := json.Unmarshal(op.Content, &sent); err != nil {
				return u, err
			}
			if op.Outcome != Refused {
				u.tries[sent.Name]++
			}
			if op.Outcome == OK {
				u.begun[op.File] = sent.Name
			}
		case opPut:
			u.put[op.File] = op.SHA256
		case opComplete:
			if op.Outcome == OK {
				u.done[op.File] = true
			}
		case opSubmit:
			var sent struct {
				Values struct {
					Scan *attached `json:"scan"`
				} `json:"values"`
			}
			if err := json.Unmarshal(op.Content, &sent); err != nil {
				return u, err
			}
			if f := sent.Values.Scan; f != nil && op.Outcome == OK {
				u.handedIn[f.FileID] = op
			}
		}
	}
	return u, nil
}

// against compares what the clients know with the rows: each beginning that was
// acknowledged has one, each acknowledged completion is of the bytes that were put,
// each file of a submission is kept for good, and no row is there that nobody may have
// asked for.
func (u uploaded) against(rows []keptFile) (wrong []string) {
	there, tries := map[string]keptFile{}, maps.Clone(u.tries)
	for _, f := range rows {
		there[f.ID] = f
		if tries[f.Name]--; tries[f.Name] < 0 {
			wrong = append(wrong, fmt.Sprintf("I1: file %s (%q) is there, and its beginning was refused or never asked for", f.ID, f.Name))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(u.begun)) {
		if f, ok := there[id]; !ok || f.Name != u.begun[id] {
			wrong = append(wrong, fmt.Sprintf("I1: file %s was begun as %q, there is %+v", id, u.begun[id], f))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(u.done)) {
		if f := there[id]; !f.Done || f.SHA256 != u.put[id] {
			wrong = append(wrong, fmt.Sprintf("I1: file %s, of which %s was put, was acknowledged as complete, there is %+v", id, u.put[id], f))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(u.handedIn)) {
		op := u.handedIn[id]
		if f := there[id]; !f.Done || !f.Submitted || f.Task != op.Task {
			wrong = append(wrong, fmt.Sprintf("I8: %s handed in file %s for task %d under claim %s, there is %+v", op.Who, id, op.Task, op.Claim, f))
		}
	}
	return wrong
}

// checkFiles is I1 and I8 for what people uploaded: the rows of it, and what an admin
// reads of it. And it is I8 for all files: they are in the object store with their
// bytes, also once the sweep has been there.
func (r *Run) checkFiles(ctx context.Context) error {
	if r.Load.Upload == 0 && r.uploader == nil {
		return nil
	}
	known, err := uploadedIn(r.History.Ops())
	if err != nil {
		return err
	}
	rows, _ := r.Store().Pool().Query(ctx, `SELECT id::text, name, coalesce(sha256, ''), org_id, task_id, completed_at IS NOT NULL, submitted FROM task_files`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[keptFile])
	if err != nil {
		return err
	}
	for _, wrong := range known.against(list) {
		r.Violate("%s", wrong)
	}
	if err := r.sweep(ctx); err != nil {
		return err
	}
	if err := r.filesAreWhole(ctx, bucketOf(r.Stack)); err != nil {
		return err
	}
	if err := r.readFiles(ctx, known); err != nil {
		return err
	}
	r.Logf("people began %d files, completed %d and handed in %d", len(known.begun), len(known.done), len(known.handedIn))
	if r.Load.Upload > 0 && len(known.handedIn) == 0 && time.Since(r.began) >= draftsAfter {
		return fmt.Errorf("invalid run: no file was handed in in %s", time.Since(r.began).Round(time.Second))
	}
	return nil
}

// readFiles reads what was handed in as an admin does who looks at the task.
func (r *Run) readFiles(ctx context.Context, known uploaded) error {
	byOrg := map[string][]string{}
	for id, op := range known.handedIn {
		byOrg[op.Org] = append(byOrg[op.Org], id)
	}
	for i, o := range r.World.Orgs {
		c := r.client(o, "admin@"+o.Mark+".test", "", uint64(80+i))
		if err := c.login(ctx); err != nil {
			return err
		}
		for _, id := range byOrg[o.Mark] {
			var detail struct {
				Files []attached `json:"files"`
			}
			of := known.handedIn[id].Task
			_, err := c.do(ctx, request{
				Op: Op{Kind: opPoll, Task: of}, method: http.MethodGet, path: "/api/console/tasks/" + strconv.FormatInt(of, 10), out: &detail,
			})
			if err != nil {
				return err
			}
			at := slices.IndexFunc(detail.Files, func(f attached) bool { return f.FileID == id })
			if at < 0 {
				r.Violate("I8: task %d shows the files %+v, and not %s, which was handed in", of, detail.Files, id)
				continue
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, detail.Files[at].URL, http.NoBody)
			if err != nil {
				return err
			}
			if status, got, err := fromStore(req); err != nil || sumOf(got) != known.put[id] {
				r.Violate("I8: file %s of task %d was put with sha256 %s, its link gives %d bytes with %s (%d, %v)", id, of, known.put[id], len(got), sumOf(got), status, err)
			}
		}
	}
	return nil
}

// sweptAge is what is added to the age of uploads, so that the sweep takes them up.
const sweptAge = `interval '2 days'`

// sweep lets the sweep look at everything that was uploaded, as it does days later. What
// nothing refers to is an orphan then, for askDoctor to find.
func (r *Run) sweep(ctx context.Context) error {
	for _, sql := range []string{
		`UPDATE task_files SET created_at = created_at - ` + sweptAge,
		`UPDATE uploads SET expires_at = expires_at - ` + sweptAge,
	} {
		if err := r.SQL(ctx, sql); err != nil {
			return err
		}
	}
	asked := time.Time{}
	err := r.until(ctx, func(ctx context.Context) (bool, error) {
		const every = 10 * time.Second // one that is under way began before, and another one is not begun meanwhile
		if time.Since(asked) > every {
			sweep := r.Temporal().ScheduleClient().GetHandle(ctx, workflows.SweepSchedule)
			if err := sweep.Trigger(ctx, temporal.ScheduleTriggerOptions{}); err != nil {
				return false, err
			}
			asked = time.Now()
		}
		n, err := r.Count(ctx, `SELECT (SELECT count(*) FROM task_files WHERE NOT swept) + (SELECT count(*) FROM uploads WHERE swept_at IS NULL)`)
		return err == nil && n == 0, err
	})
	r.swept = err == nil
	return err
}

func TestUploadedFilesAreCompared(t *testing.T) {
	t.Parallel()
	content := func(v any) json.RawMessage {
		doc, err := json.Marshal(v)
		require.NoError(t, err)
		return doc
	}
	begin := func(name, id string, o Outcome) Op {
		return Op{Kind: opBegin, File: id, Outcome: o, Content: content(object{"name": name})}
	}
	put := Op{Kind: opPut, File: "1", SHA256: "aa", Outcome: OK}
	complete := Op{Kind: opComplete, File: "1", SHA256: "aa", Outcome: OK}
	submit := Op{Kind: opSubmit, Outcome: OK, Task: 7, Content: content(object{"values": object{"scan": object{"file_id": "1"}}})}
	handedIn := []Op{begin("a", "1", OK), put, complete, submit}
	row := keptFile{ID: "1", Name: "a", SHA256: "aa", Task: 7, Done: true, Submitted: true}
	with := func(change func(f *keptFile)) []keptFile {
		f := row
		change(&f)
		return []keptFile{f}
	}
	for name, c := range map[string]struct {
		ops   []Op
		rows  []keptFile
		wrong int
	}{
		"handed in":                   {handedIn, []keptFile{row}, 0},
		"not there":                   {handedIn, nil, 3},
		"other bytes":                 {handedIn, with(func(f *keptFile) { f.SHA256 = "bb" }), 1},
		"not kept":                    {handedIn, with(func(f *keptFile) { f.Submitted = false }), 1},
		"of another task":             {handedIn, with(func(f *keptFile) { f.Task = 8 }), 1},
		"not completed":               {handedIn[:3], with(func(f *keptFile) { f.Done = false }), 1},
		"begun and left":              {handedIn[:1], with(func(f *keptFile) { f.Done = false }), 0},
		"begun, and lost":             {handedIn[:1], nil, 1},
		"may have been begun":         {[]Op{begin("a", "", Unknown), begin("a", "1", OK)}, []keptFile{row, {ID: "2", Name: "a"}}, 0},
		"begun more often than asked": {[]Op{begin("a", "", Unknown), begin("a", "1", OK)}, []keptFile{row, {ID: "2", Name: "a"}, {ID: "3", Name: "a"}}, 1},
		"refused, and there":          {[]Op{begin("a", "", Refused)}, []keptFile{{ID: "2", Name: "a"}}, 1},
	} {
		known, err := uploadedIn(c.ops)
		require.NoError(t, err, name)
		wrong := known.against(c.rows)
		require.Len(t, wrong, c.wrong, "%s: %v", name, wrong)
	}
}
