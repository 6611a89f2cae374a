// Package wal tells what a stretch of Postgres's log was written for: which
// database, and which table or index.
package wal

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
)

// Record is one record, as pg_walinspect gives it.
type Record struct {
	Xid     int64
	Manager string // resource manager: Heap, Btree, Transaction, …
	Length  int64  // all of it
	Images  int64  // of that, whole pages: the first change of each after a checkpoint
	Blocks  string // "blkref #0: rel 1663/16384/16396 fork main blk 0"
}

// File is where a relation lies.
type File struct{ Database, Node int64 }

// Relation is a table, an index, or what belongs to them.
type Relation struct {
	Database string `json:"database"`
	Table    string `json:"table"`
	Name     string `json:"name"`
	Index    bool   `json:"index"`
}

// Share is what was written for a relation.
type Share struct {
	Relation

	Records float64 `json:"records"`
	// Bytes are without whole pages, which depend on when checkpoints are.
	Bytes float64 `json:"bytes"`
	Pages float64 `json:"page_bytes"`
}

var block = regexp.MustCompile(`rel \d+/(\d+)/(\d+)`)

// Attribute adds records up by relation, the largest first. What changes no
// relation, such as a commit, goes to the database that its transaction wrote
// to; what belongs to no transaction goes to "".
func Attribute(records []Record, databases map[int64]string, files map[File]Relation) []Share {
	home := map[int64]int64{}
	places := make([]File, len(records))
	for i, r := range records {
		m := block.FindStringSubmatch(r.Blocks)
		if m == nil {
			continue
		}
		places[i].Database, _ = strconv.ParseInt(m[1], 10, 64) // digits
		places[i].Node, _ = strconv.ParseInt(m[2], 10, 64)     // digits
		if r.Xid != 0 && places[i].Database != 0 {
			home[r.Xid] = places[i].Database
		}
	}
	sums := map[Relation]*Share{}
	for i, r := range records {
		at := places[i]
		rel, known := files[at]
		if !known {
			if at.Database == 0 {
				at.Database = home[r.Xid]
			}
			rel = Relation{Database: databases[at.Database], Name: r.Manager}
		}
		if sums[rel] == nil {
			sums[rel] = &Share{Relation: rel}
		}
		s := sums[rel]
		s.Records++
		s.Bytes += float64(r.Length - r.Images)
		s.Pages += float64(r.Images)
	}
	out := make([]Share, 0, len(sums))
	for _, s := range sums {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Database, b.Database))
	})
	return out
}

// Total adds up what a rule takes.
func Total(all []Share, take func(Share) bool) (sum Share) {
	for _, s := range all {
		if take(s) {
			sum.Records += s.Records
			sum.Bytes += s.Bytes
			sum.Pages += s.Pages
		}
	}
	return sum
}
