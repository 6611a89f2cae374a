// Package apply reads the document of `taskloom apply`: organizations with
// their people, projects, pipelines, datasets and API keys, in YAML or JSON. It
// decides whether the document makes sense and names every problem with its
// place; the store carries it out. It is pure.
package apply

import (
	"encoding/json"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Document is what should be there. What it does not mention is left alone.
// Everything is known by its name: an organization by its slug, a user by the
// email, the rest by the name within what holds it.
type Document struct {
	Organizations []Organization `json:"organizations"`

	// unreadable are the problems of the document's shape; see Problems.
	unreadable []fault.Problem
}

// Organization is one tenant.
type Organization struct {
	Slug string `json:"slug"`
	// Name is what people see; the slug when it is absent at first.
	Name     string    `json:"name"`
	Users    []User    `json:"users"`
	Projects []Project `json:"projects"`
	Datasets []Dataset `json:"datasets"`
	APIKeys  []APIKey  `json:"api_keys"`
}

// User is a person and their role in the organization.
type User struct {
	Email string `json:"email"`
	Name  string `json:"name"`
	// Password is needed for a new user and changes that of another one, whom the
	// document must name in all of their organizations then.
	Password Secret `json:"password"`
	// Role is org_admin or member; absent it stays what it is, member at first.
	Role string `json:"role"`
}

// Project groups pipelines and the people who work on them.
type Project struct {
	Name      string     `json:"name"`
	Members   []Member   `json:"members"`
	Pipelines []Pipeline `json:"pipelines"`
}

// Member is a user of the organization with a role in a project.
type Member struct {
	Email string `json:"email"`
	// Role is project_admin, contributor or reviewer.
	Role string `json:"role"`
}

// Pipeline is a definition and where in its life the pipeline should be.
type Pipeline struct {
	// Status is DRAFT, ACTIVE, PAUSED, COMPLETED or ARCHIVED; absent it stays
	// what it is, DRAFT at first.
	Status     string              `json:"status"`
	Definition pipeline.Definition `json:"definition"`
}

// Dataset is a table of the organization's data vault.
type Dataset struct {
	Name string `json:"name"`
	Rows []Row  `json:"rows"`
}

// Row is one row of a dataset: an object with its columns in the order of the
// document.
type Row struct {
	Columns []string
	Data    json.RawMessage
}

// APIKey is a key of the External API. Its value is made once, when there is
// no key of the name yet.
type APIKey struct {
	Name string `json:"name"`
	// CreatedBy is the email of a member, whose identity the key carries.
	CreatedBy string `json:"created_by"`
	// Expires counts from the creation; never when absent.
	Expires apikey.Expiry `json:"expires"`
}

// Secret is a text that is never printed.
type Secret string

const hidden = "[secret]"

// String hides the secret.
func (Secret) String() string { return hidden }

// GoString hides the secret.
func (Secret) GoString() string { return hidden }

// MarshalJSON hides the secret.
func (Secret) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }
