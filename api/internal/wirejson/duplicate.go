package wirejson

import (
	"bytes"
	"slices"
)

// Duplicate returns a key that an object inside the value, at whatever depth,
// has more than once. One pass, however deep the value is.
func Duplicate(value []byte) (key string, found bool) {
	if bytes.IndexByte(value, '{') < 0 {
		return "", false
	}
	w := walker{data: value}
	w.space()
	return w.duplicate()
}

// duplicate steps over one value as value does, and stops at a key that its
// object has already.
func (w *walker) duplicate() (key string, found bool) {
	switch w.data[w.pos] {
	case '"':
		w.text()
	case '{':
		return w.duplicateKey()
	case '[':
		w.pos++
		for {
			w.space()
			if w.data[w.pos] == ']' {
				w.pos++
				return "", false
			}
			if key, found = w.duplicate(); found {
				return key, true
			}
			w.comma()
		}
	default:
		w.literal()
	}
	return "", false
}

func (w *walker) duplicateKey() (key string, found bool) {
	var few [8]string
	seen := keys{few: few[:0]}
	w.pos++
	for {
		w.space()
		if w.data[w.pos] == '}' {
			w.pos++
			return "", false
		}
		from := w.pos
		w.text()
		k := decodeKey(w.data[from:w.pos])
		if !seen.add(k) {
			return k, true
		}
		w.space()
		w.pos++ // :
		w.space()
		if key, found = w.duplicate(); found {
			return key, true
		}
		w.comma()
	}
}

// keys is a set that needs no map while it is small, as most objects are.
type keys struct {
	few  []string
	many map[string]struct{}
}

// add reports whether the key is new.
func (k *keys) add(key string) bool {
	if k.many != nil {
		_, known := k.many[key]
		k.many[key] = struct{}{}
		return !known
	}
	if slices.Contains(k.few, key) {
		return false
	}
	if len(k.few) < cap(k.few) {
		k.few = append(k.few, key)
		return true
	}
	k.many = make(map[string]struct{}, 4*len(k.few))
	for _, s := range k.few {
		k.many[s] = struct{}{}
	}
	k.many[key] = struct{}{}
	return true
}
