package stack

import (
	"cmp"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/taskloom/taskloom/dev/internal/envfile"
)

// stackVar names, in a stack's environment file, the stack that the file
// belongs to.
const stackVar = "TASKLOOM_STACK"

// Environ is the environment of this program, without what a shell has read
// from a stack's own environment file (`set -a; . .dev/env`): those values are
// no wish to bring one's own database, and stale when the stack is down.
type Environ map[string]string

// NewEnviron takes the environment as os.Environ gives it.
func NewEnviron(list []string) Environ {
	env := Environ{}
	for _, pair := range list {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	from := env[stackVar]
	if from == "" {
		return env
	}
	delete(env, stackVar)
	text, err := os.ReadFile(filepath.Join(from, "env"))
	if err != nil {
		return env
	}
	for name, value := range envfile.Parse(string(text)) {
		if env[name] == value && name != "ADDR" && name != "DEV_DIR" {
			delete(env, name)
		}
	}
	return env
}

// Or is a variable's value, or a default where it is unset or empty.
func (e Environ) Or(name, otherwise string) string {
	if value := e[name]; value != "" {
		return value
	}
	return otherwise
}

// Yes tells whether a switch such as FRESH is on: 1, or whatever else means yes.
func (e Environ) Yes(name string) bool {
	switch e[name] {
	case "", "0", "no", "false":
		return false
	}
	return true
}

// with is the environment for a child: ours, with vars on top.
func (e Environ) with(vars []envfile.Var, more ...envfile.Var) []string {
	merged := map[string]string{}
	maps.Copy(merged, e)
	for _, v := range append(slices.Clip(vars), more...) {
		merged[v.Name] = v.Value
	}
	list := make([]string, 0, len(merged))
	for name, value := range merged {
		list = append(list, name+"="+value)
	}
	return list
}

// wants says which parts to run: those that the caller has not brought.
// Temporal needs our Postgres even when the product has one of its own: we do
// not make databases on a server that is not ours.
func (e Environ) wants() wanted {
	own := func(name string) bool { return e[name] == "" }
	return wanted{
		postgres: own("DATABASE_URL") || own("TEMPORAL_ADDRESS"),
		database: own("DATABASE_URL"),
		temporal: own("TEMPORAL_ADDRESS"),
		ui:       own("TEMPORAL_ADDRESS"),
		s3:       own("S3_ENDPOINT"),
	}
}

// places bounds the requests that serve works on at a time: two for each processor.
// The default, four, supposes that the processors are its own. Here Postgres and
// Temporal have the same ones, and fewer at a time are answered sooner, more of them
// in all, when too many come (docs/load.md). What the caller says goes first.
func (e Environ) places() []envfile.Var {
	const name = "REQUESTS_PER_PROCESSOR"
	if cmp.Or(e[name], e["REQUESTS_AT_ONCE"]) != "" || !e.wants().database {
		return nil
	}
	return []envfile.Var{{Name: name, Value: "2"}}
}

// vars is what makes every `taskloom` command work with this stack: the
// content of the environment file. What the caller has set stays as it is.
func (s *Stack) vars(env Environ, want wanted, addr string) []envfile.Var {
	var vars []envfile.Var
	add := func(name, value string) {
		if value != "" {
			vars = append(vars, envfile.Var{Name: name, Value: value})
		}
	}
	if want.database {
		add("DATABASE_URL", s.databaseURL())
	} else {
		add("DATABASE_URL", env["DATABASE_URL"])
	}
	if want.temporal {
		add("TEMPORAL_ADDRESS", s.local(portTemporal))
		add("TEMPORAL_NAMESPACE", namespace)
	} else {
		add("TEMPORAL_ADDRESS", env["TEMPORAL_ADDRESS"])
		add("TEMPORAL_NAMESPACE", env.Or("TEMPORAL_NAMESPACE", namespace))
		add("TEMPORAL_UI_URL", env["TEMPORAL_UI_URL"])
	}
	if want.ui {
		add("TEMPORAL_UI_URL", "http://"+s.local(portUI))
	}
	if want.s3 {
		add("S3_ENDPOINT", "http://"+s.local(portS3))
		add("S3_REGION", region)
		add("S3_BUCKET", bucket)
		add("S3_ACCESS_KEY_ID", s.settings.S3AccessKeyID)
		add("S3_SECRET_ACCESS_KEY", s.settings.S3SecretKey)
	} else {
		add("S3_ENDPOINT", env["S3_ENDPOINT"])
		add("S3_REGION", env.Or("S3_REGION", region))
		add("S3_BUCKET", env.Or("S3_BUCKET", bucket))
		add("S3_ACCESS_KEY_ID", env["S3_ACCESS_KEY_ID"])
		add("S3_SECRET_ACCESS_KEY", env["S3_SECRET_ACCESS_KEY"])
	}
	add("REDIS_URL", env["REDIS_URL"])
	add("ADDR", addr)
	add("PUBLIC_URL", env.Or("PUBLIC_URL", baseURL(addr)))
	add("METRICS_ADDR", env.Or("METRICS_ADDR", s.local(portMetrics)))
	add("WORKER_METRICS_ADDR", env.Or("WORKER_METRICS_ADDR", s.local(portWorkerMetrics)))
	add("SECRET_KEY", env.Or("SECRET_KEY", s.settings.SecretKey))
	add("DEV_DIR", s.dir.Path())
	add(stackVar, s.dir.Path())
	return vars
}

// namespace is the Temporal namespace of an embedded server.
const namespace = "default"

func (s *Stack) databaseURL() string {
	return "postgres://postgres:" + s.settings.PostgresPassword + "@" + s.local(portPostgres) +
		"/" + appDatabase + "?sslmode=disable"
}

// baseURL is how a browser on this machine reaches addr.
func baseURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// lookup is the value of one of the variables.
func lookup(vars []envfile.Var, name string) string {
	for _, v := range vars {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}
