package console

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/taskloom/taskloom/internal/cursor"
)

// positions makes cursors of lists that are not ordered by an id alone: the
// position stands before a cursor of the usual kind, which seals it.
type positions struct {
	codec         cursor.Codec
	org, pipeline int64
	filter        string
}

func (p positions) scope(body string) cursor.Scope {
	return cursor.Scope{OrgID: p.org, PipelineID: p.pipeline, Filter: p.filter + " at=" + body}
}

func (p positions) encode(id int64, at any) (string, error) {
	doc, err := json.Marshal(at)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	body := base64.RawURLEncoding.EncodeToString(doc)
	return body + "." + p.codec.Encode(p.scope(body), id), nil
}

func (p positions) decode(text string, at any) error {
	body, seal, _ := strings.Cut(text, ".")
	if _, err := p.codec.Decode(p.scope(body), seal); err != nil {
		return err
	}
	doc, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return cursor.ErrMalformed
	}
	return json.Unmarshal(doc, at)
}
