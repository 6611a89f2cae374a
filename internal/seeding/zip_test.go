package seeding_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/seeding"
)

// withFields is a pipeline of one subtask with these fields, started always or
// when the condition holds.
func withFields(t testing.TB, when, fields string) *pipeline.Pipeline {
	t.Helper()
	if when != "" {
		when = `, "when": ` + when
	}
	d, err := pipeline.Parse([]byte(`{"name": "Files", "nodes": [
		{"key": "start", "kind": "start"},
		{"key": "work", "kind": "subtask", "fields": [` + fields + `, {"name": "a", "type": "short_text", "input": "contributor"}]},
		{"key": "end", "kind": "end"}],
		"edges": [{"from": "start", "to": "work"` + when + `}, {"from": "work", "to": "end"}]}`))
	require.NoError(t, err)
	return pipeline.Compile(d)
}

const (
	photo  = `{"name": "photo", "type": "file_upload", "input": "seeded", "required": true}`
	front  = `{"name": "front", "type": "file_upload", "input": "seeded", "required": true, "accept": ["image/*", ".png"], "rules": {"max_bytes": 1}}`
	report = `{"name": "report", "type": "file_upload", "input": "seeded", "accept": [".pdf"]}`
	extras = `{"name": "extras", "type": "file_upload", "input": "seeded", "multiple": true, "rules": {"max_items": 3}}`
	note   = `{"name": "note", "type": "short_text", "input": "seeded", "rules": {"max_chars": 5}}`
)

func several(t testing.TB) *pipeline.Pipeline {
	t.Helper()
	return withFields(t, "", strings.Join([]string{front, report, extras, note}, ","))
}

func TestFileRefsReadPaths(t *testing.T) {
	t.Parallel()
	p := several(t)
	refs, problems := seeding.FileRefs(p, item(t, `{"front": "a/front.png", "report": null, "extras": ["x", "./y/z"], "note": "n", "zzz": "unknown"}`))
	require.Empty(t, problems)
	require.Equal(t, map[string][]string{"front": {"a/front.png"}, "extras": {"x", "./y/z"}}, refs)
	refs, problems = seeding.FileRefs(p, item(t, `{"front": " ", "extras": "one"}`))
	require.Empty(t, problems)
	require.Equal(t, map[string][]string{"extras": {"one"}}, refs)
	refs, problems = seeding.FileRefs(p, item(t, `{"extras": []}`))
	require.Empty(t, problems)
	require.Empty(t, refs)
}

func TestFileRefsRefuseWhatIsNoPath(t *testing.T) {
	t.Parallel()
	p := several(t)
	for doc, want := range map[string]string{
		`{"front": 5}`:                "front  expected the path of a file in the archive",
		`{"front": {"file_id": "x"}}`: "front  expected the path of a file in the archive, such as \"photo.png\", got an object",
		`{"front": ["a.png"]}`:        "front  expected the path of one file",
		`{"extras": ["a", null]}`:     "extras /1 expected the path of a file in the archive, such as \"photo.png\", got null",
		`{"extras": ["a", " "]}`:      "extras /1 the path is empty",
		`{"extras": {}}`:              "extras  expected the path of a file",
		`{"front": "/etc/passwd"}`:    `front  the path "/etc/passwd" is absolute`,
		`{"front": "../../x"}`:        `leads out with ".."`,
		`{"front": "a/../x"}`:         `leads out with ".."`,
		`{"front": "a\\b.png"}`:       "backslash",
		`{"front": "a/"}`:             "is a folder's",
		`{"front": "a//b"}`:           "empty part",
		`{"front": "a/./b"}`:          "empty part",
		`{"front": "a\u0007b"}`:       "control characters",
		`{"front": "a\u0000b"}`:       "U+0000",
		`{"front": "\ud800"}`:         "surrogate",
		`{"front": "https://x.y/z"}`:  "is an address",
		fmt.Sprintf(`{"front": %q}`, strings.Repeat("p", 1025)): "1025 bytes, at most 1024",
		`{"extras": ["x"` + strings.Repeat(`,"x"`, 1000) + `]}`: "names 1001 files, at most 1000",
		`{"extras": "` + strings.Repeat("x", 1<<20) + `"}`:      "too large",
	} {
		refs, problems := seeding.FileRefs(p, item(t, doc))
		require.Empty(t, refs)
		require.Len(t, problems, 1)
		got := problems[0].Field + " " + problems[0].Path + " " + problems[0].Message
		require.Contains(t, got, want)
		require.Less(t, len(got), 500)
	}
	_, problems := seeding.FileRefs(p, seeding.Item{Fields: form.Values{"front": json.RawMessage(`"`), "extras": json.RawMessage("[\"\xff\"]")}})
	require.Len(t, problems, 2)
}

