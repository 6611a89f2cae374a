package archive

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// hints find what a caller may have meant; made on the first miss.
type hints struct {
	byFold map[string]*Entry // another case
	byBase map[string]*Entry // another folder
}

func (a *Archive) index() *hints {
	h := &hints{byFold: make(map[string]*Entry, len(a.Entries)), byBase: make(map[string]*Entry, len(a.Entries))}
	for _, e := range a.Entries {
		key := fold(e.Name)
		h.byFold[key] = cmp.Or(h.byFold[key], e)
		h.byBase[path.Base(key)] = cmp.Or(h.byBase[path.Base(key)], e)
	}
	return h
}

// Find returns the entry of that name, whether or not it can be used. Names are
// compared exactly, in NFC. When there is none, it is fault.Validation that says
// what is there instead.
func (a *Archive) Find(name string) (*Entry, error) {
	path := strings.TrimPrefix(norm.NFC.String(name), "./")
	if e := a.at(path); e != nil && e.Name == path {
		return e, nil
	}
	return nil, refuse("the archive has no file %s%s", quote(escape(name)), a.hint(path))
}

// at returns the first entry whose name is not before name.
func (a *Archive) at(name string) *Entry {
	i, _ := slices.BinarySearchFunc(a.Entries, name, func(e *Entry, name string) int { return cmp.Compare(e.Name, name) })
	if i == len(a.Entries) {
		return nil
	}
	return a.Entries[i]
}

func (a *Archive) hint(name string) string {
	if len(a.Entries) == 0 {
		return ": it holds no files"
	}
	prefix := strings.TrimSuffix(name, "/") + "/"
	if e := a.at(prefix); e != nil && strings.HasPrefix(e.Name, prefix) {
		return ": that is a folder, name a file such as " + quote(e.Name)
	}
	if litter(name) != "" {
		return ": files that systems add are left out"
	}
	h, key := a.hints(), fold(strings.ReplaceAll(name, `\`, "/"))
	if e := h.byFold[strings.TrimPrefix(key, "/")]; e != nil {
		return ", but " + quote(e.Name) + ": names must agree exactly"
	}
	if e := h.byBase[path.Base(key)]; e != nil {
		return ", but " + quote(e.Name) + ": give the path inside of the archive, with its folders"
	}
	return fmt.Sprintf("; its files are such as %s", quote(a.Entries[0].Name))
}
