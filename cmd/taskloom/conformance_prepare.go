package main

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/conformance"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

func (a *app) conformancePrepareCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prepare",
		Short: "Make a workflow and a key of every sort, and print the target",
		Long: "Makes two organizations, conformance and conformance-foreign, in this deployment's database, with every workflow and\n" +
			"key that the checks need, and prints them for --target. The keys live for thirty days at most. Repeat it for new keys.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.conformancePrepare(cmd.Context()) },
	}
}

func (a *app) conformancePrepare(ctx context.Context) error {
	c, err := a.config("DATABASE_URL")
	if err != nil {
		return err
	}
	st, err := openStore(ctx, c)
	if err != nil {
		return err
	}
	defer st.Close()
	t := conformance.Target{BaseURL: c.PublicURL}
	orgID, err := applyConformance(ctx, st, &t)
	if err != nil {
		return err
	}
	k := &keymaker{store: st, orgID: orgID, suffix: time.Now().UTC().Format(" 2006-01-02 15:04:05.000")}
	if err := k.fill(ctx, &t); err != nil {
		return err
	}
	return printJSON(a.out, t)
}

// applyConformance brings about the suite's document. Nobody learns the
// passwords.
func applyConformance(ctx context.Context, st *store.Store, t *conformance.Target) (orgID int64, err error) {
	doc, err := apply.Read(conformance.Document)
	if err != nil {
		return 0, err
	}
	for _, org := range doc.Organizations {
		for i := range org.Users {
			org.Users[i].Password = apply.Secret(rand.Text())
		}
	}
	result, err := st.Apply(ctx, doc, store.ApplyOptions{Rand: rand.Reader, Pipelines: pipeline.Options{}})
	if err != nil {
		return 0, err
	}
	workflows := map[string]int64{}
	for _, org := range result.Organizations {
		if org.Slug == conformance.Organization {
			orgID = org.ID
		}
		for _, p := range org.Pipelines {
			workflows[p.Name] = p.ID
		}
	}
	return orgID, t.Find(workflows)
}

// keymaker makes keys whose names are new.
type keymaker struct {
	store  *store.Store
	orgID  int64
	suffix string
}

func (k *keymaker) fill(ctx context.Context, t *conformance.Target) error {
	admin, err := k.store.UserByEmail(ctx, conformance.Admin)
	if err != nil {
		return err
	}
	leaver, err := k.store.UserByEmail(ctx, conformance.Leaver)
	if err != nil {
		return err
	}
	soon, past := apikey.ExpiresAt("30d", time.Now()), time.Now().Add(-time.Minute)
	var revoked int64
	for _, key := range []struct {
		name    string
		creator int64
		expires *time.Time
		value   *string
		id      *int64
	}{
		{"conformance", admin.ID, soon, &t.Key, nil},
		{"spare", admin.ID, soon, &t.SpareKey, nil},
		{"expired", admin.ID, &past, &t.ExpiredKey, nil},
		{"revoked", admin.ID, soon, &t.RevokedKey, &revoked},
		{"of a removed creator", leaver.ID, soon, &t.RemovedCreatorKey, nil},
	} {
		id, err := k.make(ctx, key.name, key.creator, key.expires, key.value)
		if err != nil {
			return err
		}
		if key.id != nil {
			*key.id = id
		}
	}
	if _, err := k.store.RevokeKey(ctx, k.orgID, revoked, 0); err != nil {
		return err
	}
	return k.store.RemoveUser(ctx, conformance.Organization, conformance.Leaver)
}

func (k *keymaker) make(ctx context.Context, name string, creator int64, expires *time.Time, value *string) (id int64, err error) {
	if *value, err = apikey.Generate(rand.Reader); err != nil {
		return 0, err
	}
	key, err := k.store.CreateKey(ctx, k.orgID, creator, name+k.suffix, apikey.Hash(*value), apikey.Last4(*value), expires, 0)
	return key.ID, err
}
