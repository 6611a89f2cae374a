package console

import (
	"cmp"
	"context"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/filetype"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

// uploadLives is how long the address for a file takes it. The whole file need
// not have arrived by then, but its sending must have begun.
const uploadLives = time.Hour

// anyType is the content type of a file of which the browser knows none.
const anyType = "application/octet-stream"

type createFileInput struct {
	OnClaim
	Body struct {
		Field       string `json:"field" minLength:"1" maxLength:"200" doc:"A file_upload field of the form that the caller fills in."`
		Name        string `json:"name" minLength:"1" maxLength:"255"`
		Size        int64  `json:"size" minimum:"1" doc:"In bytes; exactly as many are taken."`
		ContentType string `json:"content_type,omitempty" maxLength:"255" doc:"As the browser tells it; application/octet-stream when empty."`
	} `nameHint:"FileRequest"`
}

// FileUpload says where a file is to be put.
type FileUpload struct {
	FileID    uuid.UUID         `json:"file_id" format:"uuid"`
	UploadURL string            `json:"upload_url" doc:"Put the file's bytes here with one PUT, then complete it. Needs no session."`
	Headers   map[string]string `json:"headers" doc:"To send with the PUT, exactly as they are."`
	ExpiresAt time.Time         `json:"expires_at" doc:"When the address stops working."`
}

type fileUploadOutput struct{ Body FileUpload }

type onFileInput struct {
	OnClaim
	FileID string `path:"file_id" maxLength:"64"`
}

// CompletedFile is an uploaded file: what the field's value says of it, and
// links to it.
type CompletedFile struct {
	File
	SHA256 string `json:"sha256" doc:"64 hexadecimal digits."`
}

type completedFileOutput struct{ Body CompletedFile }

func (a *api) registerFiles() {
	register(a, huma.Operation{
		OperationID: "createFile", Method: http.MethodPost, Path: "/claims/{claim_id}/files", Tags: []string{"Work"},
		DefaultStatus: http.StatusCreated,
		Summary:       "Begin the upload of a file",
		Description: fmt.Sprintf("For a file_upload field of the claim's form: answers with an address to PUT the file to, at most %d MB. "+
			"422 when the field does not take such a file.", maxFileBytes>>20),
	}, a.createFile, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable)
	register(a, huma.Operation{
		OperationID: "completeFile", Method: http.MethodPost, Path: "/claims/{claim_id}/files/{file_id}/complete", Tags: []string{"Work"},
		Summary: "Complete the upload of a file",
		Description: "Looks at the bytes that were put: their number, their type and their hash. The file can be submitted from then on, " +
			"with file_id, name, size, content_type and sha256 of the answer as the field's value. 409 when nothing was put yet, " +
			"422 when what was put is not what the field takes. Sent again it answers the same.",
	}, a.completeFile, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable)
}

var errNoObjects = fault.New(fault.Unavailable, "this deployment has no object store, so files cannot be uploaded; "+
	"an operator has to set the S3_ variables")

func (a *api) createFile(ctx context.Context, in *createFileInput) (*fileUploadOutput, error) {
	claim, err := a.Store.LiveClaim(ctx, caller(ctx).ID, in.ClaimID)
	if err != nil {
		return nil, err
	}
	field, err := a.Store.UploadField(ctx, claim, in.Body.Field)
	if err != nil {
		return nil, err
	}
	if a.Objects == nil {
		return nil, errNoObjects
	}
	if in.Body.Size > maxFileBytes {
		return nil, unfitFile(field.Name, fmt.Sprintf("the file has %d bytes, and more than %d MB are not possible", in.Body.Size, maxFileBytes>>20))
	}
	kind, err := announced(in.Body.ContentType)
	if err != nil {
		return nil, err
	}
	file := store.TaskFile{Field: field.Name, Announced: kind}
	file.ID, file.OrgID, file.Name, file.Size = uuid.Must(uuid.NewV7()), claim.OrgID, in.Body.Name, in.Body.Size
	// Browsers tell types by the name, and not all the same: the bytes decide
	// in the end, here only what cannot become right is refused.
	_, byName := fitting(field, file.Name, file.Size, filetype.Kinds(file.Name, filetype.Sniff(nil).String()))
	if kind == anyType {
		field.Accept, field.Rules.Accept = nil, nil
	}
	if _, err := fitting(field, file.Name, file.Size, filetype.Kinds(file.Name, kind)); byName != nil && err != nil {
		return nil, byName
	}
	file.UploadKey = fmt.Sprintf("org/%d/uploads/task/%d/%s", claim.OrgID, claim.TaskID, file.ID)
	if err := a.Store.CreateTaskFile(ctx, claim, file); err != nil {
		return nil, err
	}
	out := FileUpload{FileID: file.ID, Headers: map[string]string{"Content-Type": kind}, ExpiresAt: a.Now().Add(uploadLives).UTC()}
	out.UploadURL, err = a.Objects.PresignPutSized(ctx, file.UploadKey, kind, file.Size, uploadLives)
	return &fileUploadOutput{Body: out}, err
}

// announced is the content type of the PUT in its standard form.
func announced(contentType string) (string, error) {
	if contentType == "" {
		return anyType, nil
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err == nil {
		if kind = mime.FormatMediaType(kind, params); kind != "" {
			return kind, nil
		}
	}
	return "", fault.New(fault.Validation, "content_type is no media type such as image/png")
}

// fitting is the first of the types that a file may pass for as which a field takes it.
// The error says why it does not take the first.
func fitting(field form.Field, name string, size int64, kinds []string) (string, error) {
	var first error
	for _, kind := range kinds {
		err := fits(field, name, size, kind)
		if err == nil {
			return kind, nil
		}
		first = cmp.Or(first, err)
	}
	return "", first
}

// fits reports why a field does not take such a file, by the field's own rules.
func fits(field form.Field, name string, size int64, contentType string) error {
	field.Multiple, field.Required, field.VisibleWhen = false, false, nil
	field.Rules.MinItems, field.Rules.MaxItems = nil, nil
	value := map[string]any{"file_id": "unknown", "name": name, "size": size}
	if contentType != "" {
		value["content_type"] = contentType
	}
	_, problems := form.New([]form.Field{field}).CheckSubmission(form.Values{field.Name: mustEncode(value)}, nil)
	if len(problems) == 0 {
		return nil
	}
	return unfitFile(field.Name, problems[0].Message)
}

func unfitFile(field, message string) error {
	return fault.New(fault.Validation, "%s", message).With([]fault.Problem{{Field: field, Message: message}})
}
