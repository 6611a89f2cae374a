package archive

import (
	"cmp"
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
