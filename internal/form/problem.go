package form

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Problem is one thing that is wrong with a value or with a definition. Its message names what is wrong and what
// is expected, and quotes at most 60 characters of what the user gave.
type Problem struct {
	// Field is the name of the field, exactly as the user gave it when it is unknown.
	Field string `json:"field"`
	// Path is an RFC 6901 pointer into the field's value ("/2/role") or, for definitions, into the field's
	// definition ("/rules/max_chars"). Empty when the whole of it is meant.
	Path string `json:"path,omitempty"`
	// Message is a full clause without a final stop.
	Message string `json:"message"`
}

// quoteLimit is the largest number of a user's characters that a message repeats.
const quoteLimit = 60

// quote shows at most quoteLimit characters of s, with control characters made visible.
func quote(s string) string {
	end := 0
	for n := 0; n < quoteLimit && end < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if end == len(s) {
		return strconv.Quote(s)
	}
	quoted := strconv.Quote(s[:end])
	return quoted[:len(quoted)-1] + `…"`
}

// maxProblems is the largest number of problems that one value or one condition reports, and of refused names that are
// reported one by one.
const maxProblems = 20

// refused reports names that must not be given, in byte order; of many only the first, and how many more there are.
func refused(names []string, why func(name string) string) []Problem {
	slices.Sort(names)
	more := max(0, len(names)-maxProblems)
	var problems []Problem
	for _, name := range names[:len(names)-more] {
		problems = append(problems, Problem{Field: name, Message: why(name)})
	}
	if more > 0 {
		problems = append(problems, Problem{Message: fmt.Sprintf("%s that cannot be given", plural(more, "more name", "more names"))})
	}
	return problems
}
