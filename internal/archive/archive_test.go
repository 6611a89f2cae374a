package archive_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/fault"
)

func TestAnArchiveListsItsFilesInOrder(t *testing.T) {
	t.Parallel()
	a := open(t, build(t, "a comment",
		file{name: "b.txt", data: "bb"}, file{name: "folder/"}, file{name: "folder/c.txt", data: "ccc"},
		file{name: "./a.txt", data: "a"}, file{name: "folder/deep/CON .", data: "fine here"}))
	require.Equal(t, []string{"a.txt", "b.txt", "folder/c.txt", "folder/deep/CON ."}, names(a))
	require.Equal(t, int64(1+2+3+9), a.Bytes)
	for _, e := range a.Entries {
		require.Empty(t, e.Problem, e.Name)
		data, err := content(t, a, e.Name)
		require.NoError(t, err)
		require.Len(t, data, int(e.Size))
	}
	b, err := a.Find("b.txt")
	require.NoError(t, err)
	c, err := a.Find("./folder/c.txt")
	require.NoError(t, err)
	require.Less(t, b.Offset(), c.Offset())
}

func TestLitterIsSkippedAndNeverAnError(t *testing.T) {
	t.Parallel()
	a := open(t, build(t, "",
		file{name: "__MACOSX/"}, file{name: "__MACOSX/._a.txt", data: "x"}, file{name: ".DS_Store"}, file{name: "f/.DS_Store", data: "x"},
		file{name: "f/thumbs.DB", data: "x"}, file{name: "Desktop.ini", data: "x"}, file{name: "f/._a.txt", data: "x"},
		file{name: "a.txt", data: "x"}, file{name: "DS_Store", data: "x"}))
	require.Equal(t, []string{"DS_Store", "a.txt"}, names(a))
	var skipped []string
	for _, s := range a.Skipped {
		require.NotEmpty(t, s.Reason)
		skipped = append(skipped, s.Name)
	}
	require.Equal(t, []string{"__MACOSX/._a.txt", ".DS_Store", "f/.DS_Store", "f/thumbs.DB", "Desktop.ini", "f/._a.txt"}, skipped)
}

