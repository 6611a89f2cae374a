package form

import (
	"regexp/syntax"
	"strings"
)

// maxSample is the longest sample, in code points.
const maxSample = 1000

// sample finds a text that matches: the least repetitions of everything, first alternatives, and of each set of
// characters one that reads well. Patterns whose assertions forbid that text have none.
func (p *pattern) sample() (string, bool) {
	tree, err := syntax.Parse(p.source, syntax.Perl)
	if err != nil {
		return "", false
	}
	for _, least := range []int{0, 1} { // x* as nothing, then as one x
		var b strings.Builder
		write(&b, tree.Simplify(), least)
		if s := b.String(); !blank(s) && p.matches(s) {
			return s, true
		}
	}
	return "", false
}

func write(b *strings.Builder, re *syntax.Regexp, least int) {
	if b.Len() > maxSample {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(pick(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture, syntax.OpPlus:
		write(b, re.Sub[0], least)
	case syntax.OpStar, syntax.OpQuest:
		for range least {
			write(b, re.Sub[0], least)
		}
	case syntax.OpRepeat:
		for range max(re.Min, least) {
			write(b, re.Sub[0], least)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub, least)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[0], least)
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	}
}

// pick returns a readable character of the class, whose ranges come in pairs.
func pick(ranges []rune) rune {
	for _, wish := range "a1A_- " {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= wish && wish <= ranges[i+1] {
				return wish
			}
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		for _, r := range [2]rune{ranges[i], ranges[i+1]} {
			if r >= 0x20 {
				return r
			}
		}
	}
	if len(ranges) > 0 {
		return ranges[0]
	}
	return 'a'
}
