package edge

import (
	"net/http"
	"strings"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
)

// KeyHeader is the other header besides Authorization that may carry an API key.
const KeyHeader = "X-API-Key"

// KeyOf returns the API key of a request (spec 5.2), whose form is right; whether it is
// good only the database knows. It fails with fault.MissingAPIKey or
// fault.InvalidAPIKey. A caller who sends several that differ may have mixed up two
// deployments; which one was meant is not ours to guess.
func KeyOf(h http.Header) (string, error) {
	var given []string
	for _, v := range h.Values("Authorization") {
		if token, ok := bearer(v); ok && token != "" {
			given = append(given, token)
		}
	}
	for _, v := range h.Values(KeyHeader) {
		if v = strings.TrimSpace(v); v != "" {
			given = append(given, v)
		}
	}
	if len(given) == 0 {
		return "", fault.New(fault.MissingAPIKey,
			"send an API key as `Authorization: Bearer <key>` or as `X-API-Key: <key>`")
	}
	for _, v := range given[1:] {
		if v != given[0] {
			return "", fault.New(fault.InvalidAPIKey, "the request carries different API keys; send one")
		}
	}
	if strings.HasPrefix(given[0], bare) {
		return "", fault.New(fault.InvalidAPIKey, "the Authorization header names no scheme: write `Authorization: Bearer <key>`")
	}
	if !apikey.Valid(given[0]) {
		return "", fault.New(fault.InvalidAPIKey,
			"this is no API key: a key is %s and 40 hexadecimal digits in lower case", apikey.Prefix)
	}
	return given[0], nil
}

// bare stands before a key that came without its scheme; no key begins with it.
const bare = "Bearer missing: "

// bearer returns the token of a Bearer credential. A bare key is taken as one
// too, so that its sender hears what is wrong with it, not that it is missing.
func bearer(credential string) (token string, ok bool) {
	credential = strings.TrimSpace(credential)
	scheme, token, found := strings.Cut(credential, " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return strings.TrimSpace(token), true
	case !found && strings.HasPrefix(credential, apikey.Prefix):
		return bare + credential, true
	}
	return "", false
}
