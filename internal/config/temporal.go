package config

import (
	"cmp"
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Temporal returns the options of a Temporal client: address, namespace, TLS,
// API key and headers from the variables and the file of Temporal's envconfig.
func (c Config) Temporal() (client.Options, error) {
	o, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: *c.environ})
	if err != nil {
		return o, fmt.Errorf("read the TEMPORAL_ variables: %w", err)
	}
	o.Namespace = cmp.Or(o.Namespace, c.TemporalNamespace)
	return o, nil
}

// namespace is where the client of Temporal works: what checks and registers must
// look there, and not where a variable that is not set would be.
func (c Config) namespace() string {
	o, err := c.Temporal()
	if err != nil {
		o.Namespace = c.TemporalNamespace // whoever asks for the client is told
	}
	return cmp.Or(o.Namespace, client.DefaultNamespace)
}

// lookup lets envconfig read the environment that Load was given.
type lookup map[string]string

// Environ lists the variables as NAME=value.
func (l lookup) Environ() []string {
	list := make([]string, 0, len(l))
	for name, value := range l {
		list = append(list, name+"="+value)
	}
	return list
}

// LookupEnv returns one variable.
func (l lookup) LookupEnv(name string) (string, bool) {
	value, ok := l[name]
	return value, ok
}
