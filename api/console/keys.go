package console

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/store"
)

// Key is an API key as it is listed: never its value.
type Key struct {
	ID             int64      `json:"id"`
	Name           string     `json:"name"`
	Last4          string     `json:"last4" doc:"The last characters of the value."`
	CreatedBy      string     `json:"created_by" doc:"Email of the creator, whose identity the key carries."`
	CreatorRemoved bool       `json:"creator_removed" doc:"The creator is no member any more: ZIP uploads with this key are refused."`
	CreatedAt      time.Time  `json:"created_at"`
	ExpiresAt      *time.Time `json:"expires_at"`
	RevokedAt      *time.Time `json:"revoked_at"`
	LastUsedAt     *time.Time `json:"last_used_at" doc:"To the minute."`
}

func newKey(k store.APIKey) Key {
	return Key{
		ID: k.ID, Name: k.Name, Last4: k.Last4, CreatedBy: k.CreatedByEmail, CreatorRemoved: k.CreatorRemoved,
		CreatedAt: k.CreatedAt.UTC(), ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, LastUsedAt: k.LastUsedAt,
	}
}

// NewKey is an API key at its creation, the only time that its value is shown.
type NewKey struct {
	Key
	Value string `json:"value" doc:"Keep it now: it cannot be shown again."`
}

// InOrg is embedded by every operation on an organization.
type InOrg struct {
	OrgID int64 `path:"org_id" minimum:"1"`
}

// OnKey is embedded by every operation on a key.
type OnKey struct {
	InOrg
	KeyID int64 `path:"key_id" minimum:"1"`
}

type createKeyInput struct {
	InOrg
	Body struct {
		Name    string        `json:"name" minLength:"1" maxLength:"100" doc:"Names the integration; it cannot be changed."`
		Expires apikey.Expiry `json:"expires" enum:"never,30d,90d,1y" doc:"Counted from now."`
	} `nameHint:"CreateKeyRequest"`
}

type expiryInput struct {
	OnKey
	Body struct {
		Expires apikey.Expiry `json:"expires" enum:"never,30d,90d,1y" doc:"Counted from now, also when that shortens the key's life."`
	} `nameHint:"ExpiryRequest"`
}

type keyOutput struct{ Body Key }

type newKeyOutput struct{ Body NewKey }

type keysOutput struct {
	Body struct {
		Keys []Key `json:"keys" doc:"Active ones first, then revoked ones; newest first."`
	} `nameHint:"KeyList"`
}

func (a *api) registerKeys() {
	tags := []string{"API keys"}
	register(a, huma.Operation{
		OperationID: "listKeys", Method: http.MethodGet, Path: "/orgs/{org_id}/keys", Tags: tags, Summary: "List API keys",
	}, a.listKeys)
	register(a, huma.Operation{
		OperationID: "createKey", Method: http.MethodPost, Path: "/orgs/{org_id}/keys", Tags: tags, Summary: "Create an API key",
		DefaultStatus: http.StatusCreated,
	}, a.createKey, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "setKeyExpiry", Method: http.MethodPost, Path: "/orgs/{org_id}/keys/{key_id}/expiry", Tags: tags,
		Summary: "Change when an API key expires", Description: "400 for a revoked key.",
	}, a.setKeyExpiry)
	register(a, huma.Operation{
		OperationID: "revokeKey", Method: http.MethodPost, Path: "/orgs/{org_id}/keys/{key_id}/revoke", Tags: tags,
		Summary: "Revoke an API key", Description: "At once and for good. Revoking again has no effect.",
	}, a.revokeKey)
}

func (a *api) listKeys(ctx context.Context, in *InOrg) (*keysOutput, error) {
	keys, err := a.Store.ListKeys(ctx, in.OrgID)
	if err != nil {
		return nil, err
	}
	out := &keysOutput{}
	out.Body.Keys = make([]Key, len(keys))
	for i, k := range keys {
		out.Body.Keys[i] = newKey(k)
	}
	return out, nil
}

func (a *api) createKey(ctx context.Context, in *createKeyInput) (*newKeyOutput, error) {
	value, err := apikey.Generate(a.Rand)
	if err != nil {
		return nil, err
	}
	now, err := a.Store.Clock(ctx)
	if err != nil {
		return nil, err
	}
	me := caller(ctx).ID
	key, err := a.Store.CreateKey(ctx, in.OrgID, me, in.Body.Name, apikey.Hash(value), apikey.Last4(value),
		apikey.ExpiresAt(in.Body.Expires, now), me)
	if err != nil {
		return nil, err
	}
	return &newKeyOutput{Body: NewKey{Key: newKey(key), Value: value}}, nil
}

func (a *api) setKeyExpiry(ctx context.Context, in *expiryInput) (*keyOutput, error) {
	now, err := a.Store.Clock(ctx)
	if err != nil {
		return nil, err
	}
	key, err := a.Store.SetKeyExpiry(ctx, in.OrgID, in.KeyID, apikey.ExpiresAt(in.Body.Expires, now), caller(ctx).ID)
	return &keyOutput{Body: newKey(key)}, err
}

func (a *api) revokeKey(ctx context.Context, in *OnKey) (*keyOutput, error) {
	key, err := a.Store.RevokeKey(ctx, in.OrgID, in.KeyID, caller(ctx).ID)
	return &keyOutput{Body: newKey(key)}, err
}
