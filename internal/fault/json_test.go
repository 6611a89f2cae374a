package fault_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

// What does not fit is told by the words of JSON, with the place, as far as it is
// known; all other texts stay.
func TestJSONThatDoesNotFitIsToldWithoutGo(t *testing.T) {
	t.Parallel()
	const whole = "expected a whole number from -9223372036854775808 to 9223372036854775807 in digits, got "
	for doc, want := range map[string]string{
		`{"count": 1e30}`:                   "count: " + whole + "1e30",
		`{"count": 1.0}`:                    "count: " + whole + "1.0",
		`{"count": "x"}`:                    "count: " + whole + "a text",
		`{"ids": [1, 9223372036854775808]}`: "ids: " + whole + "9223372036854775808",
		`{"small": 300}`:                    "small: expected a whole number from -128 to 127 in digits, got 300",
		`{"share": 1e999}`:                  "share: expected a number from -1.7e308 to 1.7e308, got 1e999",
		`{"inner": {"text": 7}}`:            "inner.text: expected a text, got a number",
		`{"inner": []}`:                     "inner: expected an object, got an array",
		`{"ids": {}}`:                       "ids: expected an array, got an object",
		`{"yes": "true"}`:                   "yes: expected true or false, got a text",
		`{"inner": true}`:                   "inner: expected an object, got true or false",
		`7`:                                 "expected an object, got a number",
		`{"odd": "json: x"}`:                `unknown field "odd"`,
		`{"json: x": 1}`:                    `unknown field "json: x"`,
		`{"count": ` + strings.Repeat("1", 1000) + `}`: "count: " + whole + strings.Repeat("1", 60) + "…",
	} {
		var into struct {
			Count int64   `json:"count"`
			IDs   []int64 `json:"ids"`
			Small int8    `json:"small"`
			Share float64 `json:"share"`
			Yes   bool    `json:"yes"`
			Inner struct {
				Text string `json:"text"`
			} `json:"inner"`
		}
		d := json.NewDecoder(strings.NewReader(doc))
		d.DisallowUnknownFields()
		err := d.Decode(&into)
		require.Error(t, err, doc)
		require.Equal(t, want, fault.JSON(err), doc)
		require.Equal(t, "an option: "+want, fault.JSON(fmt.Errorf("an option: %w", err)), doc)
	}
	require.Equal(t, `"json: x" is no time span`, fault.JSON(errors.New(`"json: x" is no time span`)))
}
