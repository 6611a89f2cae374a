// Package config reads the settings of every process from the environment. It
// tells all problems at once, each with its variable and the way out, and
// keeps secrets from being printed.
package config

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/limit"
)

// Config are the settings of a process. What a command needs beyond their
// being well-formed it asks for with Require.
type Config struct {
	// DatabaseURL is the app database, postgres://…
	DatabaseURL Secret `env:"DATABASE_URL"`
	// DatabaseMaxConns bounds the connections of the process.
	DatabaseMaxConns int32 `env:"DATABASE_MAX_CONNS" envDefault:"16"`
	// RequestsAtOnce bounds the requests that serve works on at a time; see AtOnce.
	RequestsAtOnce int `env:"REQUESTS_AT_ONCE" envDefault:"0"`
	// RequestsPerProcessor bounds them where RequestsAtOnce does not: four suppose
	// that the processors are serve's own, two that Postgres and Temporal share them.
	RequestsPerProcessor int `env:"REQUESTS_PER_PROCESSOR" envDefault:"4"`
	// CachedRuns are the runs that worker keeps in memory, some 50 KB each of a small
	// pipeline; the others it replays when something happens to them.
	CachedRuns int `env:"CACHED_RUNS" envDefault:"16384"`
	// TemporalAddress is host:port. TLS, API key and the rest are the
	// variables of Temporal's envconfig; see Temporal.
	TemporalAddress string `env:"TEMPORAL_ADDRESS"`
	// TemporalNamespace is where the runs are: of the variable, of envconfig's file,
	// or "default".
	TemporalNamespace string `env:"TEMPORAL_NAMESPACE"`
	// TemporalUIURL is where operators find the Temporal Web UI.
	TemporalUIURL string `env:"TEMPORAL_UI_URL"`
	S3            S3     `envPrefix:"S3_"`
	// Uploads bound the archives that the API takes and the worker unpacks.
	Uploads Uploads `envPrefix:"UPLOAD_"`
	// RedisURL is where API processes count together, against RateLimits and
	// failed logins; without it each counts by itself.
	RedisURL   Secret     `env:"REDIS_URL"`
	RateLimits RateLimits `envPrefix:"RATE_LIMIT_"`
	// Addr is where the API listens, MetricsAddr where Prometheus scrapes.
	Addr        string `env:"ADDR" envDefault:"127.0.0.1:8080"`
	MetricsAddr string `env:"METRICS_ADDR" envDefault:"127.0.0.1:9090"`
	// DrainDelay is how long the API goes on after /readyz says that it ends,
	// for load balancers that must notice first.
	DrainDelay time.Duration `env:"DRAIN_DELAY" envDefault:"0s"`
	// PublicURL is the API's address as callers see it, without a final slash.
	PublicURL string `env:"PUBLIC_URL"`
	// TrustedProxies are the networks of the proxies in front of the API, whose
	// X-Forwarded-For is believed: comma-separated CIDRs; see Proxies.
	TrustedProxies string `env:"TRUSTED_PROXIES"`
	// SecretKey authenticates cursors; all API processes share it. 64
	// hexadecimal digits.
	SecretKey Secret `env:"SECRET_KEY"`
	// LogLevel is debug, info, warn or error; LogFormat json or text.
	LogLevel  string `env:"LOG_LEVEL" envDefault:"info"`
	LogFormat string `env:"LOG_FORMAT" envDefault:"json"`

	// environ is behind a pointer so that printing a Config does not show it.
	environ *lookup
}

// S3 is the object store; it is configured when it has a bucket.
type S3 struct {
	// Endpoint is http(s)://host:port of the store; AWS itself when empty.
	Endpoint string `env:"ENDPOINT"`
	// PublicEndpoint is the same store as browsers and integrators reach it;
	// links for uploads and downloads carry it. Endpoint when empty.
	PublicEndpoint  string `env:"PUBLIC_ENDPOINT"`
	Region          string `env:"REGION" envDefault:"us-east-1"`
	Bucket          string `env:"BUCKET"`
	AccessKeyID     Secret `env:"ACCESS_KEY_ID"`
	SecretAccessKey Secret `env:"SECRET_ACCESS_KEY"`
}

