package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// keyLetters are those of every key that a definition can have.
const keyLetters = "abcdefghijklmnopqrstuvwxyz_"

// openKeys are those whose values are anybody's JSON, with keys of any kind.
var openKeys = []string{"value", "min", "max", "step", "parameters"}

// exactKeys refuses a document that was decoded although one of its keys is none:
// encoding/json takes "NAME" for name, and of both the last one. Postgres orders
// keys anew and the web app knows only name, so the document would say something
// else to each.
func exactKeys(doc []byte) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	key, err := foldedKey(dec)
	if key != "" {
		err = fmt.Errorf("unknown field %q; keys are in lower case", truncate(key))
	}
	return err
}

// foldedKey returns a key of the next value that is spelled as none is, "" if all
// are known. What is no key at all was refused by decoding.
func foldedKey(dec *json.Decoder) (key string, err error) {
	open, err := dec.Token()
	if _, nested := open.(json.Delim); !nested || err != nil {
		return "", err
	}
	for dec.More() {
		name := ""
		if open == json.Delim('{') {
			token, err := dec.Token()
			if err != nil {
				return "", err
			}
			if name, _ = token.(string); strings.Trim(name, keyLetters) != "" {
				return name, nil
			}
		}
		if slices.Contains(openKeys, name) {
			err = dec.Decode(&json.RawMessage{})
		} else {
			key, err = foldedKey(dec)
		}
		if key != "" || err != nil {
			return key, err
		}
	}
	_, err = dec.Token() // the closing bracket
	return "", err
}
