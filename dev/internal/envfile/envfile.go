// Package envfile reads and writes files of NAME=value lines that both a shell
// (`set -a; . file`) and a simple line parser understand.
package envfile

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Var is one variable.
type Var struct{ Name, Value string }

// String is the variable as os/exec wants it.
func (v Var) String() string { return v.Name + "=" + v.Value }

// Format renders the variables as lines. Values are quoted only when a shell
// would read them differently otherwise.
func Format(vars []Var) string {
	var out strings.Builder
	for _, v := range vars {
		fmt.Fprintf(&out, "%s=%s\n", v.Name, quote(v.Value))
	}
	return out.String()
}

// plain are the characters, beside letters and digits, that a shell takes as
// they are on the right side of an assignment.
const plain = "_./:@%+=,?-"

func quote(value string) string {
	special := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(plain, r)
	}
	if !strings.ContainsFunc(value, special) {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

func unquote(value string) string {
	if len(value) < 2 || !strings.HasPrefix(value, "'") || !strings.HasSuffix(value, "'") {
		return value
	}
	return strings.ReplaceAll(value[1:len(value)-1], `'\''`, "'")
}

// Parse reads what Format writes; comments, blank lines and `export` are fine.
func Parse(text string) map[string]string {
	vars := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export ")
		name, value, ok := strings.Cut(line, "=")
		if ok && name != "" && !strings.HasPrefix(name, "#") {
			vars[name] = unquote(value)
		}
	}
	return vars
}

// Write replaces the file in one step. It holds secrets, so only its owner may
// read it.
func Write(path string, vars []Var) error {
	next, err := os.CreateTemp(filepath.Dir(path), ".env-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(next.Name())
	if _, err := next.WriteString(Format(vars)); err != nil {
		next.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := next.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(next.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