// Configured reports whether there is an object store.
func (s S3) Configured() bool { return s.Bucket != "" }

// secretKeyBytes is the size of a decoded SECRET_KEY.
const secretKeyBytes = 32

// maxDrainDelay keeps the end of a process within the minute or so that
// orchestrators give it; requests have their time after the delay.
const maxDrainDelay = 20 * time.Second

// Load reads the environment, a list of NAME=value. An empty variable counts
// as unset. The error is a fault.Validation with every problem; a Config comes
// with it, so that a command can add what it misses.
func Load(environ []string) (Config, error) {
	c := Config{environ: &lookup{}}
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" {
			(*c.environ)[name] = value
		}
	}
	var p problems
	if err := env.ParseWithOptions(&c, env.Options{Environment: *c.environ}); err != nil {
		p.parse(err)
	}
	if c.PublicURL == "" {
		c.PublicURL = c.LocalURL()
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	c.TemporalNamespace = c.namespace()
	c.check(&p)
	if c.S3.PublicEndpoint == "" { // after the check, which tells a wrong S3_ENDPOINT once
		c.S3.PublicEndpoint = c.S3.Endpoint
	}
	c.S3.PublicEndpoint = strings.TrimRight(c.S3.PublicEndpoint, "/")
	return c, p.err()
}

// Key returns the decoded SecretKey.
func (c Config) Key() []byte {
	key, err := hex.DecodeString(c.SecretKey.Reveal())
	if err != nil {
		return nil // Load has told
	}
	return key
}

// LocalURL is the API's address for who runs on the same machine.
func (c Config) LocalURL() string { return "http://" + reachable(c.Addr) }

// AtOnce is how many requests serve works on at a time on a machine with so many
// processors: what is set, or else so many for each of them, of which some wait for
// Postgres at any moment, and not more than there are connections to it.
func (c Config) AtOnce(processors int) int {
	return cmp.Or(c.RequestsAtOnce, min(c.RequestsPerProcessor*processors, int(c.DatabaseMaxConns)))
}

// Level returns the level of the log.
func (c Config) Level() slog.Level {
	var l slog.Level
	_ = l.UnmarshalText([]byte(c.LogLevel)) // Load has told; info then
	return l
}

