package apply

import (
	"encoding/json"
	"strconv"
)

// kind is what a node of a document is.
type kind int

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

// String names the kind in messages.
func (k kind) String() string {
	switch k {
	case null:
		return "nothing"
	case boolean:
		return "true or false"
	case number:
		return "a number"
	case text:
		return "text"
	case list:
		return "a list"
	case object:
		return "an object"
	}
	return "kind " + strconv.Itoa(int(k))
}

// tree is a document of either syntax. Objects keep the order of their keys
// and every duplicate, so that all problems can be told.
type tree struct {
	kind kind
	// text is the text, or the literal of a number or boolean as in JSON.
	text  string
	items []tree
	keys  []string // of an object, beside items
	// size counts the nodes, and below the levels inside, aliases written out.
	size, below int
	// line is where it stands in the document, from 1; 0 when unknown.
	line int
}

// appendJSON writes the tree as JSON; of duplicate keys the last one counts.
func (t tree) appendJSON(b []byte) []byte {
	switch t.kind {
	case null:
		return append(b, "null"...)
	case boolean, number:
		return append(b, t.text...)
	case text:
		return appendText(b, t.text)
	case list:
		b = append(b, '[')
		for i, item := range t.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, item := range t.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, t.keys[i]), ':')
			b = item.appendJSON(b)
		}
		return append(b, '}')
	}
	return b
}

func appendText(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...) // a string always can be
	}
	return append(b, quoted...)
}

// textSize is how many bytes the texts and keys have, aliases written out.
func (t tree) textSize() int {
	n := len(t.text)
	for _, key := range t.keys {
		n += len(key)
	}
	for _, item := range t.items {
		n += item.textSize()
	}
	return n
}

// add appends an item to what holds it.
func (t *tree) add(item tree) {
	t.items = append(t.items, item)
	t.size += item.size
	t.below = max(t.below, item.below+1)
}

// get returns the value of a key.
func (t tree) get(key string) (tree, bool) {
	for i, k := range t.keys {
		if k == key {
			return t.items[i], true
		}
	}
	return tree{}, false
}
