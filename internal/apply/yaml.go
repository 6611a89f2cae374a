package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readYAML turns a YAML document into a tree. Anchors, aliases and merge keys
// work; tags are ignored save for those that make text of a scalar. It holds at
// most so many nodes.
func readYAML(data []byte, most int) (t tree, err error) {
	if nests(data) {
		return tree{}, tooDeep()
	}
	// The parser panics on some malformed documents.
	defer func() {
		if r := recover(); r != nil {
			t, err = tree{}, unreadable("the document is no YAML: %v", r)
		}
	}()
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return tree{}, syntax(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return tree{}, unreadable("the file holds several YAML documents (after ---); apply takes one")
		}
		body = doc.Body
	}
	r := yamlReader{anchors: map[string]tree{}, most: most}
	return r.value(body, 1)
}

// nests reports whether brackets or dashes are nested so deep that the parser,
// which recurses, could exhaust its stack.
func nests(data []byte) bool {
	depth, dashes := 0, 0
	for i, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			dashes = 0
		case '-', '?', ':':
			if i+1 < len(data) && data[i+1] == ' ' {
				dashes++
			}
		}
		if depth > 10*maxDepth || dashes > 50*maxDepth {
			return true
		}
	}
	return false
}

func syntax(err error) error {
	var s *yaml.SyntaxError
	if errors.As(err, &s) && s.Token != nil && s.Token.Position != nil {
		return unreadable("the document is no YAML: line %d, column %d: %s",
			s.Token.Position.Line, s.Token.Position.Column, s.Message)
	}
	return unreadable("the document is no YAML: %s", err)
}

type yamlReader struct {
	anchors map[string]tree
	// most is how many nodes the document may hold, merged how many its merges
	// looked at: that takes time even where they add nothing.
	most, merged int
}

// value reads a node with its line.
func (r *yamlReader) value(n ast.Node, depth int) (tree, error) {
	t, err := r.read(n, depth)
	if err == nil && t.line == 0 && n != nil {
		if tk := n.GetToken(); tk != nil && tk.Position != nil {
			t.line = tk.Position.Line
		}
	}
	return t, err
}

func (r *yamlReader) read(n ast.Node, depth int) (tree, error) {
	if depth > maxDepth {
		return tree{}, tooDeep()
	}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return tree{size: 1}, nil
	case *ast.BoolNode:
		return tree{kind: boolean, text: strconv.FormatBool(n.Value), size: 1}, nil
	case *ast.IntegerNode:
		return numeric(n.Token.Value, n.Value), nil
	case *ast.FloatNode:
		return numeric(n.Token.Value, n.Value), nil
	case *ast.StringNode:
		// An integer beyond 64 bits comes as plain text.
		if n.Token.Type == token.StringType && isJSONNumber(n.Value) {
			return tree{kind: number, text: n.Value, size: 1}, nil
		}
		return tree{kind: text, text: n.Value, size: 1}, nil
	case *ast.LiteralNode:
		return tree{kind: text, text: n.Value.Value, size: 1}, nil
	case *ast.MappingNode:
		return r.object(n.Values, depth)
	case *ast.MappingValueNode:
		return r.object([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		return r.list(n, depth)
	case *ast.AnchorNode:
		t, err := r.value(n.Value, depth)
		if err == nil && n.Name != nil {
			r.anchors[n.Name.GetToken().Value] = t
		}
		return t, err
	case *ast.AliasNode:
		return r.alias(n)
	case *ast.TagNode:
		return r.tagged(n, depth)
	case *ast.InfinityNode, *ast.NanNode:
		return tree{}, at(n, "infinity and NaN cannot be used here")
	}
	return tree{}, at(n, "%s cannot be used here", strings.ToLower(n.Type().String()))
}

func (r *yamlReader) list(n *ast.SequenceNode, depth int) (tree, error) {
	t := tree{kind: list, size: 1}
	for _, v := range n.Values {
		item, err := r.value(v, depth+1)
		if err != nil {
			return tree{}, err
		}
		t.items = append(t.items, item)
		t.size += item.size
	}
	return t, r.limit(t)
}

func (r *yamlReader) object(values []*ast.MappingValueNode, depth int) (tree, error) {
	t := tree{kind: object, size: 1}
	var merged []tree
	for _, v := range values {
		item, err := r.value(v.Value, depth+1)
		if err != nil {
			return tree{}, err
		}
		if v.Key.IsMergeKey() {
			merged = append(merged, item)
			continue
		}
		key, err := keyText(v.Key)
		if err != nil {
			return tree{}, err
		}
		t.keys, t.items = append(t.keys, key), append(t.items, item)
		t.size += item.size
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
			t.keys, t.items = append(t.keys, key), append(t.items, other.items[i])
			t.size += other.items[i].size
		}
	}
	return nil
}

func (r *yamlReader) alias(n *ast.AliasNode) (tree, error) {
	name := ""
	if n.Value != nil {
		name = n.Value.GetToken().Value
	}
	t, ok := r.anchors[name]
	if !ok {
		return tree{}, at(n, "the alias *%s stands before its anchor &%s, or has none", name, name)
	}
	return t, nil
}

func (r *yamlReader) tagged(n *ast.TagNode, depth int) (tree, error) {
	t, err := r.value(n.Value, depth)
	if err == nil && n.Start.Value == "!!str" && (t.kind == number || t.kind == boolean) {
		t.kind, t.text = text, n.Value.GetToken().Value
	}
	return t, err
}

func keyText(key ast.MapKeyNode) (string, error) {
	switch k := key.(type) {
	case *ast.StringNode:
		return k.Value, nil
	case *ast.MappingKeyNode, *ast.AliasNode:
		return "", at(key, "a key must be plain text")
	default:
		return key.GetToken().Value, nil
	}
}

// numeric keeps the digits as written when JSON writes them so too.
func numeric(literal string, value any) tree {
	if !isJSONNumber(literal) {
		literal = fmt.Sprint(value)
	}
	return tree{kind: number, text: literal, size: 1}
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

func at(n ast.Node, format string, args ...any) error {
	where := "the document"
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		where = fmt.Sprintf("line %d, column %d", tk.Position.Line, tk.Position.Column)
	}
	return unreadable("%s: %s", where, fmt.Sprintf(format, args...))
}
