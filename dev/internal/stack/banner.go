package stack

import (
	"io"
	"strings"
	"text/template"
)

// bannerText ends a start: everything that a person needs to go on.
var bannerText = template.Must(template.New("banner").Parse(`
Taskloom is ready.

  App                {{.URL}}
  API docs           {{.URL}}/api/v1/docs
  Console API docs   {{.URL}}/api/console/docs
{{- if .UI}}
  Temporal UI        {{.UI}}{{end}}
  S3 endpoint        {{.S3}}{{if .S3Yours}} (yours){{end}}
  Database           {{.Database}}{{if .DatabaseYours}} (yours){{end}}
{{range .Groups}}
  {{printf "%-18s" .Role}} {{.Emails}}{{end}}
  Password           {{.Password}}

  API key            {{.Key}}
{{- if .Pipeline}}

  Create a task:
    curl -sS {{.URL}}/api/v1/workflows/{{.Pipeline}}/tasks -H 'Authorization: Bearer {{.Key}}' -H 'Content-Type: application/json' -d '{"tasks":[{"fields":{"question":"A pen costs 3 euros. What do 4 pens cost?"}}]}'
{{- end}}

  Environment        set -a; . {{.Dir}}/env; set +a    (then every bin/taskloom command works)
  Logs               {{.Dir}}/logs
  Ctrl-C stops everything; make dev goes on where it was, FRESH=1 make dev starts empty.

`))

type bannerData struct {
	URL, UI, S3, Database, Key, Pipeline, Dir, Password string
	S3Yours, DatabaseYours                              bool
	Groups                                              []roleGroup
}

// roleGroup is one line of logins.
type roleGroup struct{ Role, Emails string }

func banner(out io.Writer, s *Stack, a *app, d *demo, key string, want wanted) error {
	data := bannerData{
		URL: baseURL(lookup(a.vars, "ADDR")), UI: lookup(a.vars, "TEMPORAL_UI_URL"),
		S3: lookup(a.vars, "S3_ENDPOINT"), S3Yours: !want.s3,
		Database: lookup(a.vars, "DATABASE_URL"), DatabaseYours: !want.database,
		Key: key, Pipeline: d.pipeline, Dir: s.dir.Path(),
	}
	data.Groups, data.Password = groupLogins(d.logins)
	return bannerText.Execute(out, data)
}

// groupLogins puts people of one role in one line, in the order of the file. A
// password of somebody's own stands beside the name; the common one is returned.
func groupLogins(logins []login) (groups []roleGroup, common string) {
	titles := map[string]string{
		"org_admin": "Admin", "project_admin": "Project admins", "contributor": "Contributors", "reviewer": "Reviewers",
	}
	at := map[string]int{}
	for i, l := range logins {
		if i == 0 {
			common = l.Password
		}
		name := l.Email
		if l.Password != common {
			name += " (" + l.Password + ")"
		}
		n, seen := at[l.Role]
		if !seen {
			title := titles[l.Role]
			if title == "" {
				title = strings.ToUpper(l.Role[:min(1, len(l.Role))]) + l.Role[min(1, len(l.Role)):]
			}
			at[l.Role] = len(groups)
			groups = append(groups, roleGroup{Role: title, Emails: name})
			continue
		}
		groups[n].Emails += ", " + name
	}
	return groups, common
}
