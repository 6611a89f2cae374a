package v1

import (
	"crypto/sha256"
	"strings"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

const (
	idempotencyHeader = "Idempotency-Key"
	maxIdempotencyKey = 255
)

// idempotency returns the idempotency key of a request, nil when it has none.
// route names the operation and its path parameters.
func idempotency(header []string, key store.APIKey, route string, body []byte) (*store.IdempotencyKey, error) {
	if len(header) == 0 {
		return nil, nil //nolint:nilnil // the header is optional
	}
	value, ok := parseIdempotencyKey(header)
	if !ok {
		return nil, fault.New(fault.InvalidRequest,
			"%s must be one text of 1 to %d printable ASCII characters, bare or in double quotes", idempotencyHeader, maxIdempotencyKey)
	}
	return &store.IdempotencyKey{KeyID: key.ID, Route: route, Key: value, BodyHash: sha256.Sum256(body)}, nil
}

// parseIdempotencyKey reads the header as clients send it: bare, as Stripe's
// do, or as the structured string of the IETF draft, where quotes enclose it
// and a backslash escapes. Both forms of one key are the same key.
func parseIdempotencyKey(header []string) (string, bool) {
	if len(header) != 1 {
		return "", false
	}
	value := strings.TrimSpace(header[0])
	if strings.HasPrefix(value, `"`) {
		var ok bool
		if value, ok = unquote(value); !ok {
			return "", false
		}
	}
	if value == "" || len(value) > maxIdempotencyKey {
		return "", false
	}
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return "", false
		}
	}
	return value, true
}

// unquote reads a string of RFC 8941.
func unquote(s string) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), i == len(s)-1
		case '\\':
			i++
			if i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", false
}
