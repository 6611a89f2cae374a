package config

import (
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
	if o.Namespace == "" {
		o.Namespace = c.TemporalNamespace
	}
	return o, nil
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
