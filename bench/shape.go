package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/taskloom/taskloom/internal/measure/zipgen"
)

// shape is so many files of one size.
type shape struct {
	files int
	size  int64
}

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// mostFiles is what one archive may hold.
const mostFiles = 100_000

// parseShapes reads a list such as 5000x100KB,50x100MB.
func parseShapes(list string) ([]shape, error) {
	var out []shape
	for _, text := range splitList(list) {
		s, ok := parseShape(text)
		if !ok {
			return nil, fmt.Errorf("-shapes: %q is not of the form 5000x100KB, with 1 to %d files of at least 1 B (B, KB or MB)", text, mostFiles)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, errors.New("-shapes is empty")
	}
	return out, nil
}

func parseShape(text string) (shape, bool) {
	count, size, ok := strings.Cut(text, "x")
	files, err := strconv.Atoi(count)
	if !ok || err != nil || files < 1 || files > mostFiles {
		return shape{}, false
	}
	for _, u := range sizeUnits {
		if number, ok := strings.CutSuffix(size, u.name); ok {
			n, err := strconv.ParseInt(number, 10, 64)
			return shape{files: files, size: n * u.bytes}, err == nil && n > 0 && n < 1e6
		}
	}
	return shape{}, false
}

func (s shape) String() string {
	for _, u := range sizeUnits {
		if s.size%u.bytes == 0 {
			return fmt.Sprintf("%d x %d %s", s.files, s.size/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%d x %d B", s.files, s.size)
}

// bytes of all files.
func (s shape) bytes() int64 { return int64(s.files) * s.size }

// archive is the ZIP of a shape. The content of its files depends on nothing
// but their number, so that all samples move the same bytes.
func (s shape) archive(deflated bool) zipgen.Archive {
	return zipgen.Archive{Files: s.files, Size: s.size, Deflated: deflated, Seed: 1}
}

// long reports whether one sample takes a minute or so.
func (s shape) long() bool { return s.bytes() > 2e9 }

// small reports whether files rather than bytes are what takes the time.
func (s shape) small() bool { return s.size <= 1e6 }
