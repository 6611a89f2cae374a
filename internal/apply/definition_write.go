package apply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// WriteDefinition writes a definition as YAML for people to read and change.
// ReadDefinition gives it back as it was.
func WriteDefinition(d pipeline.Definition) ([]byte, error) {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encode definition: %w", err)
	}
	t, err := readJSON(doc.Bytes())
	if err != nil {
		return nil, err
	}
	for _, n := range t.list("nodes") {
		for i, key := range n.keys {
			if key == "lease" || key == "sla" || key == "reserve" {
				n.items[i].text = shortSpan(n.items[i].text)
			}
		}
	}
	w := yamlWriter{}
	w.object(t, 0, false)
	return w.out.Bytes(), nil
}

// shortSpan writes a time span without the zeros behind it: 30m, not 30m0s.
func shortSpan(s string) string {
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Filename names the file of an export: the pipeline's name in letters,
// digits and hyphens, and the version unless it is the draft.
func Filename(name string, version int) string {
	slug := strings.Trim(unsafeName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if slug = cutRunes(slug, 80); slug == "" {
		slug = "pipeline"
	}
	if version > 0 {
		slug = fmt.Sprintf("%s-v%d", slug, version)
	}
	return slug + ".yaml"
}

var unsafeName = regexp.MustCompile(`[^\p{L}\p{N}]+`)

func cutRunes(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

// yamlWriter writes a small part of YAML: block lists and objects, and texts
// that are plain where nothing can be mistaken, blocks where they have lines,
// and quoted as in JSON otherwise.
type yamlWriter struct{ out bytes.Buffer }

// indent begins a line.
func (w *yamlWriter) indent(depth int) { w.out.WriteString(strings.Repeat("  ", depth)) }

// object writes the keys of an object, each on a line. inline says that the
// first one goes on the line that is there already.
func (w *yamlWriter) object(t tree, depth int, inline bool) {
	for i, key := range t.keys {
		if i > 0 || !inline {
			w.indent(depth)
		}
		w.out.WriteString(scalarText(key) + ":")
		w.after(t.items[i], depth)
	}
}

// after writes a value behind its key.
func (w *yamlWriter) after(t tree, depth int) {
	switch {
	case t.kind == object && len(t.keys) > 0:
		w.out.WriteByte('\n')
		w.object(t, depth+1, false)
	case t.kind == list && len(t.items) > 0:
		w.out.WriteByte('\n')
		w.list(t, depth+1)
	default:
		w.out.WriteByte(' ')
		w.leaf(t, depth)
	}
}

func (w *yamlWriter) list(t tree, depth int) {
	for _, item := range t.items {
		w.indent(depth)
		w.out.WriteString("- ")
		switch {
		case item.kind == object && len(item.keys) > 0:
			w.object(item, depth+1, true)
		case item.kind == list && len(item.items) > 0:
			// A list in a list is written as in JSON, which is YAML too.
			w.out.Write(escaped(item.appendJSON(nil)))
			w.out.WriteByte('\n')
		default:
			w.leaf(item, depth)
		}
	}
}

// leaf writes what holds nothing more, and ends the line.
func (w *yamlWriter) leaf(t tree, depth int) {
	if t.kind != text {
		w.out.Write(t.appendJSON(nil))
		w.out.WriteByte('\n')
		return
	}
	if !asBlock(t.text) {
		w.out.WriteString(scalarText(t.text) + "\n")
		return
	}
	body, ends := strings.CutSuffix(t.text, "\n")
	w.out.WriteString("|")
	if !ends {
		w.out.WriteByte('-')
	}
	w.out.WriteByte('\n')
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			w.indent(depth + 1)
		}
		w.out.WriteString(line + "\n")
	}
}

// asBlock reports whether a text of several lines reads well, and safely, as a
// block: it begins and ends with something, and no line with spaces.
func asBlock(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasPrefix(body, "\n") || strings.HasSuffix(body, "\n") {
		return false
	}
	for i, line := range strings.Split(body, "\n") {
		if strings.TrimRightFunc(line, unicode.IsSpace) != line || strings.HasPrefix(line, "\t") ||
			i == 0 && strings.HasPrefix(line, " ") || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "...") {
			return false
		}
		for _, r := range line {
			if r != '\t' && !unicode.IsPrint(r) {
				return false
			}
		}
	}
	return true
}

// plain are texts that mean nothing else in YAML: words that begin with a
// letter, and time spans.
var plain = regexp.MustCompile(`^(\p{L}[\p{L}\p{N} _./()-]*|[0-9]+[hms]([0-9]+[ms])*)$`)

// words are read as something else than text by some readers.
var words = map[string]bool{
	"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
	"nan": true, "inf": true, "infinity": true,
}

func scalarText(s string) string {
	if plain.MatchString(s) && !strings.HasSuffix(s, " ") && !words[strings.ToLower(s)] {
		return s
	}
	return string(escaped(appendQuoted(nil, s)))
}

// escaped writes what cannot be seen in JSON's texts as escapes: some of it is
// an end of line to readers of YAML, and some is refused by them. Beyond 16 bits
// YAML and JSON escape differently, and nothing needs it.
func escaped(quoted []byte) []byte {
	var b []byte
	for _, r := range string(quoted) {
		if r <= 0xffff && !unicode.IsPrint(r) {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// appendQuoted quotes as JSON does, but keeps <, > and & readable.
func appendQuoted(b []byte, s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return append(b, `""`...) // a string always can be
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...)
}
