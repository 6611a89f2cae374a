package store

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/taskloom/taskloom/internal/form"
)

// appendObject writes checked values as one JSON object. json.Marshal would
// read every value once more to see that it is JSON, and that was most of what
// a batch of 32 MB cost before it reached Postgres, which checks it anyway.
func appendObject(out []byte, values form.Values) ([]byte, error) {
	out = append(out, '{')
	for i, name := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out = append(append(out, key...), ':')
		if raw := values[name]; len(raw) > 0 {
			out = append(out, raw...)
		} else {
			out = append(out, "null"...)
		}
	}
	return append(out, '}'), nil
}
