package stack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/taskloom/taskloom/dev/internal/envfile"
)

// demo is what is there to try: from what `taskloom apply` printed, and from
// the file that it applied (the passwords).
type demo struct {
	slug     string
	logins   []login
	pipeline string // the id of the one to create tasks in, "" if none is active
	key      string // its value, when it was made just now
}

type login struct{ Email, Password, Role string }

// applied is what `taskloom apply --output json` prints.
type applied struct {
	Organizations []struct {
		Slug     string
		Projects []struct{ Pipelines []appliedPipeline }
		APIKeys  []struct{ Name, Value string } `json:"api_keys"`
	}
}

type appliedPipeline struct {
	Name   string
	ID     json.Number
	Status string
}

// document is the part of the applied file that apply does not print back.
type document struct {
	Organizations []struct {
		Slug     string
		Users    []login
		Projects []struct {
			Members []struct{ Email, Role string }
		}
	}
}

func readDemo(printed []byte) (*demo, error) {
	var result applied
	if err := json.Unmarshal(printed, &result); err != nil {
		return nil, fmt.Errorf("taskloom apply printed something else than JSON: %w", err)
	}
	if len(result.Organizations) == 0 {
		return nil, errors.New("taskloom apply printed no organization")
	}
	org := result.Organizations[0]
	d := &demo{slug: org.Slug}
	for _, project := range org.Projects {
		for _, p := range project.Pipelines {
			if p.Status == "ACTIVE" {
				d.pipeline = cmp.Or(d.pipeline, p.ID.String())
			}
		}
	}
	for _, key := range org.APIKeys {
		d.key = cmp.Or(d.key, key.Value)
	}
	text, err := os.ReadFile(demoFile)
	if err != nil {
		return nil, err
	}
	d.logins, err = readLogins(text, d.slug)
	return d, err
}

// readLogins lists the users of an organization with the role that says most
// about what they can do.
func readLogins(text []byte, slug string) ([]login, error) {
	var doc document
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", demoFile, err)
	}
	var logins []login
	for _, org := range doc.Organizations {
		if org.Slug != slug {
			continue
		}
		roles := map[string]string{}
		for _, project := range org.Projects {
			for _, member := range project.Members {
				roles[member.Email] = member.Role
			}
		}
		for _, user := range org.Users {
			if user.Role == "member" {
				user.Role = cmp.Or(roles[user.Email], user.Role)
			}
			logins = append(logins, user)
		}
	}
	return logins, nil
}

// previousKey is the API key that an earlier run has kept.
func (s *Stack) previousKey() string {
	text, err := os.ReadFile(s.dir.Path("env"))
	if err != nil {
		return ""
	}
	return envfile.Parse(string(text))[keyVar]
}

// workingKey returns an API key that the product accepts: the one just made,
// the one of the last run, or another if that one is lost, revoked, or of
// another database.
func (a *app) workingKey(ctx context.Context, s *Stack, d *demo, previous string) (string, error) {
	if d.key != "" {
		return d.key, nil
	}
	if previous != "" {
		status, _, err := get(ctx, baseURL(lookup(a.vars, "ADDR"))+"/api/v1/workflows/"+cmp.Or(d.pipeline, "1"), previous)
		if err != nil {
			return "", fmt.Errorf("try the API key of the last run: %w", err)
		}
		if status != http.StatusUnauthorized && status != http.StatusForbidden {
			return previous, nil
		}
	}
	if len(d.logins) == 0 {
		return "", fmt.Errorf("%s has no user to make an API key for", demoFile)
	}
	return a.createKey(ctx, s, d.slug, d.logins[0].Email)
}

// get asks our own product for something; key may be "".
func get(ctx context.Context, url, key string) (status int, body string, err error) {
	const timeout, enough = 5 * time.Second, 300
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, enough))
	return res.StatusCode, string(text), err
}
