package docs_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// block is a fenced part of a page.
type block struct {
	section, lang, text string
}

// blocks reads the fenced parts of a page; only those of a section when one is
// named.
func blocks(t *testing.T, path, section string) (found []block) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var b *block
	at := ""
	for line := range strings.Lines(string(raw)) {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && b == nil:
			b = &block{section: at, lang: fence}
		case isFence:
			if section == "" || section == at {
				found = append(found, *b)
			}
			b = nil
		case b != nil:
			b.text += line
		case strings.HasPrefix(line, "## "):
			at = strings.TrimSpace(line[3:])
		}
	}
	require.NotEmpty(t, found, "%s has no commands under %q", path, section)
	return found
}

// reader is somebody who types in what a page shows, in one shell.
type reader struct {
	dir  string
	env  []string
	last string // what the last command printed
}

// followPage runs the commands of a page and holds what they print against what
// the page says that they print.
func followPage(t *testing.T, dir, path, section string) {
	t.Helper()
	r := &reader{dir: dir, env: os.Environ()}
	all := blocks(t, path, section)
	for i, b := range all {
		if b.lang != "sh" {
			continue
		}
		r.run(t, b.text)
		if i+1 == len(all) || all[i+1].lang == "sh" {
			continue
		}
		shown := all[i+1]
		differs := func() string { return difference(shown, r.last) }
		// What only looks may need a while until it sees what is shown.
		if !regexp.MustCompile(` -(d|T|X) |apply`).MatchString(b.text) {
			for deadline := time.Now().Add(30 * time.Second); differs() != "" && time.Now().Before(deadline); {
				<-time.After(200 * time.Millisecond)
				r.run(t, b.text)
			}
		}
		require.Empty(t, differs(), "%s\nprints\n%s\nbut the page shows\n%s", b.text, r.last, shown.text)
	}
}

// given is a line by which a reader puts in what was printed before:
// TASK_ID=1    # from task_ids.
var given = regexp.MustCompile(`(?m)^(?:export )?([A-Z_]+)=(?:\S+|'[^']*') +# from (.+)$`)

// run runs commands in the environment that the ones before left.
func (r *reader) run(t *testing.T, script string) {
	t.Helper()
	for _, m := range given.FindAllStringSubmatch(script, -1) {
		// A repeated command has its variables already.
		if v, ok := pick(r.last, m[2]); ok {
			r.env = append(r.env, m[1]+"="+v)
		}
	}
	script = given.ReplaceAllString(script, "")
	after, before, err := os.Pipe()
	require.NoError(t, err)
	defer after.Close()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script+"\nenv -0 >&3")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = r.dir, r.env, []*os.File{before}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	require.NoError(t, before.Close())
	left, err := io.ReadAll(after)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "%s\n%s%s", script, &stdout, &stderr)
	r.env = strings.Split(strings.TrimSuffix(string(left), "\x00"), "\x00")
	if stdout.Len() > 0 {
		r.last = strings.ReplaceAll(stdout.String(), "\r", "")
	}
}

// pick finds what a label means in an answer: a property of JSON (the first
// element of a list), a header, or the key or number in a line of text.
func pick(answer, label string) (string, bool) {
	var doc map[string]any
	d := json.NewDecoder(strings.NewReader(answer))
	d.UseNumber()
	if d.Decode(&doc) == nil {
		v := doc[label]
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		switch v := v.(type) {
		case string:
			return v, true
		case json.Number:
			return v.String(), true
		}
		return "", false
	}
	lines := bufio.NewScanner(strings.NewReader(answer))
	for lines.Scan() {
		line := lines.Text()
		if v, ok := strings.CutPrefix(line, label+": "); ok {
			return v, true
		}
		if strings.Contains(line, label) {
			if v := regexp.MustCompile(`pk_live_[0-9a-f]{40}|\b\d+\b`).FindString(line); v != "" {
				return v, true
			}
		}
	}
	return "", false
}
