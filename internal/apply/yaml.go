package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// readYAML turns a YAML document into a tree. Anchors, aliases and merge keys
// work; tags are ignored save the one that makes text of a scalar. It holds at
// most so many nodes.
func readYAML(data []byte, most int) (tree, error) {
	// The depth is also bounded here because the parser recurses.
	l, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthFunc(bounded))))
	if err != nil {
		return tree{}, fmt.Errorf("yaml: %w", err)
	}
	var doc, other yaml.Node
	switch err := l.Load(&doc); {
	case errors.Is(err, io.EOF):
		return tree{size: 1}, nil
	case err != nil:
		return tree{}, syntax(err)
	}
	switch err := l.Load(&other); {
	case err == nil:
		return tree{}, unreadable("the file holds several YAML documents (after ---); apply takes one")
	case !errors.Is(err, io.EOF):
		return tree{}, syntax(err)
	}
	r := yamlReader{anchors: map[string]tree{}, most: most}
	return r.value(&doc, 0)
}

// bounded lets the parser go as deep as a document may.
func bounded(depth int, _ *yaml.DepthContext) error {
	if depth > maxDepth {
		return tooDeep()
	}
	return nil
}

// syntax tells where a document stops being YAML. The parser keeps only the
// message of what bounded returns.
func syntax(err error) error {
	var bad *yaml.LoadError
	switch {
	case !errors.As(err, &bad):
		return unreadable("the document is no YAML: %s", err)
	case bad.Message == tooDeep().Error():
		return tooDeep()
	case bad.Mark.Line == 0:
		return unreadable("the document is no YAML: %s", bad.Message)
	}
	began := ""
	if bad.ContextMark.Line > 0 && bad.ContextMark.Line != bad.Mark.Line {
		began = fmt.Sprintf(" %s that begins in line %d", bad.ContextMsg, bad.ContextMark.Line)
	}
	return unreadable("the document is no YAML: line %d, column %d: %s%s", bad.Mark.Line, bad.Mark.Column, bad.Message, began)
}

type yamlReader struct {
	anchors map[string]tree
	// most is how many nodes the document may hold, merged how many its merges
	// looked at: that takes time even where they add nothing.
	most, merged int
}

// value reads a node with its line. What has an anchor is kept for its aliases.
func (r *yamlReader) value(n *yaml.Node, depth int) (tree, error) {
	t, err := r.read(n, depth)
	if err != nil {
		return t, err
	}
	if t.line == 0 {
		t.line = n.Line
	}
	if n.Anchor != "" {
		r.anchors[n.Anchor] = t
	}
	return t, nil
}

func (r *yamlReader) read(n *yaml.Node, depth int) (tree, error) {
	if depth > maxDepth {
		return tree{}, tooDeep()
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return r.value(n.Content[0], depth+1)
	case yaml.MappingNode:
		return r.object(n.Content, depth)
	case yaml.SequenceNode:
		return r.list(n.Content, depth)
	case yaml.AliasNode:
		return r.alias(n, depth)
	default:
		return scalar(n)
	}
}

func (r *yamlReader) list(values []*yaml.Node, depth int) (tree, error) {
	t := tree{kind: list, size: 1}
	for _, v := range values {
		item, err := r.value(v, depth+1)
		if err != nil {
			return tree{}, err
		}
		t.add(item)
		if err := r.limit(t); err != nil {
			return tree{}, err
		}
	}
	return t, nil
}

// object reads keys and values, which come in turn.
func (r *yamlReader) object(content []*yaml.Node, depth int) (tree, error) {
	t := tree{kind: object, size: 1}
	var merged []tree
	for i := 0; i+1 < len(content); i += 2 {
		key := content[i]
		if key.Kind != yaml.ScalarNode {
			return tree{}, at(key, "a key must be plain text")
		}
		item, err := r.value(content[i+1], depth+1)
		if err != nil {
			return tree{}, err
		}
		if key.ShortTag() == mergeTag {
			merged = append(merged, item)
			continue
		}
		t.keys = append(t.keys, key.Value)
		t.add(item)
		if err := r.limit(t); err != nil {
			return tree{}, err
		}
	}
	if err := r.merge(&t, merged); err != nil {
		return tree{}, err
	}
	return t, r.limit(t)
}