// Each entry stands beside a good one, which it must not spoil.
func TestABadEntryIsRefusedByName(t *testing.T) {
	t.Parallel()
	set := func(change func(h *zip.FileHeader)) func(*zip.FileHeader) { return change }
	for name, c := range map[string]struct {
		file  file
		shown string // when it is not the name
		says  string
	}{
		"climbing":       {file: file{name: "../../etc/passwd", data: "x"}, says: `".." in its path`},
		"climbing later": {file: file{name: "a/../../b", data: "x"}, says: `".." in its path`},
		"absolute":       {file: file{name: "/etc/passwd", data: "x"}, says: "absolute path"},
		"drive":          {file: file{name: "C:/x.txt", data: "x"}, says: "drive letter"},
		"backslash":      {file: file{name: `a\b.txt`, data: "x"}, says: "backslash"},
		"empty part":     {file: file{name: "a//b.txt", data: "x"}, says: "empty part"},
		"dot part":       {file: file{name: "a/./b.txt", data: "x"}, says: "empty part"},
		"no name":        {file: file{name: "", data: "x"}, says: "no name"},
		"NUL":            {file: file{name: "a\x00.png", data: "x"}, shown: "a%00.png", says: "control characters"},
		"line break":     {file: file{name: "a\nb.png", data: "x"}, shown: "a%0Ab.png", says: "control characters"},
		"C1 control":     {file: file{name: "a\u0085b", data: "x"}, shown: "a%C2%85b", says: "control characters"},
		"bidi":           {file: file{name: "a\u202egnp.exe", data: "x"}, shown: "a%E2%80%AEgnp.exe", says: "direction of writing"},
		"not UTF-8":      {file: file{name: "caf\xe9.txt", data: "x"}, shown: "caf%E9.txt", says: "not UTF-8"},
		"unflagged from Windows": {file: file{name: "café.txt", data: "x", head: set(func(h *zip.FileHeader) {
			h.NonUTF8, h.CreatorVersion = true, 20
		})}, says: "not UTF-8"},
		"long":      {file: file{name: strings.Repeat("n", 1025), data: "x"}, shown: strings.Repeat("n", 1021) + "…", says: "1025 bytes, at most 1024"},
		"deep":      {file: file{name: strings.Repeat("d/", 17) + "x", data: "x"}, says: "17 nested folders, at most 16"},
		"symlink":   {file: file{name: "link", data: "/etc/passwd", head: set(func(h *zip.FileHeader) { h.SetMode(0o777 | 1<<27) })}, says: "symbolic link"},
		"pipe":      {file: file{name: "pipe", data: "x", head: set(func(h *zip.FileHeader) { h.ExternalAttrs = 0x1000 << 16 })}, says: "no regular file"},
		"encrypted": {file: file{name: "secret", data: "x", head: set(func(h *zip.FileHeader) { h.Flags |= 1 })}, says: "without a password"},
		"method":    {file: file{name: "zstd", data: "x", head: set(func(h *zip.FileHeader) { h.Method = 93 })}, says: "Zstandard"},
		"no method": {file: file{name: "odd", data: "x", head: set(func(h *zip.FileHeader) { h.Method = 77 })}, says: "method 77"},
		"empty":     {file: file{name: "nothing", data: ""}, says: "empty (0 bytes)"},
		"large":     {file: file{name: "large", data: "x", head: set(func(h *zip.FileHeader) { h.UncompressedSize64 = 16<<20 + 1 })}, says: "at most 16 MiB"},
		"larger than any file": {file: file{name: "huge", data: "x", head: set(func(h *zip.FileHeader) {
			h.UncompressedSize64 = 1<<64 - 2
		})}, says: "at most 16 MiB"},
		"ratio":      {file: file{name: "bomb", data: strings.Repeat("\x00", 1<<20)}, says: "more than 200 times"},
		"stored lie": {file: file{name: "stored", data: "xx", head: set(func(h *zip.FileHeader) { h.Method, h.CompressedSize64 = zip.Store, 2; h.UncompressedSize64 = 3 })}, says: "contradicts itself"},
		"outside":    {file: file{name: "outside", data: "x", head: set(func(h *zip.FileHeader) { h.CompressedSize64 = 1 << 40 })}, says: "outside of the archive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := c.file.name
			if c.shown != "" {
				shown = c.shown
			}
			a := open(t, build(t, "", c.file, file{name: "good", data: "good"}))
			require.Len(t, a.Entries, 2)
			bad, err := a.Find(shown)
			require.NoError(t, err)
			require.Equal(t, shown, bad.Name)
			require.Contains(t, bad.Problem, c.says)
			require.Contains(t, bad.Problem, "the entry \"")
			require.Less(t, len(bad.Problem), 1200)
			_, err = a.Read(bad)
			var e *archive.EntryError
			require.ErrorAs(t, err, &e)
			require.Equal(t, bad.Name, e.Name)
			require.Equal(t, bad.Problem, e.Error())
			data, err := content(t, a, "good")
			require.NoError(t, err)
			require.Equal(t, "good", data)
			require.Equal(t, int64(4), a.Bytes)
		})
	}
}

func TestNamesThatAreUTF8WithoutTheFlagAreTakenFromUnix(t *testing.T) {
	t.Parallel()
	unflagged := func(h *zip.FileHeader) { h.NonUTF8 = true }
	a := open(t, build(t, "", file{name: "cafe\u0301.txt", data: "x", head: unflagged}))
	require.Equal(t, []string{"caf\u00e9.txt"}, names(a))
	require.Empty(t, a.Entries[0].Problem)
	e, err := a.Find("cafe\u0301.txt")
	require.NoError(t, err)
	require.Same(t, a.Entries[0], e)
}

