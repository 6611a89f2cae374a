package v1

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/store"
)

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
	// Not the key: two of an organization would have the room of all others for bodies.
	ex.Belongs("org " + strconv.FormatInt(key.OrgID, 10))
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
		if value, err := edge.KeyOf(r.Header); err == nil {
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
	value, err := edge.KeyOf(r.Header)
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
