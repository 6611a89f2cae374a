package v1

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/store"
)

// described are properties of types that other rooms own, which know nothing
// of documents.
var described = map[string]map[string]func(s *huma.Schema){
	"ItemError": {
		"index":      counted("Position of the item, from 0."),
		"field_name": saying("Name of the field; empty when the item as a whole is meant."),
		"message":    saying("What is wrong and what is expected, for people."),
	},
	"Upload": {"skipped": func(s *huma.Schema) { s.MaxItems = new(store.MaxSkipped) }},
	"UploadSkip": {
		"entry":  saying("Its path in the archive."),
		"reason": saying("Why it belongs to no task."),
	},
}

func saying(text string) func(s *huma.Schema) {
	return func(s *huma.Schema) { s.Description = text }
}

func counted(text string) func(s *huma.Schema) {
	return func(s *huma.Schema) { s.Description, s.Minimum = text, new(0.) }
}

// describeSchemas completes what struct tags do not say.
func describeSchemas(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	for name, properties := range described {
		for property, describe := range properties {
			if s := schemas[name]; s != nil && s.Properties[property] != nil {
				describe(s.Properties[property])
			}
		}
	}
}