func TestNamesThatCouldBeMixedUpAreAllRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		says  string
		good  []string
	}{
		"twice":         {files: []string{"a.txt", "a.txt", "b"}, says: "more than once", good: []string{"b"}},
		"normal forms":  {files: []string{"caf\u00e9", "cafe\u0301"}, says: "more than once"},
		"dot slash":     {files: []string{"./a", "a"}, says: "more than once"},
		"case":          {files: []string{"A.png", "a.PNG"}, says: "only by case from"},
		"case of three": {files: []string{"x/A", "X/a", "x/a"}, says: "only by case from"},
		"unicode case":  {files: []string{"ÄRGER", "a\u0308rger"}, says: "only by case from"},
		"kelvin":        {files: []string{"\u212a", "k"}, says: "only by case from"},
		"long s":        {files: []string{"\u017f", "S"}, says: "only by case from"},
		"file, folder":  {files: []string{"a", "a/b", "a/c/d", "ab"}, says: "folder", good: []string{"ab"}},
		"by case":       {files: []string{"A", "a/b"}, says: "folder"},
		"empty folder":  {files: []string{"a", "a/", "b"}, says: "a file and a folder", good: []string{"b"}},
		"two words":     {files: []string{"Ma\u00dfe", "Masse"}, good: []string{"Ma\u00dfe", "Masse"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var files []file
			for _, f := range c.files {
				if strings.HasSuffix(f, "/") {
					files = append(files, file{name: f})
				} else {
					files = append(files, file{name: f, data: "x"})
				}
			}
			a := open(t, build(t, "", files...))
			var good []string
			for _, e := range a.Entries {
				if e.Problem == "" {
					good = append(good, e.Name)
					continue
				}
				require.Contains(t, e.Problem, c.says)
			}
			require.ElementsMatch(t, c.good, good)
		})
	}
	a := open(t, build(t, "", file{name: "A.png", data: "x"}, file{name: "a.png", data: "x"}))
	require.Contains(t, a.Entries[0].Problem, `the entry "A.png" differs only by case from "a.png"`)
	require.Contains(t, a.Entries[1].Problem, `the entry "a.png" differs only by case from "A.png"`)
}

func TestWhatIsNoWholeZIPIsRefused(t *testing.T) {
	t.Parallel()
	good := build(t, "", file{name: "a.txt", data: "aaaa"}, file{name: "b.txt", data: "bbbb"})
	directory := headers(good)[0]
	end := len(good) - 22
	inner := build(t, "", file{name: "evil", data: "x"})
	nested := build(t, "", file{name: "inner.zip", data: string(inner), head: stored}, file{name: "z", data: "x"})
	many := []file{}
	for i := range 1001 {
		many = append(many, file{name: strings.Repeat("f", 1+i/26) + string(rune('a'+i%26)), data: "x"})
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"nothing":                 {data: nil, says: "empty (0 bytes)"},
		"text":                    {data: []byte("hello"), says: "not a ZIP"},
		"long text":               {data: bytes.Repeat([]byte("hello"), 50_000), says: "not a ZIP"},
		"gzip":                    {data: []byte("\x1f\x8b\x08............................"), says: "a gzip file"},
		"rar":                     {data: []byte("Rar!\x1a\x07............................"), says: "a RAR archive"},
		"tar":                     {data: append(make([]byte, 257), "ustar\x0000 more and more and more"...), says: "a tar archive"},
		"form":                    {data: append([]byte("--boundary\r\n\r\n"), append(bytes.Clone(good), "\r\n--boundary--"...)...), says: "form around it"},
		"cut in a file":           {data: good[:40], says: "cut off"},
		"cut before directory":    {data: good[:directory], says: "cut off"},
		"cut in directory":        {data: good[:directory+60], says: "cut off"},
		"cut in the end":          {data: good[:len(good)-1], says: "cut off"},
		"cut after inner":         {data: nested[:bytes.Index(nested, []byte("PK\x05\x06"))+40], says: "cut off"},
		"cut at the front":        {data: good[10:], says: "lacks its beginning"},
		"directory outside":       {data: patched(good, end+12, le32(1<<30)), says: "outside of the file"},
		"directory offset":        {data: patched(good, end+16, le32(1<<30)), says: "outside of the file"},
		"directory damaged":       {data: patched(good, directory, []byte("XX")), says: "damaged"},
		"split":                   {data: patched(good, end+4, le16(1)), says: "split ZIP"},
		"too many":                {data: build(t, "", many...), says: "more than 1000 entries, the most allowed"},
		"too many, declared":      {data: patched(good, end+8, append(le16(60_000), le16(60_000)...)), says: "60000 entries, at most 1000"},
		"too many, undeclared":    {data: undeclared(t, many[:2], 65536), says: "directory has 3.0 MiB"},
		"too many, zip64":         {data: zip64(good, 1<<40), says: "1099511627776 entries, at most 1000"},
		"zip64 nowhere":           {data: patched(zip64(good, 2), len(zip64(good, 2))-22-12, le64(1<<60)), says: "damaged"},
		"zip64 elsewhere":         {data: patched(zip64(good, 2), len(zip64(good, 2))-22-12, le64(3)), says: "damaged"},
		"more than declared":      {data: patched(good, end+8, append(le16(1), le16(1)...)), says: "damaged"},
		"fewer than declared":     {data: patched(good, end+8, append(le16(3), le16(3)...)), says: "damaged"},
		"two on the same bytes":   {data: patched(good, headers(good)[1]+42, le32(0)), says: "claim the same bytes"},
		"one inside the other":    {data: patched(good, headers(good)[0]+20, le32(60)), says: "claim the same bytes"},
		"end record in a comment": {data: build(t, "PK\x05\x06"+strings.Repeat("\x00", 18)+"x", file{name: "a", data: "x"}), says: "end record"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := archive.Open(source(c.data), limits())
			require.Equal(t, fault.Validation, fault.KindOf(err), err)
			var f *fault.Error
			require.ErrorAs(t, err, &f)
			require.Contains(t, f.Message, c.says)
		})
	}
}

