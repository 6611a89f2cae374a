package config

import (
	"cmp"
	"errors"
	"slices"

	"github.com/taskloom/taskloom/internal/fault"
)

// wayOut says how to set what a command cannot do without.
var wayOut = map[string]string{
	"DATABASE_URL": "is not set; give the Postgres of the app as postgres://user:password@host:5432/database " +
		"(beside `make dev`: set -a; . .dev/env; set +a)",
	"TEMPORAL_ADDRESS": "is not set; give host:port of the Temporal server " +
		"(beside `make dev`: set -a; . .dev/env; set +a)",
	"SECRET_KEY": "is not set; make one with: openssl rand -hex 32, the same for all API processes",
}

// Require adds to err, which Load returned, the variables among names that are
// not set.
func (c Config) Require(err error, names ...string) error {
	var p problems
	if known, ok := errors.AsType[*fault.Error](err); ok {
		p.found = slices.Clone(known.Problems)
	} else if err != nil {
		return err
	}
	for _, name := range names {
		if (*c.environ)[name] == "" {
			p.add(name, "%s", wayOut[name])
		}
	}
	return p.err()
}

func (p *problems) err() error {
	if len(p.found) == 0 {
		return nil
	}
	slices.SortStableFunc(p.found, func(a, b fault.Problem) int { return cmp.Compare(a.Path, b.Path) })
	return fault.New(fault.Validation, "the environment is not right").With(p.found)
}
