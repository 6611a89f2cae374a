package v1

import (
	"bytes"
	"strconv"

	"github.com/taskloom/taskloom/api/internal/wirejson"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/seeding"
)

// uploadRequest describes the body of an init in the document.
type uploadRequest struct {
	Tasks         []uploadItem `json:"tasks,omitempty" minItems:"1" maxItems:"5000" doc:"One item for each task to create. Leave it out, when all fields are file uploads, to have the rows made from the archive."`
	FileSizeBytes int64        `json:"file_size_bytes,omitempty" minimum:"1" doc:"Size of the archive; a larger one has longer to arrive. Without it the upload_url works for 60 minutes."`
}

type uploadItem struct {
	Fields map[string]any `json:"fields" doc:"Field names of the schema endpoint and their values. The value of a file upload field is the file's path in the archive, or an array of paths where the field takes several files."`
}

// uploadBody is what an init asks for.
type uploadBody struct {
	// tasks are the items; nil when the rows are to come from the archive.
	tasks []seeding.Item
	// size is file_size_bytes; nil when it is not given.
	size *int64
}

// decodeUpload reads the body of an init. Both properties may be absent or
// null, and so may the whole body. known is as for decodeBatch.
func decodeUpload(body []byte, known func(name string) bool) (uploadBody, error) {
	if len(body) == 0 {
		return uploadBody{}, nil
	}
	b := batch{known: known}
	b.object("the body", body,
		property{name: "tasks", read: func(value []byte) bool { return isNull(value) || b.readTasks(value) }},
		property{name: "file_size_bytes", read: func(value []byte) bool { return isNull(value) || b.readSize(value) }},
	)
	if b.err != nil {
		return uploadBody{}, fault.New(fault.Validation, "%s", b.err)
	}
	return uploadBody{tasks: b.items, size: b.size}, nil
}

func isNull(value []byte) bool { return wirejson.Shape(value) == 'n' }

func (b *batch) readSize(value []byte) bool {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
	if err != nil || n < 1 {
		const most = 40
		return b.fail("file_size_bytes must be a whole number of bytes, at least 1, got %.*s", most, bytes.TrimSpace(value))
	}
	b.size = &n
	return true
}
