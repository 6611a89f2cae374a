package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatementsAreToldBelowEachOther(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := &run{stdout: &out}
	require.NoError(t, r.printStatements())
	require.Empty(t, out.String(), "nothing was counted")

	r.statements = []statement{
		{Phase: "1000-tasks-first", Text: "SELECT rare", Calls: 1, Share: toldShare / 2},
		{Phase: "1000-tasks-first", Text: "SELECT list", Calls: 10, Exec: 0.5, Hit: 24, Share: 0.1},
		{Phase: "1000-tasks-first", Text: "SELECT claim", Calls: 10, Share: 0.2},
		{Phase: "5000-tasks-first", Text: "SELECT claim", Calls: 10, Share: 0.2},
		{Phase: "5000-tasks-first", Text: "SELECT list", Calls: 10, Exec: 0.7, Hit: 20, Read: 4.5, Share: 0.4},
	}
	require.NoError(t, r.printStatements())
	text := out.String()
	require.NotContains(t, text, "rare")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.Len(t, lines, 5)
	require.Regexp(t, `^SELECT list +1000-tasks-first`, lines[1])
	require.Regexp(t, `^SELECT list +5000-tasks-first`, lines[2])
	require.Regexp(t, `0\.700 +0\.000 +20\.0 +4\.5 +40 %`, lines[2])
	require.Regexp(t, `^SELECT claim +1000-tasks-first`, lines[3])
}
