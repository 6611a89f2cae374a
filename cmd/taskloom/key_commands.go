package main

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

func (a *app) listKeys(ctx context.Context, st *store.Store, orgID int64, f keyFlags) error {
	keys, err := st.Keys(ctx, orgID)
	if err != nil {
		return err
	}
	views := make([]keyView, len(keys))
	for i, k := range keys {
		views[i] = viewKey(k)
	}
	if f.output == "json" {
		return printJSON(a.out, map[string]any{"api_keys": views})
	}
	return a.printKeys(views)
}

func (a *app) createKey(ctx context.Context, st *store.Store, orgID int64, f keyFlags) error {
	creator, err := st.UserByEmail(ctx, f.createdBy)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.NotFound, "--created-by %s: no such member; name somebody of organization %q",
			f.createdBy, f.org)
	}
	if err != nil {
		return err
	}
	value, err := apikey.Generate(rand.Reader)
	if err != nil {
		return err
	}
	now, err := st.Clock(ctx)
	if err != nil {
		return err
	}
	key, err := st.CreateKey(ctx, orgID, creator.ID, f.name, apikey.Hash(value), apikey.Last4(value),
		apikey.ExpiresAt(apikey.Expiry(f.expires), now), 0)
	if err != nil {
		return err
	}
	if f.output == "json" {
		view := viewKey(key)
		view.Value = value
		return printJSON(a.out, view)
	}
	_, err = fmt.Fprintf(a.out, "%s\n\nThis is the value of API key %q. It is shown this once; keep it safe.\nIt expires: %s\n",
		value, key.Name, when(key.ExpiresAt, "never"))
	return err
}

func (a *app) expireKey(ctx context.Context, st *store.Store, orgID int64, f keyFlags) error {
	key, err := st.KeyByName(ctx, orgID, f.name)
	if err != nil {
		return err
	}
	now, err := st.Clock(ctx)
	if err != nil {
		return err
	}
	key, err = st.SetKeyExpiry(ctx, orgID, key.ID, apikey.ExpiresAt(apikey.Expiry(f.expires), now), 0)
	if err != nil {
		return err
	}
	return a.printKey(key, f)
}

func (a *app) revokeKey(ctx context.Context, st *store.Store, orgID int64, f keyFlags) error {
	key, err := st.KeyByName(ctx, orgID, f.name)
	if err != nil {
		return err
	}
	if key, err = st.RevokeKey(ctx, orgID, key.ID, 0); err != nil {
		return err
	}
	return a.printKey(key, f)
}

func (a *app) printKey(key store.APIKey, f keyFlags) error {
	if f.output == "json" {
		return printJSON(a.out, viewKey(key))
	}
	return a.printKeys([]keyView{viewKey(key)})
}
