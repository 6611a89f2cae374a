package store

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/password"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// ApplyOptions are what Apply takes from outside.
type ApplyOptions struct {
	// Pipelines tell what the deployment offers to a published pipeline.
	Pipelines pipeline.Options
	// Rand is where API keys come from; it must be cryptographically random.
	Rand io.Reader
}

// Apply brings about what the document says, in one transaction: all of it or,
// when anything is wrong, nothing and a fault.Validation that lists every
// problem. What is there already is left as it is.
func (s *Store) Apply(ctx context.Context, doc apply.Document, o ApplyOptions) (apply.Result, error) {
	// A document with problems is refused before the passwords, which take
	// time, are hashed; they are hashed before the locks are taken.
	a := applying{doc: doc, options: o}
	if err := a.check(ctx, s.pool); err != nil {
		return apply.Result{}, translate(err)
	}
	hashes, err := s.applyHashes(ctx, doc)
	if err != nil {
		return apply.Result{}, err
	}
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		a = applying{store: s, doc: doc, options: o, hashes: hashes, tx: tx}
		return a.run(ctx)
	})
	if err != nil {
		return apply.Result{}, err
	}
	return a.result, nil
}

// applying is one Apply under way.
type applying struct {
	store   *Store
	doc     apply.Document
	options ApplyOptions
	hashes  map[string]string // by email: passwords to set
	tx      pgx.Tx
	now     time.Time
	result  apply.Result
	// org and out are the organization at hand; path is its place.
	org  int64
	out  *apply.OrganizationResult
	path string
	// moved are those who were members and have another role now.
	moved []moved
}

// moved is somebody whose role in an organization, or in one of its projects, changed.
type moved struct{ org, user int64 }

func (a *applying) run(ctx context.Context) error {
	// One at a time: two documents may name the same things in another order.
	err := a.tx.QueryRow(ctx, `SELECT now() FROM pg_advisory_xact_lock(hashtext('taskloom apply'))`).Scan(&a.now)
	if err != nil {
		return fmt.Errorf("lock apply: %w", err)
	}
	if err := a.check(ctx, a.tx); err != nil {
		return err
	}
	if err := a.checkAccounts(ctx); err != nil {
		return err
	}
	a.result.Organizations = make([]apply.OrganizationResult, len(a.doc.Organizations))
	for i, org := range a.doc.Organizations {
		a.out, a.path = &a.result.Organizations[i], fmt.Sprintf("organizations[%d]", i)
		if err := a.organization(ctx, org); err != nil {
			return err
		}
	}
	return a.endForbidden(ctx)
}

func (a *applying) organization(ctx context.Context, org apply.Organization) error {
	*a.out = apply.OrganizationResult{
		Slug: org.Slug, Projects: []apply.ProjectResult{}, Pipelines: []apply.PipelineResult{},
		Datasets: []apply.DatasetResult{}, APIKeys: []apply.KeyResult{},
	}
	steps := []func(context.Context, apply.Organization) error{
		a.organizationRow, a.users, a.projects, a.datasets, a.keys,
	}
	for _, step := range steps {
		if err := step(ctx, org); err != nil {
			return err
		}
	}
	return nil
}

func (a *applying) organizationRow(ctx context.Context, org apply.Organization) error {
	var created, renamed bool
	name := apply.Name(org.Name)
	err := a.tx.QueryRow(ctx, `
		WITH added AS (
			INSERT INTO organizations (slug, name) VALUES ($1, coalesce(nullif($2, ''), $1))
			ON CONFLICT (slug) DO NOTHING RETURNING id
		), renamed AS (
			UPDATE organizations SET name = $2 WHERE slug = $1 AND $2 NOT IN ('', name) RETURNING id
		)
		SELECT id, true, false FROM added
		UNION ALL SELECT id, false, EXISTS (SELECT FROM renamed) FROM organizations WHERE slug = $1`,
		org.Slug, name).Scan(&a.org, &created, &renamed)
	if err != nil {
		return fmt.Errorf("apply organization: %w", err)
	}
	a.out.ID = a.org
	if !created {
		if err := lockOrg(ctx, a.tx, a.org); err != nil || !renamed {
			return err
		}
		return a.audit(ctx, "organization.rename", object("organization", a.org), map[string]any{"name": name})
	}
	return a.audit(ctx, "organization.create", object("organization", a.org), map[string]any{"slug": org.Slug})
}

// applyHashes hashes the passwords that are new or changed.
func (s *Store) applyHashes(ctx context.Context, doc apply.Document) (map[string]string, error) {
	given := map[string]string{}
	for _, org := range doc.Organizations {
		for _, u := range org.Users {
			if u.Password != "" {
				given[apply.Email(u.Email)] = string(u.Password)
			}
		}
	}
	have, err := passwordHashes(ctx, s.pool, keysOf(given))
	if err != nil {
		return nil, translate(err)
	}
	changed := map[string]string{}
	for email, plain := range given {
		if have[email] != "" {
			same, _, err := password.Check(ctx, plain, have[email])
			if err != nil {
				return nil, err
			}
			if same {
				continue
			}
		}
		if changed[email], err = password.Hash(ctx, plain); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

func (a *applying) audit(ctx context.Context, action, what string, detail any) error {
	return audit(ctx, a.tx, a.org, nil, action, what, detail)
}

// refuse is the error of a document with problems.
func refuse(problems []fault.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return fault.New(fault.Validation, "the document has %s; nothing was changed",
		countOf(len(problems), "problem", "problems")).With(problems)
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}