func TestPreCheckSaysWhatCanBeSaidWithoutFiles(t *testing.T) {
	t.Parallel()
	p := several(t)
	for name, c := range map[string]struct {
		doc  string
		want []string
	}{
		"good":                     {doc: `{"front": "x/front.png", "report": "r.PDF", "extras": ["a", "b"], "note": "n"}`},
		"the media type may fit":   {doc: `{"front": "front.bin"}`},
		"one text for many":        {doc: `{"front": "f", "extras": "a"}`},
		"not answered":             {doc: `{"front": "f", "extras": [], "report": ""}`},
		"missing":                  {doc: `{}`, want: []string{`front: field "front" is required and missing`}},
		"null":                     {doc: `{"front": null}`, want: []string{`front: field "front" is required, got null`}},
		"blank":                    {doc: `{"front": " "}`, want: []string{`front: field "front" is required, got an empty value`}},
		"the extension cannot fit": {doc: `{"front": "f", "report": "r.doc"}`, want: []string{`report: the file "r.doc" is not accepted; expected ".pdf"`}},
		"too many":                 {doc: `{"front": "f", "extras": ["a","b","c","d"]}`, want: []string{`extras: has 4 files, at most 3 allowed`}},
		"no path":                  {doc: `{"front": 5}`, want: []string{`front: expected the path of a file in the archive, such as "photo.png", got a number`}},
		"in a list":                {doc: `{"front": "f", "extras": ["a", "/b"]}`, want: []string{`extras: at /1: the path "/b" is absolute: give the path inside of the archive, without "/" in front`}},
		"long base name":           {doc: `{"front": "` + strings.Repeat("n", 256) + `"}`, want: []string{"front: at /name: expected a text of 1 to 255 characters"}},
		"others": {doc: `{"zzz": 1, "note": "too long", "a": "x", "front": "../x"}`, want: []string{
			`a: field "a" cannot be given`, `front: the path "../x" leads out`, `note: has 8 characters, at most 5 allowed`, `zzz: unknown field "zzz"; expected "front", "report", "extras" or "note"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			batch := append(items(t, `{"front": "f"}`, c.doc), item(t, `{"front": "f"}`))
			before := fmt.Sprint(batch)
			errs, ok := seeding.PreCheck(p, batch, nil)
			require.Equal(t, before, fmt.Sprint(batch), "the items are left as they are")
			require.Equal(t, []bool{true, len(c.want) == 0, true}, ok)
			require.Len(t, errs, len(c.want), errs)
			for i, e := range errs {
				require.Equal(t, 1, e.Index)
				require.Contains(t, e.FieldName+": "+e.Message, c.want[i])
			}
		})
	}
}

func TestPreCheckKnowsTheReadersProblemsAndTheRoute(t *testing.T) {
	t.Parallel()
	bad := item(t, `{"front": "f"}`)
	bad.Problems = []form.Problem{{Field: "note", Message: "is given twice"}}
	errs, ok := seeding.PreCheck(several(t), []seeding.Item{bad}, nil)
	require.Equal(t, []seeding.ItemError{{FieldName: "note", Message: "is given twice"}}, errs)
	require.Equal(t, []bool{false}, ok)

	p := withFields(t, `{"field": "note", "op": "eq", "value": "go"}`, photo+","+note)
	errs, ok = seeding.PreCheck(p, items(t, `{"photo": "p", "note": "go"}`, `{"photo": "p", "note": "no"}`), nil)
	require.Equal(t, []bool{true, false}, ok)
	require.Equal(t, []string{"1 "}, places(errs))
	require.Contains(t, errs[0].Message, "no route")

	// What the file will be decides the route: that is known later.
	p = withFields(t, `{"field": "photo.size", "op": "gt", "value": 1000}`, photo)
	errs, ok = seeding.PreCheck(p, items(t, `{"photo": "p"}`), nil)
	require.Empty(t, errs)
	require.Equal(t, []bool{true}, ok)

	errs, ok = seeding.PreCheck(p, nil, nil)
	require.Empty(t, errs)
	require.Empty(t, ok)
}

func TestFileValuesAreWhatTheFormTakes(t *testing.T) {
	t.Parallel()
	p := several(t)
	f := seeding.File{FileID: "id", Name: "ä.png", Size: 1, ContentType: "image/png", SHA256: strings.Repeat("0", 64)}
	require.JSONEq(t, `{"file_id": "id", "name": "ä.png", "size": 1, "content_type": "image/png", "sha256": "`+f.SHA256+`"}`, string(seeding.FileValue(f)))
	require.JSONEq(t, `{"file_id": "i", "name": "n", "size": 0}`, string(seeding.FileValue(seeding.File{FileID: "i", Name: "n"})))
	require.Equal(t, seeding.FileValue(f), seeding.FilesValue(false, []seeding.File{f}))
	require.JSONEq(t, "null", string(seeding.FilesValue(false, nil)))
	require.JSONEq(t, "null", string(seeding.FilesValue(true, nil)))
	require.Empty(t, p.Seed.CheckSeed(form.Values{
		"front": seeding.FileValue(f), "extras": seeding.FilesValue(true, []seeding.File{f, f}), "report": seeding.FilesValue(true, nil),
	}, form.NewBudget()))
}

// show writes rows and what was ignored, one a line.
func show(rows []seeding.DerivedRow, ignored []seeding.Ignored) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.Name)
		for _, name := range slices.Sorted(mapKeys(r.Fields)) {
			fmt.Fprintf(&b, " %s=%s", name, r.Fields[name])
		}
		for _, p := range r.Problems {
			fmt.Fprintf(&b, " !%s: %s", p.Field, p.Message)
		}
		b.WriteString("\n")
	}
	for _, i := range ignored {
		fmt.Fprintf(&b, "- %s %s\n", i.Path, i.Reason)
	}
	return b.String()
}

func mapKeys(v form.Values) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range v {
			if !yield(name) {
				return
			}
		}
	}
}

func TestRowsComeFromTheListing(t *testing.T) {
	t.Parallel()
	one, all := withFields(t, "", photo), several(t)
	many := withFields(t, "", extras)
	for name, c := range map[string]struct {
		p              *pipeline.Pipeline
		paths, folders []string
		want           string
	}{
		"files": {
			p: one, paths: []string{"b.png", "a b.png", "a.png", "b.png"},
			want: "a b.png photo=\"a b.png\"\na.png photo=\"a.png\"\nb.png photo=\"b.png\"\n",
		},
		"files and folders": {
			p: one, paths: []string{"a.png", "in/b.png"},
			want: "a.png photo=\"a.png\"\n- in/b.png is in a folder: with one file field, \"photo\", only files at the top level become tasks\n",
		},
		"files of a multiple field": {p: many, paths: []string{"a", "b"}, want: "a extras=[\"a\"]\nb extras=[\"b\"]\n"},
		"folders": {
			p: all, paths: []string{"a b/front.png", "a/front.png", "a/report.tar.gz", "a/extras/1/x", "a/extras/2", "b/FRONT", "b/Extras.txt"},
			want: "a extras=[\"a/extras/1/x\",\"a/extras/2\"] front=\"a/front.png\" report=\"a/report.tar.gz\"\n" +
				"a b front=\"a b/front.png\"\nb extras=[\"b/Extras.txt\"] front=\"b/FRONT\"\n",
		},
		"multiple by file and folder": {p: all, paths: []string{"a/extras.txt", "a/extras/x"}, want: "a extras=[\"a/extras.txt\",\"a/extras/x\"]\n"},
		"top level": {
			p: all, paths: []string{"a/front.png", "front.png"},
			want: "a front=\"a/front.png\"\n- front.png is at the top level: with several file fields, each top-level folder becomes a task, with the files inside\n",
		},
		"unmatched": {
			p: all, paths: []string{"a/front.png", "a/.front", "a/back.png", "a/old/front.png", "a/front/x.png"},
			want: "a front=\"a/front.png\"" +
				" !: the file \"a/.front\" is named like no file field: expected \"front\", \"report\" and \"extras\", each with its extension" +
				" !: the file \"a/back.png\" is named like no file field: expected \"front\", \"report\" and \"extras\", each with its extension" +
				" !: the file \"a/front/x.png\" is in a folder, but the field \"front\" takes one file: name the file itself like the field" +
				" !: the file \"a/old/front.png\" is in a folder that is named like no file field: expected \"front\", \"report\" and \"extras\"\n",
		},
		"two for one": {
			p: all, paths: []string{"a/front.png", "a/front.jpg", "b/front.png"},
			want: "a !front: takes one file, but the folder has 2 by that name, such as \"a/front.jpg\" and \"a/front.png\": keep one of them\nb front=\"b/front.png\"\n",
		},
		"nothing matches one row": {
			p: all, paths: []string{"a/back.png", "b/front.png"},
			want: "a !: the file \"a/back.png\" is named like no file field: expected \"front\", \"report\" and \"extras\", each with its extension\nb front=\"b/front.png\"\n",
		},
		"folders without files": {
			p: all, paths: []string{"b/front.png"}, folders: []string{"a", "b", "c"},
			want: "a !front: the folder \"a\" holds no files; field \"front\" is required and missing\nb front=\"b/front.png\"\n" +
				"c !front: the folder \"c\" holds no files; field \"front\" is required and missing\n",
		},
		"folders that need no files": {
			p: withFields(t, "", report+","+extras), paths: []string{"b/report.pdf"}, folders: []string{"a"},
			want: "a\nb report=\"b/report.pdf\"\n",
		},
		"folders where files are rows": {p: one, paths: []string{"a.png"}, folders: []string{"b"}, want: "a.png photo=\"a.png\"\n"},
		"outside": {
			p: all, paths: []string{"../front.png", "/front.png", "./front.png", "a/front.png"},
			want: "a front=\"a/front.png\"\n- ../front.png is not in a folder of the archive\n- ./front.png is not in a folder of the archive\n- /front.png is not in a folder of the archive\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, ignored, err := seeding.DeriveRows(c.p, c.paths, c.folders)
			require.NoError(t, err)
			require.Equal(t, c.want, show(rows, ignored))
		})
	}
}

func TestAFolderReportsABoundedNumberOfFiles(t *testing.T) {
	t.Parallel()
	var paths []string
	for i := range 1000 {
		paths = append(paths, fmt.Sprintf("a/%04d.png", i))
	}
	rows, _, err := seeding.DeriveRows(several(t), paths, nil)
	require.NoError(t, err)
	require.Len(t, rows[0].Problems, 21)
	require.Contains(t, rows[0].Problems[20].Message, `980 files more in the folder "a"`)
}

func TestAListingWithoutRowsSaysHowToPackIt(t *testing.T) {
	t.Parallel()
	one, all := withFields(t, "", photo), several(t)
	for name, c := range map[string]struct {
		p              *pipeline.Pipeline
		paths, folders []string
		want           string
	}{
		"no fields":                         {p: withFields(t, "", note), paths: []string{"a"}, want: "the pipeline takes no files: create its tasks with JSON"},
		"no files":                          {p: one, want: "the archive holds no files"},
		"no files in":                       {p: all, folders: []string{"a", "b"}, want: "the archive holds no files"},
		"one folder":                        {p: one, paths: []string{"photos/1.png", "photos/2.png"}, want: `the archive has only the folder "photos" with 2 files; each file at the top level becomes a task with that file as "photo": zip its contents, not the folder`},
		"two folders":                       {p: one, paths: []string{"a b/1", "a/1", "a/2"}, want: "the archive has only folders, 2 with 3 files; "},
		"only files beside an empty folder": {p: all, paths: []string{"front.png"}, folders: []string{"a"}, want: "only 1 file at the top level"},
		"wrapped beside an empty folder":    {p: all, paths: []string{"all/1/front.png"}, folders: []string{"all", "new"}, want: "zip its contents"},
		"only files":                        {p: all, paths: []string{"front.png"}, want: `the archive has no folders, only 1 file at the top level; each top-level folder becomes a task with the files "front", "report" and "extras": put the files of each task into a folder of its own, such as "task1/front.png"`},
		"wrapped":                           {p: all, paths: []string{"all/1/front.png", "all/2/front.png"}, folders: []string{"all"}, want: `the archive has only the folder "all" with 2 files, and no file in it is named like a file field; each top-level folder becomes a task with the files "front", "report" and "extras": zip its contents, not the folder`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, _, err := seeding.DeriveRows(c.p, c.paths, c.folders)
			require.Empty(t, rows)
			require.True(t, fault.Is(err, fault.Validation))
			require.ErrorContains(t, err, c.want)
		})
	}
}

// Every path is used once, lies in a row that has problems, or is ignored.
func FuzzDeriveRows(f *testing.F) {
	f.Add("a/front.png\na/extras/1\nb/Front.jpg\nc.png")
	f.Add("../x\n/y\n\n./z\na//b\na/front/c")
	f.Add("x/1/front.png\nx/2/front.png")
	pipelines := []*pipeline.Pipeline{withFields(f, "", photo), withFields(f, "", extras), several(f)}
	f.Fuzz(func(t *testing.T, listing string) {
		paths := strings.Split(strings.ToValidUTF8(listing, "?"), "\n")
		for _, p := range pipelines {
			rows, ignored, err := seeding.DeriveRows(p, paths, nil)
			if err != nil {
				require.Equal(t, fault.Validation, fault.KindOf(err))
				require.Empty(t, rows)
				continue
			}
			require.NotEmpty(t, rows)
			require.True(t, slices.IsSortedFunc(rows, func(a, b seeding.DerivedRow) int { return strings.Compare(a.Name, b.Name) }))
			used, broken := map[string]int{}, map[string]bool{}
			for _, i := range ignored {
				used[i.Path]++
			}
			for _, row := range rows {
				broken[row.Name] = len(row.Problems) > 0
				refs, problems := seeding.FileRefs(p, seeding.Item{Fields: row.Fields})
				if len(problems) > 0 {
					continue // an unusable name: archive has said so of the entry
				}
				for _, list := range refs {
					for _, path := range list {
						used[path]++
						require.True(t, path == row.Name || strings.HasPrefix(path, row.Name+"/"))
					}
				}
				if len(refs) == 0 {
					broken[row.Name] = true // a blank name
				}
			}
			for _, path := range paths {
				top, _, _ := strings.Cut(path, "/")
				if used[path] == 0 && !broken[top] {
					_, problems := seeding.FileRefs(p, seeding.Item{Fields: rowOf(rows, top).Fields})
					require.NotEmpty(t, problems, path)
				}
				require.LessOrEqual(t, used[path], 1, path)
			}
		}
	})
}

func rowOf(rows []seeding.DerivedRow, name string) seeding.DerivedRow {
	for _, r := range rows {
		if r.Name == name {
			return r
		}
	}
	return seeding.DerivedRow{}
}
