package v1

import "github.com/danielgtaylor/huma/v2"

// What the document says of the API as a whole.
const description = `Create tasks and follow them. A workflow is what the web app calls a pipeline.

**Authentication.** Send an API key as ` + "`Authorization: Bearer <key>` or as `X-API-Key: <key>`" + `. A key reaches the workflows of its organization only; anything else is 404.

**First steps.** Get the workflow, then its schema: it names the fields of a task. Without file upload fields, create tasks from JSON; with them, start an upload, PUT the ZIP archive to its upload_url, confirm, and poll the upload. Then poll the tasks.

**Errors.** Every error answer has ` + "`error`, `message` and, with 429, `retry_after`" + `. Branch on error, show message. The examples of each answer are what the server says, word for word but for ids and numbers. A method that a path does not have is 405 api_error, and Allow lists those that it has.

**Request ids.** Every answer has an X-Request-Id; send your own (1 to 128 letters, digits, dots, dashes and underscores) to find a request in both logs.

**Retries.** Send an Idempotency-Key with a POST: a retry with the same key and body gets the first success again, marked Idempotent-Replayed, and does nothing. It belongs to the API key and the path, so another API key repeats nothing. After 429, 503 and a 409 that has Retry-After, wait as it says.

**Limits.** A request counts for its key, or without one for its client's address. RateLimit and RateLimit-Policy tell how much is left, as advice; Retry-After prevails.

**Polling.** Status and list answers carry an ETag; with If-None-Match an unchanged one is 304.

**Versions.** Within v1 properties are added to answers; nothing is taken away and nothing more is demanded. Ignore what you do not know.`

var (
	license = &huma.License{Name: "Apache 2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"}
	contact = &huma.Contact{Name: "Taskloom", URL: "https://github.com/taskloom/taskloom"}
)
