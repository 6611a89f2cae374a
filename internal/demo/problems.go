package demo

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Problem is a question with its answer: a whole number as text.
type Problem struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

//go:embed problems.jsonl
var sample string

// Load reads problems from a file of JSON lines; where the file is absent it
// returns the built-in sample and false.
func Load(path string) (ps []Problem, given bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		ps, err = read(strings.NewReader(sample))
		return ps, false, err
	}
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }()
	ps, err = read(f)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return ps, true, nil
}

// read parses lines of {"question", "answer"}, where the answer ends in
// "#### N".
func read(r io.Reader) ([]Problem, error) {
	var out []Problem
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var p Problem
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		_, answer, ok := strings.Cut(p.Answer, "####")
		if !ok || p.Question == "" {
			return nil, fmt.Errorf("line %d: no question, or an answer without \"#### N\"", n)
		}
		out = append(out, Problem{Question: p.Question, Answer: strings.TrimSpace(answer)})
	}
	return out, lines.Err()
}
