package form

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// Limits that keep matching cheap: RE2 takes time in proportion to the size of the program times the text.
const (
	// maxPatternChars is the longest pattern.
	maxPatternChars = 500
	// maxProgram is the largest number of instructions that a pattern may compile to.
	maxProgram = 2000
	// maxMatchSteps bounds the program times the bytes of the text: about half a second at worst. A longer text does
	// not match. A small pattern, of 20 instructions, thus takes any text that a value may hold.
	maxMatchSteps = 20_000_000
)

// pattern is a compiled RE2 pattern that matches whole texts. In TypeScript: new RegExp("^(?:" + p + ")$", "u"); RE2
// has constructs that JavaScript lacks, such as (?i), and there the server alone decides.
type pattern struct {
	source string
	re     *regexp.Regexp
	// size is how many instructions it has, and maxBytes the longest text that is matched.
	size, maxBytes int
}

// compilePattern returns nil and no error for an empty source: no pattern. It shares b with the other patterns of its
// form or pipeline.
func compilePattern(source string, b *Budget) (*pattern, error) {
	if source == "" {
		return nil, nil
	}
	if n := utf8.RuneCountInString(source); n > maxPatternChars {
		return nil, fmt.Errorf("has %d characters, at most %d are allowed", n, maxPatternChars)
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, fmt.Errorf("is not a valid RE2 pattern: %s at %s", bad.Code, quote(bad.Expr))
		}
		return nil, fmt.Errorf("is not a valid RE2 pattern: %w", err)
	}
	// Before anything is unfolded: Parse lets patterns pass that unfold to millions of steps, and a document may have
	// a thousand of them.
	least := leastSteps(tree)
	if least > maxProgram {
		return nil, errProgram
	}
	if !b.has(least, compiling) {
		return nil, errPrograms
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return nil, errProgram
	}
	size := max(1, len(program.Inst))
	if !b.take(size, compiling) {
		return nil, errPrograms
	}
	re, err := regexp.Compile(`\A(?:` + source + `)\z`)
	if err != nil {
		return nil, errors.New("is not a valid RE2 pattern when anchored at both ends")
	}
	return &pattern{source: source, re: re, size: size, maxBytes: maxMatchSteps / size}, nil
}

var (
	errProgram  = fmt.Errorf("is too large: its repetitions unfold to more than %d steps", maxProgram)
	errPrograms = fmt.Errorf("is too large beside those before it: the patterns of a pipeline, those of conditions among them, "+
		"unfold to at most %d steps together", maxPrograms)
)

// leastSteps is a lower bound of the instructions that a pattern compiles to; beyond maxProgram, any number beyond it.
func leastSteps(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	default:
	}
	n := 0
	for _, sub := range re.Sub {
		n = min(n+leastSteps(sub), maxProgram+1)
	}
	if re.Op == syntax.OpRepeat {
		return min(n*max(re.Min, re.Max), maxProgram+1)
	}
	return n
}

// matches reports whether the whole of s matches.
func (p *pattern) matches(s string) bool {
	return len(s) <= p.maxBytes && p.re.MatchString(s)
}
