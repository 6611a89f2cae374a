package apply

import (
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/password"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Limits of names, in characters.
const (
	maxName  = 200
	maxEmail = 254
)

var (
	slugShape    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	orgRoles     = []string{"org_admin", "member"}
	projectRoles = []string{"project_admin", "contributor", "reviewer"}
	statuses     = []string{
		pipeline.StatusDraft, pipeline.StatusActive, pipeline.StatusPaused,
		pipeline.StatusCompleted, pipeline.StatusArchived,
	}
)

// Existing is what the document may refer to without containing it. Emails are
// lower case.
type Existing struct {
	// Users are the emails of everybody who has a password.
	Users map[string]bool
	// Members are the emails of the members of each organization, by slug.
	Members map[string]map[string]bool
}

// Problems tells everything that is wrong with the document, each problem
// with its path. None means that it can be applied, as far as the document
// itself goes.
func (d Document) Problems(have Existing, opts pipeline.Options) []fault.Problem {
	c := checker{have: have, opts: opts, found: slices.Clone(d.unreadable), people: map[string]seen{}}
	c.unreadable = len(c.found)
	slugs := unique{}
	for i, o := range d.Organizations {
		path := fmt.Sprintf("organizations[%d]", i)
		c.required(path+".slug", o.Slug)
		if o.Slug != "" && !slugShape.MatchString(o.Slug) {
			c.add(path+".slug", "%q is no slug; use 1 to 63 lower case letters, digits and inner hyphens", short(o.Slug))
		}
		c.once(slugs, path+".slug", o.Slug, "organization")
		c.organization(path, o)
	}
	return c.found
}

// seen is what the document said of a person first.
type seen struct {
	path     string
	name     string
	password Secret
}

type checker struct {
	have  Existing
	opts  pipeline.Options
	found []fault.Problem
	// unreadable is how many of found are of the document's shape. What could
	// not be read is empty, so further problems at its place mean nothing.
	unreadable int
	people     map[string]seen
}

func (c *checker) add(path, format string, args ...any) {
	for _, p := range c.found[:c.unreadable] {
		if p.Path == path || strings.HasPrefix(path, p.Path+".") || strings.HasPrefix(path, p.Path+"[") {
			return
		}
	}
	c.found = append(c.found, fault.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) organization(path string, o Organization) {
	c.text(path+".name", o.Name)
	emails := unique{}
	for i, u := range o.Users {
		at := fmt.Sprintf("%s.users[%d]", path, i)
		c.user(at, u)
		c.once(emails, at+".email", Email(u.Email), "user")
	}
	projects := unique{}
	for i, p := range o.Projects {
		at := fmt.Sprintf("%s.projects[%d]", path, i)
		c.name(at+".name", p.Name)
		c.once(projects, at+".name", Name(p.Name), "project")
		c.project(at, o, p)
	}
	datasets := unique{}
	for i, s := range o.Datasets {
		at := fmt.Sprintf("%s.datasets[%d]", path, i)
		c.name(at+".name", s.Name)
		c.once(datasets, at+".name", Name(s.Name), "dataset")
	}
	keys := unique{}
	for i, k := range o.APIKeys {
		at := fmt.Sprintf("%s.api_keys[%d]", path, i)
		c.name(at+".name", k.Name)
		c.once(keys, at+".name", Name(k.Name), "API key")
		c.required(at+".created_by", k.CreatedBy)
		c.member(at+".created_by", o, k.CreatedBy)
		if k.Expires != "" {
			c.oneOf(at+".expires", string(k.Expires), texts(apikey.Expiries()))
		}
	}
}

func (c *checker) user(path string, u User) {
	c.required(path+".email", u.Email)
	email := Email(u.Email)
	if email != "" && !ValidEmail(email) {
		c.add(path+".email", "%q is no email address", short(u.Email))
	}
	c.text(path+".name", u.Name)
	if u.Role != "" {
		c.oneOf(path+".role", u.Role, orgRoles)
	}
	switch {
	case u.Password != "":
		if p := password.Problem(string(u.Password)); p != "" {
			c.add(path+".password", "%s", p)
		}
	case email != "" && !c.have.Users[email] && c.people[email].password == "":
		c.add(path+".password", "a new user needs a password")
	}
	c.samePerson(path, email, u)
}

// samePerson refuses a document that says different things of one person.
func (c *checker) samePerson(path, email string, u User) {
	first, again := c.people[email]
	if email == "" || !again {
		c.people[email] = seen{path: path, name: u.Name, password: u.Password}
		return
	}
	if u.Name != "" && first.name != "" && u.Name != first.name {
		c.add(path+".name", "differs from %s.name, which is the same person", first.path)
	}
	if u.Password != "" && first.password != "" && u.Password != first.password {
		c.add(path+".password", "differs from %s.password, which is the same person", first.path)
	}
}

func (c *checker) project(path string, o Organization, p Project) {
	members := unique{}
	for i, m := range p.Members {
		at := fmt.Sprintf("%s.members[%d]", path, i)
		c.required(at+".email", m.Email)
		c.member(at+".email", o, m.Email)
		c.once(members, at+".email", Email(m.Email), "member")
		c.required(at+".role", m.Role)
		if m.Role != "" {
			c.oneOf(at+".role", m.Role, projectRoles)
		}
	}
	names := unique{}
	for i, l := range p.Pipelines {
		at := fmt.Sprintf("%s.pipelines[%d]", path, i)
		c.pipeline(at, l)
		c.once(names, at+".definition.name", Name(l.Definition.Name), "pipeline")
	}
}

func (c *checker) pipeline(path string, l Pipeline) {
	if l.Status != "" {
		c.oneOf(path+".status", l.Status, statuses)
	}
	c.name(path+".definition.name", l.Definition.Name)
	switch l.Status {
	case "", pipeline.StatusDraft, pipeline.StatusArchived: // may be unfinished
	default:
		for _, p := range pipeline.Validate(l.Definition, c.opts) {
			if p.Path != "name" { // told above
				c.add(path+".definition."+p.Path, "%s", p.Message)
			}
		}
	}
}

// member checks that an email belongs to somebody in the organization.
func (c *checker) member(path string, o Organization, email string) {
	email = Email(email)
	if email == "" || c.have.Members[o.Slug][email] {
		return
	}
	if !slices.ContainsFunc(o.Users, func(u User) bool { return Email(u.Email) == email }) {
		c.add(path, "%q is no user of the organization; add them to its users", short(email))
	}
}

func (c *checker) name(path, name string) {
	c.required(path, name)
	c.text(path, name)
}

func (c *checker) required(path, value string) {
	if strings.TrimSpace(value) == "" {
		c.add(path, "is missing")
	}
}

func (c *checker) text(path, value string) {
	if n := utf8.RuneCountInString(value); n > maxName {
		c.add(path, "has %d characters; at most %d are allowed", n, maxName)
	}
}

func (c *checker) oneOf(path, value string, choices []string) {
	if !slices.Contains(choices, value) {
		c.add(path, "%q is none of %s", short(value), strings.Join(choices, ", "))
	}
}

// unique remembers where each name was given first.
type unique map[string]string

func (c *checker) once(names unique, path, name, what string) {
	if name == "" {
		return
	}
	if first, again := names[name]; again {
		c.add(path, "%s %q is given already at %s", what, short(name), first)
		return
	}
	names[name] = path
}

// ValidEmail reports whether a stored address is one that mail can be sent to.
func ValidEmail(email string) bool {
	a, err := mail.ParseAddress(email)
	return err == nil && a.Address == email && len(email) <= maxEmail
}

// Email is how an address is stored and compared.
func Email(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// Name is how a name is stored and compared.
func Name(s string) string { return strings.TrimSpace(s) }

func texts[S ~string](of []S) []string {
	out := make([]string, len(of))
	for i, s := range of {
		out[i] = string(s)
	}
	return out
}
