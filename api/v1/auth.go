package v1

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/store"
)

const keyHeader = "X-API-Key"

type keyContext struct{}

// authenticate lets operations with a Security entry pass with a valid key
// only, and within the limit of that key. It runs before anything of the request
// is parsed.
func (a *api) authenticate(ctx huma.Context, next func(huma.Context)) {
	if len(ctx.Operation().Security) == 0 {
		next(ctx)
		return
	}
	r, w := humachi.Unwrap(ctx)
	key, id, err := a.identify(r)
	if err != nil {
		if fault.Is(err, fault.MissingAPIKey) || fault.Is(err, fault.InvalidAPIKey) {
			err = a.Limits.Failed(ctx.Context(), w.Header(), a.Proxies.Client(r), err)
		}
		edge.WriteHumaError(a.huma, ctx, err)
		return
	}
	ex := edge.From(ctx.Context())
	ex.Note(slog.Int64("org_id", key.OrgID), slog.Int64("key_id", key.ID))
	ex.Belongs("key " + strconv.FormatInt(key.ID, 10))
	if err := a.Limits.AdmitKey(ctx.Context(), w.Header(), id, cost(ctx.Operation().OperationID)); err != nil {
		edge.WriteHumaError(a.huma, ctx, err)
		return
	}
	charge := edge.Meter(r, func(bytes int64) {
		a.Limits.Charge(ctx.Context(), w.Header(), limit.Key, id, edge.BodyCost(bytes))
	})
	defer charge()
	next(huma.WithValue(ctx, keyContext{}, key))
}

// refuseAgain stands before the gate: a program that goes on asking although it
// was told to wait takes no place from others.
func (a *api) refuseAgain(ctx huma.Context, next func(huma.Context)) {
	if len(ctx.Operation().Security) > 0 {
		r, w := humachi.Unwrap(ctx)
		if value, err := keyOf(r.Header); err == nil {
			if err := a.Limits.AgainRefused(ctx.Context(), w.Header(), edge.KeyID(apikey.Hash(value))); err != nil {
				edge.WriteHumaError(a.huma, ctx, err)
				return
			}
		}
	}
	next(ctx)
}

// identify returns the key that the request came with, and the id of its bucket.
func (a *api) identify(r *http.Request) (key store.APIKey, bucket string, err error) {
	value, err := keyOf(r.Header)
	if err != nil {
		return key, "", err
	}
	hash := apikey.Hash(value)
	key, err = a.Store.AuthenticateKey(r.Context(), hash)
	return key, edge.KeyID(hash), err
}

// caller returns the key that the request came with.
func caller(ctx context.Context) store.APIKey {
	key, ok := ctx.Value(keyContext{}).(store.APIKey)
	if !ok {
		panic("a handler asked for a key that its operation does not require")
	}
	return key
}

// keyOf returns the key of a request (spec 5.2). A caller who sends several
// that differ may have mixed up two deployments; which one was meant is not
// ours to guess.
func keyOf(h http.Header) (string, error) {
	var given []string
	for _, v := range h.Values("Authorization") {
		if token, ok := bearer(v); ok && token != "" {
			given = append(given, token)
		}
	}
	for _, v := range h.Values(keyHeader) {
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
