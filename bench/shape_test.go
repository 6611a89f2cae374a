package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseShapes(t *testing.T) {
	t.Parallel()
	got, err := parseShapes("5000x100KB,50x100MB,2x7B")
	require.NoError(t, err)
	require.Equal(t, []shape{{5000, 100_000}, {50, 100_000_000}, {2, 7}}, got)
	require.Equal(t, "50 x 100 MB", got[1].String())
	require.Equal(t, "2 x 7 B", got[2].String())
	require.EqualValues(t, 500_000_000, got[0].bytes())
	for _, bad := range []string{"", "x", "5x", "x5KB", "0x1KB", "-1x1KB", "5x0KB", "5x1GB", "5x1.5KB", "100001x1B", "5x1KBMB", "5x99999999MB"} {
		_, err := parseShapes(bad)
		require.Error(t, err, bad)
	}
}

func TestFiguresKnowTheirAims(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		figure figure
		value  string
		aim    string
	}{
		{figure{Value: 250.4, Unit: unitMB, Most: 300}, "250 MB", "≤ 300 MB, met"},
		{figure{Value: 299, Unit: unitFiles, Least: 300}, "299 files/s", "≥ 300 files/s, missed"},
		{figure{Value: 0, None: true}, "0", "0, met"},
		{figure{Value: 2, None: true}, "2", "0, missed"},
		{figure{Value: 1.234, Unit: unitSeconds}, "1.23 s", "–"},
	} {
		require.Equal(t, c.value, c.figure.value(c.figure.Value))
		require.Equal(t, c.aim, c.figure.aim())
	}
}
