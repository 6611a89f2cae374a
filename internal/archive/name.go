package archive

import (
	"archive/zip"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxShown is the number of a name's characters that a message repeats.
const maxShown = 200

// maxNameChars is the longest name that a stored file can have, as file systems
// have it, too.
const maxNameChars = 255

// hosts of `version made by` (APPNOTE 4.4.2) whose tools write UTF-8 without the
// flag that says so: the Archive Utility of macOS does.
const (
	hostUnix  = 3
	hostMacOS = 19
)

// readName returns the name of an entry as it is shown, and why it cannot be
// used: a clause that follows the quoted name.
func readName(f *zip.File, l *Limits) (name, wrong string) {
	name = strings.TrimPrefix(f.Name, "./")
	wrong = encoding(f)
	if wrong == "" {
		name = norm.NFC.String(name)
		wrong = judgeName(name, l)
	}
	if wrong != "" {
		name = clean(name, l.NameBytes)
	}
	return name, wrong
}

func encoding(f *zip.File) string {
	const flagged = 0x800
	host := f.CreatorVersion >> 8
	trusted := f.Flags&flagged != 0 || host == hostUnix || host == hostMacOS || ascii(f.Name)
	if !trusted || !utf8.ValidString(f.Name) {
		return "has a name in an encoding that is not UTF-8, so its letters can only be guessed: rename it to plain letters, or use a tool that writes UTF-8 names"
	}
	return ""
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func judgeName(name string, l *Limits) string {
	const pack = ": pack files by their paths inside of the folder"
	parts := strings.Split(name, "/")
	switch {
	case name == "":
		return "has no name: make the archive anew"
	case strings.ContainsFunc(name, control):
		return "has control characters in its name: rename it"
	case strings.ContainsFunc(name, bidi):
		return "has characters in its name that change the direction of writing, which can disguise it: rename it"
	case strings.HasPrefix(name, "/"):
		return "has an absolute path" + pack
	case len(name) > 1 && name[1] == ':' && letter(name[0]):
		return "has a path with a drive letter" + pack
	case strings.Contains(name, `\`):
		return `has a backslash in its path: use a tool that writes "/" between folders, as the ZIP format demands`
	case slices.Contains(parts, ".."):
		return `has ".." in its path, which leads out of the archive` + pack
	case slices.Contains(parts, ""), slices.Contains(parts, "."):
		return "has an empty part in its path" + pack
	case len(name) > l.NameBytes:
		return fmt.Sprintf("has a path of %d bytes, at most %d allowed: shorten it", len(name), l.NameBytes)
	case strings.TrimSpace(parts[len(parts)-1]) == "":
		return "has a name of spaces only: rename it"
	case utf8.RuneCountInString(parts[len(parts)-1]) > maxNameChars:
		return fmt.Sprintf("has a name of more than %d characters: shorten it", maxNameChars)
	case len(parts)-1 > l.Depth:
		return fmt.Sprintf("lies in %d nested folders, at most %d allowed: move it up", len(parts)-1, l.Depth)
	}
	return ""
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// control tells the characters that would break a line or a terminal; U+0000
// among them, which Postgres cannot keep.
func control(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

func bidi(r rune) bool { return r > unicode.MaxLatin1 && unicode.Is(unicode.Bidi_Control, r) }

// clean makes a name that cannot be used safe to show, in so many bytes at most.
func clean(name string, most int) string {
	const more = "…"
	name = norm.NFC.String(escape(name))
	if len(name) <= most {
		return name
	}
	cut := max(0, most-len(more))
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + more
}

// escape writes the bytes of what cannot be shown as %XX, one by one, so that names
// in an unknown encoding do not all look the same.
func escape(name string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for name != "" {
		r, size := utf8.DecodeRuneInString(name)
		if r == utf8.RuneError && size == 1 || control(r) || bidi(r) {
			for _, c := range []byte(name[:size]) {
				b.WriteByte('%')
				b.WriteByte(hex[c>>4])
				b.WriteByte(hex[c&15])
			}
		} else {
			b.WriteString(name[:size])
		}
		name = name[size:]
	}
	return b.String()
}

// quote shows a name in a message, shortened.
func quote(name string) string {
	n := 0
	for i := range name {
		if n++; n > maxShown {
			return strconv.Quote(name[:i] + "…")
		}
	}
	return strconv.Quote(name)
}

// fold maps names that a file system could take for one another to one key: it
// ignores case, by simple folding only, so that "Maße" and "Masse" stay two.
func fold(name string) string {
	if ascii(name) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(strings.Map(foldRune, name))
}

// foldRune returns one rune of those that differ only by case: the smallest, or
// its lower case in ASCII.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least >= 'A' && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}
