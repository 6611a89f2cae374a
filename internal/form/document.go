package form

// jsonKind is json: any JSON value but null, of at most rules.max_bytes (MaxValueBytes unless lower) without white
// space between its tokens. Form checks the size before it parses. A JSON Schema for the value is not supported. {}
// and [] are answers here, yet conditions see them as empty.
type jsonKind struct{}

func (jsonKind) check(*value, *check) {}
func (jsonKind) define(d *definition) {
	if m := d.field.Rules.MaxBytes; m != nil && (*m < 2 || *m > MaxValueBytes) {
		d.fail("/rules/max_bytes", "max_bytes of a json field must be 2 to %d, got %d", MaxValueBytes, *m)
	}
}
func (jsonKind) hint() any          { return "json" }
func (jsonKind) schema() fragment   { return fragment{} }
func (jsonKind) example(lookup) any { return map[string]any{} }