func (c Config) check(p *problems) {
	if u := c.DatabaseURL.Reveal(); u != "" {
		// pgx's error names the URL without its password. What has no scheme it takes for
		// keywords, the first being all that stands before an equals sign.
		_, err := pgxpool.ParseConfig(u)
		if word, _, _ := strings.Cut(u, "="); err == nil && !strings.Contains(u, "://") && strings.ContainsAny(word, "/:@?") {
			err = errors.New("it does not begin with postgres://")
		}
		if err != nil {
			p.add("DATABASE_URL", "is no Postgres address; write postgres://user:password@host:5432/database: %s",
				strings.ReplaceAll(err.Error(), "\n", " "))
		}
	}
	if c.DrainDelay < 0 || c.DrainDelay > maxDrainDelay {
		p.add("DRAIN_DELAY", "must be between 0s and %s", maxDrainDelay)
	}
	if c.DatabaseMaxConns < 1 || c.DatabaseMaxConns > 1000 {
		p.add("DATABASE_MAX_CONNS", "must be between 1 and 1000")
	}
	if c.CachedRuns < 1 {
		p.add("CACHED_RUNS", "must be a whole number, at least 1")
	}
	if c.RequestsAtOnce < 0 {
		p.add("REQUESTS_AT_ONCE", "must not be negative; 0 is REQUESTS_PER_PROCESSOR for each, and one for each connection to the database at most")
	}
	if c.RequestsPerProcessor < 1 || c.RequestsPerProcessor > 1000 {
		p.add("REQUESTS_PER_PROCESSOR", "must be a whole number between 1 and 1000")
	}
	if _, err := parseProxies(c.TrustedProxies); err != nil {
		p.add("TRUSTED_PROXIES", "%s; write networks separated by commas, such as 10.0.0.0/8,fd00::/8", err)
	}
	for name, addr := range map[string]string{
		"TEMPORAL_ADDRESS": c.TemporalAddress, "ADDR": c.Addr, "METRICS_ADDR": c.MetricsAddr,
	} {
		if _, _, err := net.SplitHostPort(addr); addr != "" && err != nil {
			p.add(name, "%q is no address; write host:port, such as 127.0.0.1:8080", addr)
		}
	}
	for name, u := range map[string]string{
		"PUBLIC_URL": c.PublicURL, "TEMPORAL_UI_URL": c.TemporalUIURL, "S3_ENDPOINT": c.S3.Endpoint,
		"S3_PUBLIC_ENDPOINT": c.S3.PublicEndpoint,
	} {
		if u != "" && !httpURL(u) {
			p.add(name, "%q is no address of a web server; write https://host or http://host:port", u)
		}
	}
	if k := c.SecretKey.Reveal(); k != "" {
		if raw, err := hex.DecodeString(k); err != nil || len(raw) != secretKeyBytes {
			p.add("SECRET_KEY", "must be 64 hexadecimal digits; make one with: openssl rand -hex 32")
		}
	}
	if u := c.RedisURL.Reveal(); u != "" {
		if _, err := limit.ParseURL(u); err != nil {
			p.add("REDIS_URL", "%s", err)
		}
	}
	c.RateLimits.check(p)
	if err := new(slog.Level).UnmarshalText([]byte(c.LogLevel)); err != nil {
		p.add("LOG_LEVEL", "%q is no level; choose debug, info, warn or error", c.LogLevel)
	}
	if c.LogFormat != "json" && c.LogFormat != "text" {
		p.add("LOG_FORMAT", "%q is no format; choose json or text", c.LogFormat)
	}
	c.S3.check(p)
	c.Uploads.check(p)
}

func (s S3) check(p *problems) {
	if s.Bucket == "" {
		if s.Endpoint != "" || s.PublicEndpoint != "" || s.AccessKeyID != "" || s.SecretAccessKey != "" {
			p.add("S3_BUCKET", "is not set, but other S3_ variables are; name the bucket or unset them all")
		}
		return
	}
	for name, value := range map[string]Secret{
		"S3_ACCESS_KEY_ID": s.AccessKeyID, "S3_SECRET_ACCESS_KEY": s.SecretAccessKey,
	} {
		if value == "" {
			p.add(name, "is not set, but S3_BUCKET is; give the credentials of the object store")
		}
	}
}

// reachable turns an address to listen on into one to call.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func httpURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// problems collects what is wrong; the path of each is its variable.
type problems struct{ found []fault.Problem }

func (p *problems) add(name, format string, args ...any) {
	p.found = append(p.found, fault.Problem{Path: name, Message: fmt.Sprintf(format, args...)})
}

// parse tells what env could not read into a number.
func (p *problems) parse(err error) {
	var all env.AggregateError
	if !errors.As(err, &all) {
		p.add("environment", "%s", err)
		return
	}
	for _, e := range all.Errors {
		var one env.ParseError
		switch {
		case errors.As(e, &one) && one.Name == "DatabaseMaxConns":
			p.add("DATABASE_MAX_CONNS", "must be a whole number")
		case errors.As(e, &one) && one.Name == "RequestsAtOnce":
			p.add("REQUESTS_AT_ONCE", "must be a whole number")
		case errors.As(e, &one) && one.Name == "DrainDelay":
			p.add("DRAIN_DELAY", "must be a time span such as 5s")
		case errors.As(e, &one) && (one.Name == "CachedRuns" || one.Name == "RequestsPerProcessor" || uploadVariables[one.Name] != ""): // its check tells
		default:
			p.add("environment", "%s", e)
		}
	}
}
