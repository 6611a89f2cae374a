package apply

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/taskloom/taskloom/internal/fault"
)

// decoder fills Go values from a tree by their json tags, as encoding/json
// does, but goes on after a problem and knows its place. Keys must match
// exactly; unknown and repeated ones are problems. Nothing (null) is the same
// as an absent key.
type decoder struct {
	problems []fault.Problem
	// lines are where in the document the problems are, beside them; 0 when
	// unknown.
	lines []int
	// most bounds how many problems are kept, and room how many bytes the items
	// of lists may take, which have taken some.
	most, room, taken int
}

var (
	rawType       = reflect.TypeFor[json.RawMessage]()
	secretType    = reflect.TypeFor[Secret]()
	rowType       = reflect.TypeFor[Row]()
	unmarshalType = reflect.TypeFor[json.Unmarshaler]()
)

func (d *decoder) add(path string, line int, format string, args ...any) {
	if len(d.problems) >= d.most {
		return
	}
	d.lines = append(d.lines, line)
	d.problems = append(d.problems, fault.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (d *decoder) decode(path string, t tree, into reflect.Value) {
	if into.Type() == rawType {
		into.SetBytes(t.appendJSON(nil))
		return
	}
	if t.kind == null {
		return
	}
	switch {
	case into.Type() == rowType:
		d.row(path, t, into)
	case reflect.PointerTo(into.Type()).Implements(unmarshalType) && !(t.kind == object && into.Kind() == reflect.Struct):
		d.custom(path, t, into)
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.decode(path, t, into.Elem())
	case into.Kind() == reflect.Struct:
		d.object(path, t, into)
	case into.Kind() == reflect.Slice:
		d.list(path, t, into)
	default:
		d.scalar(path, t, into)
	}
}

// storable tells of texts that Postgres cannot hold.
func (d *decoder) storable(path string, t tree) {
	at := []byte(path)
	d.storableAt(&at, t)
}

// storableAt has one path that it changes on its way, for there are many more
// places than problems.
func (d *decoder) storableAt(path *[]byte, t tree) {
	if unstorable(t.text) {
		d.add(string(*path), t.line, "the text holds a NUL or broken character, which cannot be stored")
	}
	here := len(*path)
	for i, item := range t.items {
		if t.kind == object {
			*path = appendKey(*path, t.keys[i])
			if unstorable(t.keys[i]) {
				d.add(string(*path), item.line, "the key holds a NUL or broken character, which cannot be stored")
			}
		} else {
			*path = appendIndex(*path, i)
		}
		d.storableAt(path, item)
		*path = (*path)[:here]
	}
}

func unstorable(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }

// custom lets a type read itself: a time span, an option written as a word.
func (d *decoder) custom(path string, t tree, into reflect.Value) {
	read := into.Addr().Interface().(json.Unmarshaler)
	if err := read.UnmarshalJSON(t.appendJSON(nil)); err != nil {
		d.add(path, t.line, "%s", err)
	}
}

func (d *decoder) row(path string, t tree, into reflect.Value) {
	if !d.expect(path, t, object) {
		return
	}
	d.repeated(path, t)
	into.Set(reflect.ValueOf(Row{Columns: t.keys, Data: t.appendJSON(nil)}))
}

func (d *decoder) list(path string, t tree, into reflect.Value) {
	if !d.expect(path, t, list) {
		return
	}
	d.taken += len(t.items) * int(into.Type().Elem().Size())
	if d.taken > d.room {
		d.add(path, t.line, "the lists have too many items together, aliases written out")
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(t.items), len(t.items)))
	for i, item := range t.items {
		d.decode(path+"["+strconv.Itoa(i)+"]", item, into.Index(i))
	}
}

func (d *decoder) object(path string, t tree, into reflect.Value) {
	if !d.expect(path, t, object) {
		return
	}
	d.repeated(path, t)
	fields := fieldsOf(into.Type())
	for i, key := range t.keys {
		at, known := fields.index[key]
		if !known {
			d.add(join(path, key), t.items[i].line, "unknown key; known here: %s", strings.Join(fields.names, ", "))
			continue
		}
		d.decode(join(path, key), t.items[i], into.Field(at))
	}
}

// repeated tells of keys that are given more than once, and where they come
// again.
func (d *decoder) repeated(path string, t tree) {
	lines := make(map[string]int, len(t.keys))
	for i, key := range t.keys {
		lines[key] = t.items[i].line
	}
	if len(lines) == len(t.keys) {
		return
	}
	times := make(map[string]int, len(lines))
	for _, key := range t.keys {
		if times[key]++; times[key] == 2 {
			d.add(join(path, key), lines[key], "the key is given more than once")
		}
	}
}

func (d *decoder) scalar(path string, t tree, into reflect.Value) {
	switch into.Kind() {
	case reflect.String:
		if into.Type() == secretType && t.kind != text {
			d.add(path, t.line, "expected text; put it in quotes") // without repeating it
			return
		}
		if d.expect(path, t, text) {
			into.SetString(t.text)
		}
	case reflect.Bool:
		if d.expect(path, t, boolean) {
			into.SetBool(t.text == "true")
		}
	case reflect.Int, reflect.Int64:
		if d.expect(path, t, number) {
			n, err := strconv.ParseInt(t.text, 10, into.Type().Bits())
			if err != nil {
				d.add(path, t.line, "expected a whole number, got %s", short(t.text))
			}
			into.SetInt(n)
		}
	case reflect.Float64:
		if d.expect(path, t, number) {
			f, err := strconv.ParseFloat(t.text, 64)
			if err != nil {
				d.add(path, t.line, "the number %s is out of range", short(t.text))
			}
			into.SetFloat(f)
		}
	default:
		// A type that a definition newly uses: read it as encoding/json does.
		if err := json.Unmarshal(t.appendJSON(nil), into.Addr().Interface()); err != nil {
			d.add(path, t.line, "%s", err)
		}
	}
}

func (d *decoder) expect(path string, t tree, want kind) bool {
	if t.kind == want {
		return true
	}
	switch {
	case want == text && (t.kind == number || t.kind == boolean):
		d.add(path, t.line, "expected text, got %s; put it in quotes", short(t.text))
	case t.kind == text:
		d.add(path, t.line, "expected %s, got the text %q", want, short(t.text))
	default:
		d.add(path, t.line, "expected %s, got %s", want, t.kind)
	}
	return false
}

// fields are the keys of a struct.
type fields struct {
	names []string
	index map[string]int
}

func fieldsOf(t reflect.Type) fields {
	f := fields{index: map[string]int{}}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if !t.Field(i).IsExported() || name == "" || name == "-" {
			continue
		}
		f.names = append(f.names, name)
		f.index[name] = i
	}
	return f
}

func join(path, key string) string { return string(appendKey([]byte(path), key)) }

func appendKey(path []byte, key string) []byte {
	if key == "" || strings.ContainsAny(key, ".[]\" \n") {
		key = short(strconv.Quote(key))
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, short(key)...)
}

func appendIndex(path []byte, i int) []byte {
	path = strconv.AppendInt(append(path, '['), int64(i), 10)
	return append(path, ']')
}

// short bounds what a message repeats of the document.
func short(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