// A directory that says nothing of 65,536 of its entries is as good to archive/zip
// as a true one.
func TestEntriesThatAreNotDeclaredAreCounted(t *testing.T) {
	t.Parallel()
	l := limits()
	l.Entries = 20_000
	_, err := archive.Open(source(undeclared(t, []file{{name: "a", data: "x"}, {name: "b", data: "x"}}, 65536)), l)
	require.ErrorContains(t, err, "more than 20000 entries")
}

func TestAFolderThatHoldsDataIsNoFile(t *testing.T) {
	t.Parallel()
	data := build(t, "", file{name: "folderX", data: "x"})
	a := open(t, patched(data, headers(data)[0]+46+6, []byte("/")))
	require.Equal(t, []string{"folder/"}, names(a))
	require.Contains(t, a.Entries[0].Problem, "empty part")
}

// undeclared repeats the directory until it has n entries more than it says.
func undeclared(t testing.TB, files []file, n int) []byte {
	t.Helper()
	data := build(t, "", files...)
	at, end := headers(data)[0], len(data)-22
	one := data[at:headers(data)[1]]
	directory := append(bytes.Repeat(one, n), data[at:end]...)
	out := append(bytes.Clone(data[:at]), directory...)
	out = append(out, data[end:]...)
	// Limits.room would refuse the true size at once: it lies about that, too.
	return patched(out, len(out)-22+12, le32(uint32(min(len(directory), 200_000))))
}

// zip64 gives the archive a ZIP64 end that declares so many records.
func zip64(data []byte, records uint64) []byte {
	end := len(data) - 22
	le := binary.LittleEndian
	size, offset := le.Uint32(data[end+12:]), le.Uint32(data[end+16:])
	r := append([]byte("PK\x06\x06"), le64(44)...)
	r = append(r, le16(45)...)
	r = append(r, le16(45)...)
	r = append(r, make([]byte, 8)...)
	r = append(r, le64(records)...)
	r = append(r, le64(records)...)
	r = append(r, le64(uint64(size))...)
	r = append(r, le64(uint64(offset))...)
	r = append(r, "PK\x06\x07"...)
	r = append(r, le32(0)...)
	r = append(r, le64(uint64(end))...)
	r = append(r, le32(1)...)
	out := append(bytes.Clone(data[:end]), r...)
	out = append(out, data[end:]...)
	return patched(out, len(out)-22+8, append(append(le16(0xffff), le16(0xffff)...), append(le32(0xffffffff), le32(0xffffffff)...)...))
}

func TestEveryTruncationIsRefused(t *testing.T) {
	t.Parallel()
	whole := build(t, "", file{name: "a.txt", data: "aaaa"}, file{name: "inner.zip", data: string(build(t, "", file{name: "e", data: "x"})), head: stored}, file{name: "b/c.txt", data: "bbbb"})
	for n := range whole {
		a, err := archive.Open(source(whole[:n]), limits())
		if err == nil { // only where the archive inside ends; it is a whole one with something before it
			require.Equal(t, []string{"e"}, names(a), n)
			continue
		}
		require.Equal(t, fault.Validation, fault.KindOf(err), "%d: %v", n, err)
	}
}

