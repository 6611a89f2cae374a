package v1

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// headers are those that answers carry for their callers to act on.
var headers = map[string]*huma.Header{
	"X-Request-Id": {
		Description: "Names the request in the server's log: the one that was sent, else a new one.",
		Schema:      &huma.Schema{Type: "string", MaxLength: new(128)}, Example: "0f9d2c57-8a3e-4b61-9c44-1f0e6d7a2b35",
	},
	"WWW-Authenticate": {
		Description: "How to authenticate.",
		Schema:      &huma.Schema{Type: "string"}, Example: `Bearer realm="taskloom"`,
	},
	"Retry-After": {
		Description: "Seconds to wait before the next try; with 429 the same number as retry_after. It prevails over RateLimit.",
		Schema:      &huma.Schema{Type: "integer", Format: "int32", Minimum: new(1.)}, Example: 1,
	},
	"RateLimit-Policy": {
		Description: "Advice: the limit that the request counted for, `q` for each `w` seconds.",
		Schema:      &huma.Schema{Type: "string"}, Example: `"key";q=1200;w=60`,
	},
	"RateLimit": {
		Description: "Advice: `r` is what is left of it, `t` the seconds until it is whole again. Absent where nothing is limited.",
		Schema:      &huma.Schema{Type: "string"}, Example: `"key";r=1187;t=41`,
	},
	"ETag": {
		Description: "The weak tag of this state: sent back as If-None-Match, an unchanged state is a 304 without a body.",
		Schema:      &huma.Schema{Type: "string"}, Example: exampleTag,
	},
	"Idempotent-Replayed": {
		Description: "`true` when this is the first answer to the Idempotency-Key once more, and nothing was done again.",
		Schema:      &huma.Schema{Type: "string", Enum: []any{"true"}}, Example: "true",
	},
}

// describeHeaders documents the headers of an operation's answers. Those that
// huma found in the types of answers are described in the same words.
func describeHeaders(doc *huma.OpenAPI, op *huma.Operation) {
	if doc.Components.Headers == nil {
		doc.Components.Headers = headers
	}
	for text, response := range op.Responses {
		status, err := strconv.Atoi(text)
		if err != nil {
			continue // "default"
		}
		found := map[string]*huma.Header{}
		for name, header := range response.Headers {
			if headers[name] != nil {
				header = &huma.Header{Ref: "#/components/headers/" + name}
			}
			found[name] = header
		}
		names := headersOf(status, found)
		if whole := op.Responses["200"]; status == http.StatusNotModified && whole.Headers["Retry-After"] != nil {
			names = append(names, "Retry-After")
		}
		for _, name := range names {
			found[name] = &huma.Header{Ref: "#/components/headers/" + name}
		}
		response.Headers = found
	}
}

// headersOf names the headers that go with a status.
func headersOf(status int, found map[string]*huma.Header) []string {
	names := []string{"X-Request-Id", "RateLimit", "RateLimit-Policy"}
	switch status {
	case 304:
		return append(names, "ETag")
	case 401:
		return append(names, "WWW-Authenticate")
	case 409, 429, 503:
		return append(names, "Retry-After")
	}
	if found["ETag"] != nil {
		return append(names, "ETag")
	}
	return names
}
