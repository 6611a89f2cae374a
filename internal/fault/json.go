package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// JSON says why JSON does not fit, for callers. encoding/json's own texts name it
// and Go's types, which mean nothing to whoever sent it.
func JSON(err error) string {
	text := strings.Replace(err.Error(), `json: unknown field "`, `unknown field "`, 1)
	if misfit, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		text = strings.Replace(text, misfit.Error(), expected(misfit), 1)
	}
	return text
}

func expected(misfit *json.UnmarshalTypeError) string {
	text := "expected " + taken(misfit.Type) + ", got " + given(misfit.Value)
	if misfit.Field != "" {
		text = misfit.Field + ": " + text
	}
	return text
}

// taken names the JSON that a Go type takes.
func taken(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		least := int64(-1) << (t.Bits() - 1)
		return fmt.Sprintf("a whole number from %d to %d in digits", least, ^least)
	case reflect.Float32, reflect.Float64:
		return "a number from -1.7e308 to 1.7e308"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "another kind of value"
	}
}

// given names the value that came instead, of which encoding/json says "string"
// or "number 1e30".
func given(value string) string {
	const most = 60
	if literal, ok := strings.CutPrefix(value, "number "); ok {
		if len(literal) > most {
			return literal[:most] + "…"
		}
		return literal
	}
	switch value {
	case "bool":
		return "true or false"
	case "string":
		return "a text"
	case "array", "object":
		return "an " + value
	}
	return "a " + value
}
