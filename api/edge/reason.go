package edge

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/internal/wirejson"
)

// withinReason reports whether a body has few enough places that can be wrong.
// huma makes a problem of every unknown property and looks at every item of a
// list, however long, so a body of megabytes would become a thousand times as
// much memory. What the schema leaves open, such as values, is not looked at.
func withinReason(schemas huma.Registry, schema *huma.Schema, body []byte) bool {
	c := crowd{schemas: schemas}
	return c.walk(schema, body)
}

type crowd struct {
	schemas huma.Registry
	unknown int
}

func (c *crowd) walk(s *huma.Schema, value []byte) (ok bool) {
	if s != nil && s.Ref != "" {
		s = c.schemas.SchemaFromRef(s.Ref)
	}
	switch {
	case s == nil:
		return true
	case len(s.Properties) > 0 && wirejson.Shape(value) == '{':
		return c.object(s, value)
	case s.Items != nil && wirejson.Shape(value) == '[':
		return c.list(s, value)
	}
	return true
}

func (c *crowd) object(s *huma.Schema, value []byte) bool {
	ok := true
	wirejson.Members(value, func(key string, member []byte) bool {
		known, found := s.Properties[key]
		if !found {
			c.unknown++
		}
		ok = c.unknown <= MaxProblems && (!found || c.walk(known, member))
		return ok
	})
	return ok
}

func (c *crowd) list(s *huma.Schema, value []byte) bool {
	most, n, ok := maxItems(s), 0, true
	wirejson.Elements(value, func(item []byte) bool {
		n++
		ok = n <= most && c.walk(s.Items, item)
		return ok
	})
	return ok
}

// maxItems leaves a little beyond the schema's limit to huma, whose message says
// what the limit is.
func maxItems(s *huma.Schema) int {
	const fallback = 1000
	if s.MaxItems == nil {
		return fallback
	}
	return *s.MaxItems + MaxProblems
}
