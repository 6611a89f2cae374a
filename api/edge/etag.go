package edge

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// ETag returns the weak entity tag of a body: weak, because the same content
// may be encoded in other ways.
func ETag(body any) (string, error) {
	doc, err := json.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("encode for entity tag: %w", err)
	}
	sum := sha256.Sum256(doc)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, nil
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
