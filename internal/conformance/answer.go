package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// answer is what came back.
type answer struct {
	Method, URL, Path string
	Status            int
	Header            http.Header
	Raw               []byte
	// keyed says that the request carried a key.
	keyed bool
}

// shownBytes is how much of an answer a report shows.
const shownBytes = 300

func (a *answer) exchange() *Exchange {
	shown := a.Raw
	if len(shown) > shownBytes {
		shown = shown[:shownBytes]
		for len(shown) > 0 && !utf8.Valid(shown) && len(shown) > shownBytes-utf8.UTFMax {
			shown = shown[:len(shown)-1]
		}
	}
	return &Exchange{
		Request: a.Method + " " + shortURL(a.URL), Status: a.Status, RequestID: a.Header.Get("X-Request-Id"),
		Body: strings.ToValidUTF8(string(shown), "\uFFFD"),
	}
}

// shortURL keeps signatures and endless cursors out of reports.
func shortURL(u string) string {
	if public, _, signed := strings.Cut(u, "X-Amz-"); signed {
		return public + "…"
	}
	if len(u) > shownBytes {
		return u[:shownBytes] + "…"
	}
	return u
}

// decode reads the body; numbers keep their spelling, so that 1 and 1.5 can be
// told apart.
func (a *answer) decode() (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(a.Raw))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

// object returns the body, which must be a JSON object.
func (a *answer) object(c *C) map[string]any {
	v, err := a.decode()
	if err != nil {
		c.fail(a, "a JSON object", "a body that is none: %s", err)
	}
	return v
}

func (a *answer) json() bool {
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// kind is a type of a field, in words.
type kind string

const (
	text       kind = "a string"
	textOrNull kind = "a string or null"
	textOrList kind = "a string or a list"
	integer    kind = "an integer"
	boolean    kind = "true or false"
	array      kind = "an array"
	object     kind = "an object"
	timestamp  kind = "an ISO 8601 timestamp in UTC"
	aUUID      kind = "a UUID"
)

var (
	uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	utcForm  = regexp.MustCompile(`(Z|\+00:00)$`)
)

// fits reports whether a decoded value is of the kind.
func (k kind) fits(v any) bool {
	s, isText := v.(string)
	_, isList := v.([]any)
	switch k {
	case text:
		return isText
	case textOrNull:
		return isText || v == nil
	case textOrList:
		return isText || isList
	case array:
		return isList
	case integer:
		n, ok := v.(json.Number)
		_, err := n.Int64()
		return ok && err == nil
	case boolean:
		_, ok := v.(bool)
		return ok
	case object:
		_, ok := v.(map[string]any)
		return ok
	case timestamp:
		_, err := time.Parse(time.RFC3339Nano, s)
		return isText && err == nil && utcForm.MatchString(s)
	case aUUID:
		return isText && uuidForm.MatchString(s)
	}
	return false
}

// has ends the check unless the object has the field, of the kind.
func (c *C) has(a *answer, where string, v map[string]any, name string, k kind) {
	value, there := v[name]
	if where != "" {
		name = where + "." + name
	}
	switch {
	case !there:
		c.fail(a, fmt.Sprintf("%s, %s", name, k), "no %s", name)
	case !k.fits(value):
		c.fail(a, fmt.Sprintf("%s, %s", name, k), "%s = %s", name, show(value))
	}
}

// show writes a decoded value for people.
func show(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(doc) > shownBytes {
		return string(doc[:shownBytes]) + "…"
	}
	return string(doc)
}

// number returns an integer of a decoded object, -1 when it is none.
func number(v any) int64 {
	n, _ := v.(json.Number)
	i, err := n.Int64()
	if err != nil {
		return -1
	}
	return i
}

func numbers(v any) []int64 {
	list, _ := v.([]any)
	out := make([]int64, len(list))
	for i, n := range list {
		out[i] = number(n)
	}
	return out
}

// objects returns the objects of a list; what is no object becomes an empty one.
func objects(v any) []map[string]any {
	list, _ := v.([]any)
	out := make([]map[string]any, len(list))
	for i, item := range list {
		out[i], _ = item.(map[string]any)
	}
	return out
}

func keys(v map[string]any) []string {
	var names []string
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