func TestUnusualArchivesAreRead(t *testing.T) {
	t.Parallel()
	good := build(t, "", file{name: "a.txt", data: "aaaa"}, file{name: "b.txt", data: "bbbb", head: stored})
	var described bytes.Buffer
	w := zip.NewWriter(&described) // Create writes data descriptors
	for _, name := range []string{"a.txt", "b.txt"} {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(strings.Repeat(name[:1], 4)))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	stub := []byte("#!/bin/sh\nunzip $0\n" + strings.Repeat("x", 100_000))
	shifted := bytes.Clone(good) // offsets that count from the file's beginning
	for _, at := range headers(shifted) {
		shifted = patched(shifted, at+42, le32(binary.LittleEndian.Uint32(shifted[at+42:])+uint32(len(stub))))
	}
	end := len(shifted) - 22
	shifted = patched(shifted, end+16, le32(binary.LittleEndian.Uint32(shifted[end+16:])+uint32(len(stub))))
	for name, data := range map[string][]byte{
		"plain":               good,
		"data descriptors":    described.Bytes(),
		"zip64 end":           zip64(good, 2),
		"comment":             build(t, strings.Repeat("c", 65535), file{name: "a.txt", data: "aaaa"}, file{name: "b.txt", data: "bbbb"}),
		"self-extracting":     append(bytes.Clone(stub), good...),
		"self-extracting too": append(bytes.Clone(stub), shifted...),
		"local names differ":  patched(good, 30, []byte("zzzzz")),
		"extra fields": build(t, "", file{name: "a.txt", data: "aaaa", head: func(h *zip.FileHeader) {
			h.Extra = append(append(le16(0xcafe), le16(100)...), make([]byte, 100)...)
		}}, file{name: "b.txt", data: "bbbb"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, data)
			require.Equal(t, []string{"a.txt", "b.txt"}, names(a))
			for _, e := range a.Entries {
				require.Empty(t, e.Problem)
				got, err := content(t, a, e.Name)
				require.NoError(t, err)
				require.Equal(t, strings.Repeat(e.Name[:1], 4), got)
			}
		})
	}
}

func TestAnEmptyZIPHasNoFiles(t *testing.T) {
	t.Parallel()
	a := open(t, build(t, ""))
	require.Empty(t, a.Entries)
	_, err := a.Find("a")
	require.ErrorContains(t, err, "it holds no files")
}

func TestTheDeclaredTotalIsBounded(t *testing.T) {
	t.Parallel()
	l := limits()
	l.TotalBytes = 10
	_, err := archive.Open(source(build(t, "", file{name: "a", data: "12345"}, file{name: "b", data: "123456"})), l)
	require.ErrorContains(t, err, "more than 10 bytes together")
	require.True(t, fault.Is(err, fault.Validation))
	// What is not usable does not count.
	a, err := archive.Open(source(build(t, "", file{name: "a", data: "12345"}, file{name: "/b", data: "123456"})), l)
	require.NoError(t, err)
	require.Equal(t, int64(5), a.Bytes)
}

func TestFindSaysWhatIsThereInstead(t *testing.T) {
	t.Parallel()
	a := open(t, build(t, "", file{name: "Photo.JPG", data: "x"}, file{name: "in/doc.pdf", data: "x"}, file{name: "in/.DS_Store", data: "x"}))
	for name, says := range map[string]string{
		"photo.jpg":    `, but "Photo.JPG": names must agree exactly`,
		"/Photo.JPG":   `, but "Photo.JPG"`,
		"doc.pdf":      `, but "in/doc.pdf": give the path`,
		"out/doc.PDF":  `, but "in/doc.pdf": give the path`,
		`in\doc.pdf`:   `, but "in/doc.pdf": names must agree`,
		"in":           `is a folder, name a file such as "in/doc.pdf"`,
		"in/":          "is a folder",
		"in/.DS_Store": "are left out",
		"other":        `its files are such as "Photo.JPG"`,
		"\x00\xff":     "its files are such as",
	} {
		_, err := a.Find(name)
		require.True(t, fault.Is(err, fault.Validation), name)
		require.ErrorContains(t, err, says)
	}
	_, err := a.Find(strings.Repeat("long", 100_000))
	require.Less(t, len(err.Error()), 400)
}

func TestErrorsOfTheSourceComeThroughOpen(t *testing.T) {
	t.Parallel()
	away := errors.New("the store is away")
	data := build(t, "", file{name: "a", data: "x"})
	src := source(data)
	src.fails, src.failsAt = away, int64(len(data)-1)
	_, err := archive.Open(src, limits())
	require.Equal(t, away, err)
}
