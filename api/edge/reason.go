package edge

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/internal/wirejson"
)

// withinReason reports whether a body has few enough places that can be wrong.
// huma makes a problem of every unknown property and looks at every item of a
// list and every member of a map, however long, so a body of megabytes would
// become a thousand times as much memory. What the schema leaves open, such as
// values, is not looked at.
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
	if s == nil {
		return true
	}
	each, _ := s.AdditionalProperties.(*huma.Schema)
	switch shape := wirejson.Shape(value); {
	case len(s.Properties) > 0 && shape == '{':
		return c.object(s, value)
	case each != nil && shape == '{':
		return c.dictionary(each, value)
	case s.Items != nil && shape == '[':
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

// dictionary looks at members with keys of the caller's choice and a schema that
// they share, which may leave them open.
func (c *crowd) dictionary(each *huma.Schema, value []byte) bool {
	if each.Type == "" && each.Ref == "" {
		return true
	}
	n, ok := 0, true
	wirejson.Members(value, func(_ string, member []byte) bool {
		n++
		ok = n <= unboundedItems && c.walk(each, member)
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

// unboundedItems is how many items there may be where the schema has no limit.
const unboundedItems = 1000

// maxItems leaves a little beyond the schema's limit to huma, whose message says
// what the limit is.
func maxItems(s *huma.Schema) int {
	if s.MaxItems == nil {
		return unboundedItems
	}
	return *s.MaxItems + min(*s.MaxItems, MaxProblems)
}
