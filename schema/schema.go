// Package schema holds the migrations of the app database, embedded, in the
// order of their numbers. They are forward-only and expand before they
// contract, so that the old binary works on the new schema.
package schema

import "embed"

// Migrations are the files of migrations/, for tern's migrator.
//
//go:embed migrations/*.sql
var Migrations embed.FS
