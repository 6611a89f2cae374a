package v1

import (
	"time"

	"github.com/taskloom/taskloom/internal/fault"
)

// The things that the examples are about.
const (
	exampleWorkflow = 12
	exampleTask     = 3456
	exampleTag      = `W/"x6Cg0p3R0Dq3kVbL"`
	exampleKey      = "4b0f9a5e-6f0d-4c8e-9d2a-7c1e5b3a8f60"
	exampleCursor   = "AQAAAAAAAA2AAAAAAAAAAAxkVbLx6Cg0p3R0Dq3"
)

// exampleTime is when they happened.
var exampleTime = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// unauthorized are the answers to who has no good key (spec section 5).
var unauthorized = examples{401: {
	failure("no_key", "No key was sent", fault.MissingAPIKey, "send an API key as `Authorization: Bearer <key>` or as `X-API-Key: <key>`"),
	failure("malformed_key", "What was sent is no key", fault.InvalidAPIKey,
		"this is no API key: a key is pk_live_ and 40 hexadecimal digits in lower case"),
	failure("unknown_key", "There is no such key", fault.InvalidAPIKey, "this API key is not known; check that it was copied whole"),
	failure("revoked_key", "The key was revoked", fault.InvalidAPIKey, "this API key was revoked; use another one"),
	failure("expired_key", "The key has expired", fault.InvalidAPIKey,
		"this API key has expired; an org admin can extend it or create another one"),
	failure("different_keys", "Two headers carry different keys", fault.InvalidAPIKey, "the request carries different API keys; send one"),
}}

// tooMany is the answer to who calls too often, guessing to who sends too many
// bad keys.
var (
	tooMany = examples{429: {{
		"too_many_requests", "The rate limit is reached",
		Error{Error: string(fault.RateLimited), Message: "too many requests; wait 23 seconds", RetryAfter: 23},
	}}}
	guessing = examples{429: {{
		"too_many_failures", "Too many requests without a valid key came from this address", Error{
			Error: string(fault.RateLimited), RetryAfter: 23,
			Message: "too many requests without a valid API key from this address; check the key; wait 23 seconds",
		},
	}}}
)

// broken are the answers when something of the service is.
var broken = examples{
	500: {failure("internal_error", "An error of ours", fault.Internal,
		"something went wrong on our side; if it happens again, report the X-Request-Id of this answer")},
	503: {failure("database_away", "The database does not answer", fault.Unavailable, "the database is not available right now; try again")},
}

// absentWorkflow are the answers to who asks for a workflow that is not there.
var absentWorkflow = examples{404: {
	failure("no_such_workflow", "No such workflow, or another organization's", fault.NotFound, "workflow 12 not found"),
	failure("workflow_id_is_no_id", "The id in the path is none", fault.NotFound,
		"nothing found: workflow_id in the path: invalid integer"),
}}

// keyed are the errors that every operation with a key shares.
var keyed = unauthorized.with(tooMany, guessing, broken)

// theKey are the answers about an Idempotency-Key.
var theKey = examples{
	400: {failure("malformed_idempotency_key", "The Idempotency-Key is none", fault.InvalidRequest,
		"Idempotency-Key must be one text of 1 to 255 printable ASCII characters, bare or in double quotes")},
	409: {failure("still_running", "A request with this Idempotency-Key is still running", fault.Conflict,
		`a request with Idempotency-Key "`+exampleKey+`" is still running; retry with the same key to get its answer`)},
}

// otherBody is the answer to a key that comes with another body.
var otherBody = examples{422: {failure("other_body", "The Idempotency-Key was used with another body", fault.Validation,
	`Idempotency-Key "`+exampleKey+`" was used with another body; use a new key for a new request`)}}

// largeBody are the answers about a body that may be large.
var largeBody = examples{
	400: {
		failure("malformed_json", "The body is no JSON", fault.InvalidRequest,
			"the body is not valid JSON: invalid character '}' looking for beginning of value at byte 11"),
		failure("body_too_late", "The body took too long to arrive", fault.InvalidRequest,
			"the body did not arrive within 2 minutes; send it in parts"),
	},
	413: {failure("body_too_large", "The body has more than 32 MB", fault.PayloadTooLarge, "the body is larger than 33554432 bytes; send it in parts")},
	415: {failure("not_json", "The body is not JSON by its headers", fault.InvalidRequest,
		`Content-Type "text/csv" is not supported; send plain JSON with Content-Type: application/json`)},
}
