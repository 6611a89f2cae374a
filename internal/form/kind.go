package form

// kind is the behaviour of one field type, compiled from one definition. Each family of types has a file with its
// kinds, which documents the shape of the value.
type kind interface {
	// check reports what is wrong with a value that is not empty.
	check(v *value, c *check)
	// define reports what is wrong with the definition, beyond what all types share.
	define(d *definition)
	// hint is the format_hint: a []string exactly when the set of values is closed, else a short string.
	hint() any
	// schema is the JSON Schema fragment of the value.
	schema() fragment
	// example is a value that the rules should accept beside the known values; nil when none was found.
	example(known lookup) any
}

// lookup returns the value of a field, and whether it is known at all: at the creation of a task, the fields that are
// filled later are not.
type lookup func(name string) (value, bool)

// fragment is a piece of JSON Schema 2020-12.
type fragment map[string]any

// set adds a keyword unless the limit is absent.
func (f fragment) set(keyword string, limit *int) fragment {
	if limit != nil {
		f[keyword] = *limit
	}
	return f
}

// newKind compiles the definition, whose patterns share b with others. A field of an unknown type gets a kind that
// refuses every value.
func newKind(f *Field, b *Budget) kind {
	switch f.Type {
	case ShortText, LongText, RichText, Code:
		return newText(f, b)
	case Select:
		return newSelect(f)
	case MultiSelect:
		return newMultiSelect(f)
	case Boolean:
		return boolKind{mustBeTrue: f.Rules.MustBeTrue}
	case Number, Integer:
		return newNumber(f)
	case Rating:
		return newRating(f)
	case Likert:
		return newLikert(f)
	case Pairwise:
		return newPairwise(f)
	case Ranking:
		return newRanking(f)
	case Date, Datetime:
		return newDate(f)
	case URL:
		return newURL(f)
	case JSON:
		return jsonKind{}
	case Table:
		return newTable(f, b)
	case List:
		return newList(f, b)
	case Chat:
		return newChat(f)
	case TextSpans:
		return newSpans(f)
	case FileUpload:
		return newUpload(f)
	case Image, Audio, Video, PDF:
		return mediaKind{what: f.Type}
	case StaticContent:
		return contentKind{}
	}
	return unknownKind{}
}

// unknownKind stands in for a type that does not exist; the definition's problems tell so.
type unknownKind struct{}

func (unknownKind) check(_ *value, c *check) { c.fail("is of a type that does not exist") }
func (unknownKind) define(*definition)       {}
func (unknownKind) hint() any                { return "none" }
func (unknownKind) schema() fragment         { return fragment{} }
func (unknownKind) example(lookup) any       { return nil }
