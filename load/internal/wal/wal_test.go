package wal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAttribute(t *testing.T) {
	t.Parallel()
	tasks := Relation{Database: "product", Table: "tasks", Name: "tasks"}
	pkey := Relation{Database: "product", Table: "tasks", Name: "tasks_pkey", Index: true}
	files := map[File]Relation{{16384, 1}: tasks, {16384, 2}: pkey}
	got := Attribute([]Record{
		{Xid: 7, Manager: "Heap", Length: 8100, Images: 8000, Blocks: "blkref #0: rel 1663/16384/1 fork main blk 0 (FPW)"},
		{Xid: 7, Manager: "Btree", Length: 64, Blocks: "blkref #0: rel 1663/16384/2 fork main blk 3"},
		{Xid: 7, Manager: "Btree", Length: 64, Blocks: "blkref #0: rel 1663/16384/2 fork main blk 4"},
		{Xid: 7, Manager: "Transaction", Length: 34},
		{Xid: 8, Manager: "Heap", Length: 50, Blocks: "blkref #0: rel 1663/99/1 fork main blk 0"},
		{Manager: "XLOG", Length: 30},
	}, map[int64]string{16384: "product", 99: "temporal"}, files)
	require.Equal(t, []Share{
		{Relation: pkey, Records: 2, Bytes: 128},
		{Relation: tasks, Records: 1, Bytes: 100, Pages: 8000},
		{Relation: Relation{Database: "temporal", Name: "Heap"}, Records: 1, Bytes: 50},
		{Relation: Relation{Database: "product", Name: "Transaction"}, Records: 1, Bytes: 34},
		{Relation: Relation{Name: "XLOG"}, Records: 1, Bytes: 30},
	}, got)
	total := Total(got, func(s Share) bool { return s.Database == "product" })
	require.InDelta(t, 262, total.Bytes, 0)
	require.InDelta(t, 8000, total.Pages, 0)
}
