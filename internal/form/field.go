package form

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Field defines one field of a form, exactly as it stands in a pipeline definition (docs/apply.md). A Field is data:
// whether it makes sense is told by Form.Problems. Decoders refuse unknown keys.
type Field struct {
	// Name is the key of the value in Values: [a-z][a-z0-9_]{0,62}, unique in the pipeline, immutable after publish.
	Name string `json:"name"`
	// Title is the label that people see, never a key (spec 2). Empty means that the name is shown.
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Type        Type   `json:"type"`
	Input       Input  `json:"input"`
	// Required asks for a value whenever the field is visible. See Form.CheckSeed and Form.CheckSubmission.
	Required bool `json:"required,omitempty"`
	// Width is the number of grid columns, 1 to 12; 0 (absent) means 12.
	Width int `json:"width,omitempty"`
	// Value is the value of a static field, or the value that a contributor's field starts with.
	Value       json.RawMessage `json:"value,omitempty"`
	Placeholder string          `json:"placeholder,omitempty"`
	// Style picks among the looks of a type (StylesOf); it never changes the value.
	Style string `json:"style,omitempty"`
	// Unit is shown after the value of a number, an integer or a rating.
	Unit string `json:"unit,omitempty"`

	// Options are the choices of a select or multi_select, or of a list whose items are selects.
	Options []Option `json:"options,omitempty"`
	// AllowOther lets a select or multi_select hold a text that is not among its options.
	AllowOther bool `json:"allow_other,omitempty"`
	// Languages of a code field, the first one being the default, such as "python". The value does not carry it.
	Languages []string `json:"languages,omitempty"`
	// Scale of a rating, of each row of a likert, or of the strength of a pairwise choice.
	Scale *Scale `json:"scale,omitempty"`
	// Rows are the statements of a likert; a row's Value is its id.
	Rows []Option `json:"rows,omitempty"`
	// Columns of a table.
	Columns []Column `json:"columns,omitempty"`
	// ItemType is the type of the items of a list: a scalar type, short_text when absent.
	ItemType Type `json:"item_type,omitempty"`
	// Items are what a ranking orders; an item's Value is its id. Exclusive with Source.
	Items []Option `json:"items,omitempty"`
	// AllowTies lets a ranking hold groups of equals: [["a"],["b","c"]].
	AllowTies bool `json:"allow_ties,omitempty"`
	// Choices narrow what a pairwise may answer: some of "a", "b", "tie", "both_bad". Empty means all four.
	Choices []string `json:"choices,omitempty"`
	// Labels that a text span may carry.
	Labels []Option `json:"labels,omitempty"`
	// AllowOverlap lets text spans overlap.
	AllowOverlap bool `json:"allow_overlap,omitempty"`
	// Source names the list whose items a ranking orders, or the text that text spans mark.
	Source string `json:"source,omitempty"`
	// Sources name the two fields that a pairwise compares: A, then B. Empty when the form shows them otherwise.
	Sources []string `json:"sources,omitempty"`
	// Accept limits file_upload to extensions (".pdf") and media types ("image/png", "image/*"). It may stand in
	// Rules.Accept instead; not in both.
	Accept []string `json:"accept,omitempty"`
	// Multiple makes the value of a file_upload an array of files.
	Multiple bool `json:"multiple,omitempty"`
	// Schemes that a url may have; https and http when empty.
	Schemes []string `json:"schemes,omitempty"`
	// Hosts that a url may have, such as "example.com" or "*.example.com"; any when empty.
	Hosts []string `json:"hosts,omitempty"`

	Rules       Rules       `json:"rules,omitzero"`
	VisibleWhen *Condition  `json:"visible_when,omitempty"`
	LLM         *Generation `json:"llm,omitempty"`
	// Criteria are attached for evaluations (spec 1.2); they do not constrain the value.
	Criteria []Criterion `json:"criteria,omitempty"`
}

// label is what a person calls the field.
func (f *Field) label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// Option is one choice of a select, one row of a likert, one item of a ranking or one label of a span. In JSON a
// bare string stands for an option that has only a value: "a" equals {"value":"a"}.
type Option struct {
	Value       string `json:"value"`
	Label       string `json:"label,omitempty"`
	Description string `json:"description,omitempty"`
	// Hotkey is one character that picks the option.
	Hotkey string `json:"hotkey,omitempty"`
	// Color is #rrggbb or a colour name of the web app's theme.
	Color string `json:"color,omitempty"`
}

// UnmarshalJSON reads a bare string or an object; unknown keys are refused.
func (o *Option) UnmarshalJSON(data []byte) error {
	type plain Option
	return decodeShort(data, "an option", (*plain)(o), func(s string) { *o = Option{Value: s} })
}

// Scale is a range of whole steps with an optional label for each.
type Scale struct {
	// Min and Max bound the scale, both included.
	Min int `json:"min"`
	Max int `json:"max"`
	// Half allows half steps (ratings only).
	Half bool `json:"half,omitempty"`
	// Labels name the steps from Min to Max, all of them, or just the two ends.
	Labels []string `json:"labels,omitempty"`
	// AllowNA lets a row of a likert be answered with "na".
	AllowNA bool `json:"allow_na,omitempty"`
}

// Column is one typed column of a table. Its type is a scalar one.
type Column struct {
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        Type     `json:"type"`
	Required    bool     `json:"required,omitempty"`
	Options     []Option `json:"options,omitempty"`
	AllowOther  bool     `json:"allow_other,omitempty"`
	Scale       *Scale   `json:"scale,omitempty"`
	Schemes     []string `json:"schemes,omitempty"`
	Hosts       []string `json:"hosts,omitempty"`
	Rules       Rules    `json:"rules,omitzero"`
}

// Generation says how a language model fills a field whose input is llm (spec 1.2).
type Generation struct {
	// Model is an alias that the deployment maps to a provider's model.
	Model string `json:"model"`
	// Prompt may refer to the values of Context as {{name}}.
	Prompt string `json:"prompt"`
	// PromptName tells from which prompt of the library Prompt was copied. Display only.
	PromptName string `json:"prompt_name,omitempty"`
	// Context names the earlier or upstream fields that the model sees.
	Context []string `json:"context,omitempty"`
	Tools   []Tool   `json:"tools,omitempty"`
}

// Tool is a function that the model may call. In JSON a bare string stands for a tool that has only a name.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the arguments: an object.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// UnmarshalJSON reads a bare string or an object; unknown keys are refused.
func (t *Tool) UnmarshalJSON(data []byte) error {
	type plain Tool
	return decodeShort(data, "a tool", (*plain)(t), func(s string) { *t = Tool{Name: s} })
}

// Criterion is an aspect by which evaluations judge the field's value.
type Criterion struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Weight is relative to the other criteria of the field; 0 (absent) means 1.
	Weight float64 `json:"weight,omitempty"`
}

// Values maps field names to their JSON values. An absent key, null and an empty value all mean "not answered";
// see empty for what counts as empty.
type Values map[string]json.RawMessage

// decodeShort decodes a JSON object into full, or hands a JSON string to short.
func decodeShort(data []byte, what string, full any, short func(string)) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '"' && data[0] != '{' {
		return fmt.Errorf("%s is a string or an object, not %s", what, quote(string(data)))
	}
	if data[0] == '"' {
		var s string
		err := json.Unmarshal(data, &s)
		if err == nil {
			short(s)
		}
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(full); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
