package archive

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// named is a file with the key under which it could be mixed up with another, or
// a folder: its key ends in "/".
type named struct {
	key   string
	entry *Entry
}

// markTwins refuses all files whose names are one after normalization and case
// folding, and files that are also used as folders: which is meant cannot be
// told, and the next system may keep only one of them.
func markTwins(names []named) {
	slices.SortFunc(names, func(x, y named) int { return cmp.Compare(x.key, y.key) })
	for i := 0; i < len(names); {
		end := i + 1
		for end < len(names) && names[end].key == names[i].key {
			end++
		}
		if names[i].entry != nil {
			markEqual(names[i:end])
			markFolder(names[i:end], names)
		}
		i = end
	}
}

func markEqual(same []named) {
	if len(same) < 2 {
		return
	}
	for i, n := range same {
		other := same[0].entry
		if i == 0 {
			other = same[1].entry
		}
		if other.Name == n.entry.Name {
			n.entry.refuse("is in the archive more than once (in Unicode's normal form): keep one of them")
			continue
		}
		n.entry.refuse("differs only by case from " + quote(other.Name) + ": rename one of them")
	}
}

// markFolder looks for what lies in a folder of the files' name.
func markFolder(same, all []named) {
	prefix := same[0].key + "/"
	i := sort.Search(len(all), func(i int) bool { return all[i].key >= prefix })
	if i == len(all) || !strings.HasPrefix(all[i].key, prefix) {
		return
	}
	for _, n := range same {
		n.entry.refuse("is a file and a folder at once: rename one of them")
	}
	for ; i < len(all) && strings.HasPrefix(all[i].key, prefix); i++ {
		if inside := all[i].entry; inside != nil {
			inside.refuse("lies in a folder that is also a file, " + quote(same[0].entry.Name) + ": rename one of them")
		}
	}
}

// tellApart numbers names that cannot be used where they are shown like another one:
// names make rows, and a file that shares its name would be in none. Numbers only grow,
// so that it ends, whatever the other names are.
func tellApart(all, misnamed []*Entry, most int) {
	if len(misnamed) == 0 {
		return
	}
	shown := make(map[string]int, len(all))
	for _, e := range all {
		shown[e.Name]++
	}
	numbered := make(map[string]int) // the last number of a name
	for _, e := range misnamed {
		for name := e.Name; shown[e.Name] > 1; {
			shown[e.Name]--
			numbered[name] = max(numbered[name], 1) + 1
			number := fmt.Sprintf(" (%d)", numbered[name])
			e.Name = clean(name, most-len(number)) + number
			shown[e.Name]++
		}
	}
}
