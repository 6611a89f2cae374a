package form

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// textKind is short_text (one line), long_text, rich_text (Markdown) and code: a JSON string. In a short_text neither
// CR nor LF may stand.
type textKind struct {
	typ      Type
	language string
	rules    Rules
	pattern  *pattern
}

func newText(f *Field, b *Budget) kind {
	k := textKind{typ: f.Type, rules: f.Rules}
	if len(f.Languages) == 1 {
		k.language = f.Languages[0]
	} else if len(f.Languages) > 1 {
		k.language = strings.Join(f.Languages, " or ")
	}
	k.pattern, _ = compilePattern(f.Rules.Pattern, b)
	// It goes into every problem. Forms that were published before it had a limit keep theirs.
	k.rules.PatternMessage = firstChars(f.Rules.PatternMessage, maxLabelChars)
	return k
}

// firstChars is the beginning of a text.
func firstChars(s string, most int) string {
	for i := range s {
		if most == 0 {
			return s[:i]
		}
		most--
	}
	return s
}

func (k textKind) check(v *value, c *check) {
	if v.shape != text {
		c.expect("a text", v)
		return
	}
	s := NormalizeText(v.text)
	if k.typ == ShortText && strings.ContainsAny(s, "\r\n") {
		c.fail("must be on one line, got %s", quote(s))
	}
	r := &k.rules
	if r.MinChars != nil || r.MaxChars != nil {
		c.count(utf8.RuneCountInString(s), r.MinChars, r.MaxChars, "character", "characters")
	}
	if r.MinWords != nil || r.MaxWords != nil {
		c.count(words(s), r.MinWords, r.MaxWords, "word", "words")
	}
	if r.MinLines != nil || r.MaxLines != nil {
		c.count(lines(s), r.MinLines, r.MaxLines, "line", "lines")
	}
	if k.pattern != nil {
		k.match(s, c)
	}
	if r.Parse && k.language == "json" {
		if _, err := scan([]byte(s)); err != nil {
			c.fail("as JSON, it %s", err)
		}
	}
}

func (k textKind) match(s string, c *check) {
	switch {
	case len(s) > k.pattern.maxBytes:
		c.fail("is too long to be matched against the pattern: %d bytes, at most %d allowed", len(s), k.pattern.maxBytes)
	case !c.budget.take(len(s)*k.pattern.size, matching):
		if !c.unmatched {
			c.unmatched = true
			c.fail("cannot be matched against the pattern: all texts that patterns look at are too long together; " +
				"give fewer or shorter ones, or have the pattern made simpler")
		}
	case k.pattern.matches(s):
	case k.rules.PatternMessage != "":
		c.fail("%s, got %s", k.rules.PatternMessage, quote(s))
	default:
		c.fail("%s does not match the pattern %s", quote(s), k.pattern.source)
	}
}

func (k textKind) define(d *definition) {
	r := &k.rules
	d.bounds("chars", r.MinChars, r.MaxChars)
	d.bounds("words", r.MinWords, r.MaxWords)
	d.bounds("lines", r.MinLines, r.MaxLines)
	if r.MinWords != nil && r.MaxChars != nil && *r.MinWords > 0 && *r.MaxChars > 0 && *r.MinWords*2-1 > *r.MaxChars {
		d.fail("/rules/min_words", "%d words do not fit into max_chars %d", *r.MinWords, *r.MaxChars)
	}
	if _, err := compilePattern(r.Pattern, d.budget); err != nil {
		d.fail("/rules/pattern", "pattern %s", err)
	}
	if r.PatternMessage != "" && r.Pattern == "" {
		d.fail("/rules/pattern_message", "pattern_message needs a pattern")
	}
	d.length("/rules/pattern_message", "pattern_message", d.field.Rules.PatternMessage, maxLabelChars)
	if r.Parse && k.language != "json" {
		d.fail("/rules/parse", `parse needs languages to be ["json"]`)
	}
	d.distinct("/languages", "language", d.field.Languages, maxLanguages)
}

// hint follows the grammar `type [range] [, note]`: "text, 1-280 characters", "code:python".
func (k textKind) hint() any {
	name := "text"
	switch {
	case k.typ == RichText:
		name = "markdown"
	case k.typ == Code && k.language != "":
		name = "code:" + k.language
	case k.typ == Code:
		name = "code"
	}
	r := &k.rules
	name += span(r.MinChars, r.MaxChars, "characters") + span(r.MinWords, r.MaxWords, "words") +
		span(r.MinLines, r.MaxLines, "lines")
	if r.Pattern != "" {
		name += ", matching " + r.Pattern
	}
	return name
}

// span renders bounds as a note of a hint.
func span(least, most *int, many string) string {
	switch {
	case least != nil && most != nil && *least == *most:
		return fmt.Sprintf(", exactly %d %s", *least, many)
	case least != nil && most != nil:
		return fmt.Sprintf(", %d-%d %s", *least, *most, many)
	case least != nil:
		return fmt.Sprintf(", at least %d %s", *least, many)
	case most != nil:
		return fmt.Sprintf(", up to %d %s", *most, many)
	}
	return ""
}

func (k textKind) schema() fragment {
	s := fragment{"type": "string"}.set("minLength", k.rules.MinChars).set("maxLength", k.rules.MaxChars)
	if k.pattern != nil {
		s["pattern"] = "^(?:" + k.pattern.source + ")$"
	} else if k.typ == ShortText {
		s["pattern"] = `^[^\r\n]*$`
	}
	return s
}

// example writes words until the least number of words, characters and lines is there. What cannot stay within
// maxExample has none, and is not begun: a draft may ask for any number.
func (k textKind) example(lookup) any {
	if k.pattern != nil {
		if s, ok := k.pattern.sample(); ok {
			return s
		}
		return nil
	}
	if k.rules.Parse {
		return "{}"
	}
	r := &k.rules
	count := max(1, limit(r.MinWords, 1))
	if max(count, limit(r.MinChars, 0), limit(r.MinLines, 0)) > maxExample {
		return nil
	}
	word, most := "example", min(limit(r.MaxChars, 200), maxExample)
	if count*(len(word)+1) > most {
		word = "a"
	}
	s := strings.TrimSpace(strings.Repeat(word+" ", count))
	if r.MaxChars != nil && len(s) > most && most > 0 {
		s = s[:most]
	}
	if n := limit(r.MinChars, 0) - len(s); n > 0 {
		s += strings.Repeat("e", n)
	}
	if n := limit(r.MinLines, 0) - 1; n > 0 {
		s += strings.Repeat("\ne", n)
	}
	return s
}

// limit is the bound, or what stands for it when it is absent.
func limit(bound *int, absent int) int {
	if bound == nil {
		return absent
	}
	return *bound
}
