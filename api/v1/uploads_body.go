package v1

import (
	"bytes"
	"math"
	"math/big"
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
	literal := bytes.TrimSpace(value)
	n, ok := wholeNumber(string(literal))
	if !ok {
		const most = 40
		return b.fail("file_size_bytes must be a whole number of bytes, at least 1, got %.*s", most, literal)
	}
	b.size = &n
	return true
}

// wholeNumber reads an integer of at least 1 as JSON Schema knows it: a number without
// a fraction, whether it is written 1000000, 1000000.0 or 1e6.
func wholeNumber(literal string) (n int64, ok bool) {
	const longest = 100 // but for zeros that nobody writes
	// The size comes first, or 1e999999999 would be written out.
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || f < 1 || f > math.MaxInt64 || len(literal) > longest {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(literal)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}