// merge adds what the values of merge keys have and t has not.
func (r *yamlReader) merge(t *tree, values []tree) error {
	if len(values) == 0 {
		return nil
	}
	has := make(map[string]bool, len(t.keys))
	for _, key := range t.keys {
		has[key] = true
	}
	for _, v := range values {
		if r.merged += v.size; r.merged > r.most {
			return tooMany(r.most)
		}
		if err := t.merge(v, has); err != nil {
			return err
		}
	}
	return nil
}

// merge adds what another object, or a list of objects, has and t has not. has
// are the keys of t.
func (t *tree) merge(other tree, has map[string]bool) error {
	if other.kind == list {
		for _, o := range other.items {
			if err := t.merge(o, has); err != nil {
				return err
			}
		}
		return nil
	}
	if other.kind != object {
		return unreadable("a merge key (<<) takes an object, not %s", other.kind)
	}
	for i, key := range other.keys {
		if !has[key] {
			has[key] = true
			t.keys = append(t.keys, key)
			t.add(other.items[i])
		}
	}
	return nil
}

// alias is what its anchor holds. That was read where it stands, which may be
// less deep: what an alias brings counts from where the alias stands.
func (r *yamlReader) alias(n *yaml.Node, depth int) (tree, error) {
	t, ok := r.anchors[n.Value]
	switch {
	case !ok:
		return tree{}, at(n, "the alias *%s stands inside of its own anchor", n.Value)
	case depth+t.below > maxDepth:
		return tree{}, at(n, "with the alias *%s written out, the document is nested deeper than %d levels; "+
			"write what it holds with fewer levels", n.Value, maxDepth)
	}
	return t, nil
}

// mergeTag is the tag of << where it stands plain.
const mergeTag = "!!merge"

// quoted are the styles of what is text however it looks.
const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func scalar(n *yaml.Node) (tree, error) {
	t := tree{kind: text, text: n.Value, size: 1}
	tagged := n.Style&yaml.TaggedStyle != 0 || n.Tag == "!"
	if n.Style&quoted != 0 || tagged && n.ShortTag() == "!!str" || n.ShortTag() == mergeTag {
		return t, nil
	}
	// The document's own tag is left out: what stands there decides.
	var value any
	if err := (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}).Decode(&value); err != nil {
		return tree{}, at(n, "%s", err)
	}
	switch v := value.(type) {
	case nil:
		return tree{size: 1}, nil
	case bool:
		t.kind, t.text = boolean, strconv.FormatBool(v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return tree{}, at(n, "infinity and NaN cannot be used here")
		}
		t.kind, t.text = number, digits(n.Value, v)
	case int, int64, uint64:
		t.kind, t.text = number, digits(n.Value, v)
	case string:
		if isJSONNumber(v) { // beyond a float's range
			t.kind = number
		}
	}
	return t, nil
}

// digits are those of the document when JSON writes them so too.
func digits(literal string, value any) string {
	if isJSONNumber(literal) {
		return literal
	}
	return fmt.Sprint(value)
}

func isJSONNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') &&
		bytes.ContainsAny([]byte(s[len(s)-1:]), "0123456789") && json.Valid([]byte(s))
}

// limit stops before aliases of aliases grow beyond what may be written out.
func (r *yamlReader) limit(t tree) error {
	if t.size > r.most {
		return tooMany(r.most)
	}
	return nil
}

func at(n *yaml.Node, format string, args ...any) error {
	return unreadable("line %d, column %d: %s", n.Line, n.Column, fmt.Sprintf(format, args...))
}
