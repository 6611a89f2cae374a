package form

import "encoding/json"

// Rules constrain a value beyond its type. Which rules a type knows is in rulesOf (definition_fit.go). Bounds
// are inclusive. Counting follows Count: CRLF counts as LF, characters are Unicode code points.
type Rules struct {
	// MinChars to MaxLines bound texts; for a list they bound each item.
	MinChars *int `json:"min_chars,omitempty"`
	MaxChars *int `json:"max_chars,omitempty"`
	MinWords *int `json:"min_words,omitempty"`
	MaxWords *int `json:"max_words,omitempty"`
	MinLines *int `json:"min_lines,omitempty"`
	MaxLines *int `json:"max_lines,omitempty"`
	// Pattern is an RE2 pattern that the whole text must match: it is anchored at both ends.
	Pattern string `json:"pattern,omitempty"`
	// PatternMessage tells people what Pattern asks for.
	PatternMessage string `json:"pattern_message,omitempty"`
	// Parse asks that a code field of the single language json parses.
	Parse bool `json:"parse,omitempty"`

	// Min and Max bound a number (JSON number), a date ("2026-11-20") or a datetime ("2026-11-20T08:00:00Z").
	Min json.RawMessage `json:"min,omitempty"`
	Max json.RawMessage `json:"max,omitempty"`
	// Step asks for Min (or 0) plus a multiple of it, within a tolerance of a billionth of a step.
	Step json.RawMessage `json:"step,omitempty"`
	// Decimals is the largest number of digits after the point.
	Decimals *int `json:"decimals,omitempty"`

	// MinItems and MaxItems bound the choices of a multi_select, the items of a list, the rows of a table, the
	// messages of a chat, the spans of text_spans and the files of a multiple file_upload.
	MinItems *int `json:"min_items,omitempty"`
	MaxItems *int `json:"max_items,omitempty"`
	// Unique forbids equal items in a list.
	Unique bool `json:"unique,omitempty"`
	// Exclusive lists options of a multi_select that stand alone, such as "none".
	Exclusive []string `json:"exclusive,omitempty"`

	// EqualsField names an earlier or upstream field whose value must be equal.
	EqualsField string `json:"equals_field,omitempty"`
	// MustBeTrue asks for true (a consent).
	MustBeTrue bool `json:"must_be_true,omitempty"`
	// LastRole is the role that the last message of a chat must have.
	LastRole string `json:"last_role,omitempty"`

	// Accept limits file_upload as Field.Accept does.
	Accept []string `json:"accept,omitempty"`
	// MaxBytes bounds a json value as it was sent, without white space between its tokens (default MaxValueBytes), or
	// each file of a file_upload.
	MaxBytes *int64 `json:"max_bytes,omitempty"`
	// PlayedFully asks the web app to have an audio, video or pdf played or read to its end before submitting. The
	// server cannot see that and does not check it.
	PlayedFully bool `json:"played_fully,omitempty"`
}
