package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// check finds every problem that can be found without changing anything.
func (a *applying) check(ctx context.Context, q querier) error {
	have, err := existing(ctx, q, a.doc)
	if err != nil {
		return err
	}
	problems := a.doc.Problems(have, a.options.Pipelines)
	moves, err := a.moves(ctx, q)
	if err != nil {
		return err
	}
	return refuse(append(problems, moves...))
}

// existing looks up what the document refers to.
func existing(ctx context.Context, q querier, doc apply.Document) (apply.Existing, error) {
	have := apply.Existing{Users: map[string]bool{}, Members: map[string]map[string]bool{}}
	var emails, slugs []string
	for _, org := range doc.Organizations {
		slugs = append(slugs, org.Slug)
		for _, u := range org.Users {
			emails = append(emails, apply.Email(u.Email))
		}
	}
	hashes, err := passwordHashes(ctx, q, emails)
	if err != nil {
		return have, err
	}
	for email := range hashes {
		have.Users[email] = true
	}
	rows, _ := q.Query(ctx, `
		SELECT o.slug, u.email FROM organizations o
		JOIN org_members m ON m.org_id = o.id AND m.removed_at IS NULL
		JOIN users u ON u.id = m.user_id
		WHERE o.slug = ANY ($1)`, slugs)
	var slug, email string
	_, err = pgx.ForEachRow(rows, []any{&slug, &email}, func() error {
		if have.Members[slug] == nil {
			have.Members[slug] = map[string]bool{}
		}
		have.Members[slug][email] = true
		return nil
	})
	if err != nil {
		return have, fmt.Errorf("list members: %w", err)
	}
	return have, nil
}

func passwordHashes(ctx context.Context, q querier, emails []string) (map[string]string, error) {
	rows, _ := q.Query(ctx, `SELECT email, password_hash FROM users WHERE email = ANY ($1)`, emails)
	hashes := map[string]string{}
	var email, hash string
	_, err := pgx.ForEachRow(rows, []any{&email, &hash}, func() error {
		hashes[email] = hash
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read password hashes: %w", err)
	}
	return hashes, nil
}

// standing is where a pipeline is in its life.
type standing struct {
	Slug      string
	Project   string
	Name      string
	Status    string
	Published bool
}

// moves tells of target statuses that cannot be reached from where the
// pipelines are.
func (a *applying) moves(ctx context.Context, q querier) ([]fault.Problem, error) {
	slugs := make([]string, len(a.doc.Organizations))
	for i, org := range a.doc.Organizations {
		slugs[i] = org.Slug
	}
	rows, _ := q.Query(ctx, `
		SELECT o.slug, p.name AS project, l.name, l.status, l.version_id IS NOT NULL AS published
		FROM organizations o JOIN projects p ON p.org_id = o.id
		JOIN pipelines l ON l.org_id = o.id AND l.project_id = p.id
		WHERE o.slug = ANY ($1)`, slugs)
	standings, err := pgx.CollectRows(rows, pgx.RowToStructByName[standing])
	if err != nil {
		return nil, fmt.Errorf("list pipelines: %w", err)
	}
	at := make(map[[3]string]standing, len(standings))
	for _, s := range standings {
		at[[3]string{s.Slug, s.Project, s.Name}] = s
	}
	var problems []fault.Problem
	for i, org := range a.doc.Organizations {
		for j, project := range org.Projects {
			for k, l := range project.Pipelines {
				s, there := at[[3]string{org.Slug, apply.Name(project.Name), apply.Name(l.Definition.Name)}]
				if !there || l.Status == "" {
					continue
				}
				if _, ok := pipeline.PathTo(s.Status, s.Published, l.Status); !ok {
					problems = append(problems, fault.Problem{
						Path:    fmt.Sprintf("organizations[%d].projects[%d].pipelines[%d].status", i, j, k),
						Message: fmt.Sprintf("the pipeline is %s and cannot become %s", s.Status, l.Status),
					})
				}
			}
		}
	}
	return problems, nil
}
