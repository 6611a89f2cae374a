package edge

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
)

// Encoded is a body that was encoded for its entity tag, and is sent as it is.
type Encoded interface {
	// Encoding is what Encode returned for the body; nil, and it is encoded to be sent.
	Encoding() []byte
}

// Appender is a body that encodes itself: what is asked for so often that reflection
// costs too much.
type Appender interface {
	// AppendJSON appends what encoding/json makes of the body.
	AppendJSON(dst []byte) ([]byte, error)
}

// Encode returns a body as answers carry it.
func Encode(body any) ([]byte, error) {
	if a, ok := body.(Appender); ok {
		doc, err := a.AppendJSON(nil)
		if err != nil {
			return nil, fmt.Errorf("encode for entity tag: %w", err)
		}
		return append(doc, '\n'), nil
	}
	var doc bytes.Buffer
	if err := huma.DefaultJSONFormat.Marshal(&doc, body); err != nil {
		return nil, fmt.Errorf("encode for entity tag: %w", err)
	}
	return doc.Bytes(), nil
}

// ETag returns the weak entity tag of an encoded body: weak, because the same
// content may be encoded in other ways.
func ETag(doc []byte) string {
	sum := sha256.Sum256(doc)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// jsonFormat is that of all answers, and of the bodies that huma decodes.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, body any) error {
		if e, ok := body.(Encoded); ok && e.Encoding() != nil {
			_, err := w.Write(e.Encoding())
			return err
		}
		return huma.DefaultJSONFormat.Marshal(w, body)
	},
	Unmarshal: func(doc []byte, into any) error {
		if err := huma.DefaultJSONFormat.Unmarshal(doc, into); err != nil {
			return errors.New(fault.JSON(err)) // huma shows it to the caller
		}
		return nil
	},
}

// Matches reports whether an If-None-Match header names the tag, by the weak
// comparison of RFC 9110.
func Matches(ifNoneMatch, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for entry := range strings.SplitSeq(ifNoneMatch, ",") {
		entry = strings.TrimPrefix(strings.TrimSpace(entry), "W/")
		if entry == "*" || entry == tag {
			return true
		}
	}
	return false
}
