package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// keyFlags are the flags of the key commands.
type keyFlags struct {
	org, name, createdBy, expires string
	output                        format
}

func (a *app) keyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "List, create, expire and revoke API keys"}
	var f keyFlags
	add := func(use, short string, run func(context.Context, *store.Store, int64, keyFlags) error, flags ...string) {
		sub := &cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.withKeys(cmd.Context(), f, run) },
		}
		sub.Flags().StringVar(&f.org, "org", "", "slug of the organization")
		addFormat(sub, &f.output)
		for _, name := range flags {
			switch name {
			case "name":
				sub.Flags().StringVar(&f.name, "name", "", "name of the key")
			case "created-by":
				sub.Flags().StringVar(&f.createdBy, "created-by", "", "email of the member whose identity the key carries")
			case "expires":
				sub.Flags().StringVar(&f.expires, "expires", "", "never, 30d, 90d or 1y, counted from now")
			}
		}
		for _, name := range append(flags, "org") {
			_ = sub.MarkFlagRequired(name) // only fails for an unknown flag
		}
		cmd.AddCommand(sub)
	}
	add("list", "List the keys: active ones first, then revoked ones", a.listKeys)
	add("create", "Create a key and show its value, once", a.createKey, "name", "created-by")
	add("expire", "Set the end of a key's life", a.expireKey, "name", "expires")
	add("revoke", "End a key for good, at once", a.revokeKey, "name")
	create, _, _ := cmd.Find([]string{"create"})
	create.Flags().StringVar(&f.expires, "expires", string(apikey.Never), "never, 30d, 90d or 1y, counted from now")
	return cmd
}

// withKeys runs one of the key commands on the organization's keys.
func (a *app) withKeys(
	ctx context.Context, f keyFlags, run func(context.Context, *store.Store, int64, keyFlags) error,
) error {
	if err := f.output.check(); err != nil {
		return err
	}
	if f.expires != "" && !apikey.Expiry(f.expires).Valid() {
		return fault.New(fault.InvalidRequest, "--expires %s is unknown; choose never, 30d, 90d or 1y", f.expires)
	}
	c, err := a.config("DATABASE_URL")
	if err != nil {
		return err
	}
	st, err := openStore(ctx, c)
	if err != nil {
		return err
	}
	defer st.Close()
	orgID, err := st.OrgBySlug(ctx, f.org)
	if err != nil {
		return err
	}
	return run(ctx, st, orgID, f)
}

// keyView is a key as scripts see it.
type keyView struct {
	ID             int64      `json:"id"`
	Name           string     `json:"name"`
	Value          string     `json:"value,omitempty"`
	Last4          string     `json:"last4"`
	Status         string     `json:"status"`
	CreatedBy      string     `json:"created_by"`
	CreatorRemoved bool       `json:"creator_removed"`
	CreatedAt      time.Time  `json:"created_at"`
	ExpiresAt      *time.Time `json:"expires_at"`
	RevokedAt      *time.Time `json:"revoked_at"`
	LastUsedAt     *time.Time `json:"last_used_at"`
}

func viewKey(k store.APIKey) keyView {
	v := keyView{
		ID: k.ID, Name: k.Name, Last4: k.Last4, Status: "active", CreatedBy: k.CreatedByEmail,
		CreatorRemoved: k.CreatorRemoved, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt,
		RevokedAt: k.RevokedAt, LastUsedAt: k.LastUsedAt,
	}
	switch {
	case k.RevokedAt != nil:
		v.Status = "revoked"
	case k.ExpiresAt != nil && !k.ExpiresAt.After(time.Now()):
		v.Status = "expired"
	}
	return v
}

func (a *app) printKeys(keys []keyView) error {
	rows := make([][]string, len(keys))
	for i, k := range keys {
		by := k.CreatedBy
		if k.CreatorRemoved {
			by += " (removed)"
		}
		rows[i] = []string{
			k.Name, "…" + k.Last4, k.Status, when(k.LastUsedAt, "never"), when(k.ExpiresAt, "never"),
			when(&k.CreatedAt, ""), by,
		}
	}
	return printTable(a.out, []string{"NAME", "KEY", "STATUS", "LAST USED", "EXPIRES", "CREATED", "CREATED BY"}, rows)
}
