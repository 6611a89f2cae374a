package config_test

import (
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/taskloom/taskloom/internal/config"
)

// What docker-compose.yml does not hand on, nobody can set there, and nothing says
// so.
func TestEverySettingCanBeSetUnderCompose(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docker-compose.yml")
	require.NoError(t, err)
	var file struct {
		Settings map[string]any `yaml:"x-settings"`
		S3       map[string]any `yaml:"x-s3"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &file))
	fixed := []string{"ADDR", "METRICS_ADDR"} // the containers' own, published as others
	names := append(settings(reflect.TypeFor[config.Config](), ""), telemetry(t)...)
	for _, name := range names {
		if _, s3 := file.S3[name]; !s3 {
			if _, ok := file.Settings[name]; !ok {
				require.Contains(t, fixed, name)
			}
		}
	}
}

// inEnviron is how telemetry.go reads a variable, of each signal or of all.
var inEnviron = regexp.MustCompile(`env\["(OTEL_\w*)"(?:\+signal\+"(\w+)")?\]`)

// telemetry are the variables of OpenTelemetry that the configuration reads, in no
// field of its own, and the name that the SDK gives a process.
func telemetry(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile("telemetry.go")
	require.NoError(t, err)
	names := []string{"OTEL_SERVICE_NAME"}
	for _, m := range inEnviron.FindAllStringSubmatch(string(source), -1) {
		if m[2] == "" {
			names = append(names, m[1])
			continue
		}
		names = append(names, m[1]+"TRACES"+m[2], m[1]+"METRICS"+m[2])
	}
	require.Subset(t, names, []string{"OTEL_SDK_DISABLED", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}, "telemetry.go reads them in another way")
	return names
}

// Whoever is trusted says where others come from, so that is the gateway by which a
// proxy on the machine comes, and nobody else.
func TestTheProxyToTrustUnderComposeIsOneAddress(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docker-compose.yml")
	require.NoError(t, err)
	var file struct {
		Networks struct {
			Published struct {
				IPAM struct {
					Config []struct {
						Subnet string `yaml:"subnet"`
					} `yaml:"config"`
				} `yaml:"ipam"`
			} `yaml:"published"`
		} `yaml:"networks"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &file))
	require.Len(t, file.Networks.Published.IPAM.Config, 1)
	example, err := os.ReadFile("../../.env.example")
	require.NoError(t, err)
	shown := func(name string) string {
		m := regexp.MustCompile(`(?m)^#` + name + `=(.+)$`).FindStringSubmatch(string(example))
		require.NotNil(t, m, name)
		return m[1]
	}
	require.Equal(t, "${PUBLISHED_SUBNET:-"+shown("PUBLISHED_SUBNET")+"}", file.Networks.Published.IPAM.Config[0].Subnet)
	subnet, err := netip.ParsePrefix(shown("PUBLISHED_SUBNET"))
	require.NoError(t, err)
	trusted, err := netip.ParsePrefix(shown("TRUSTED_PROXIES"))
	require.NoError(t, err)
	require.True(t, trusted.IsSingleIP())
	require.Equal(t, subnet.Masked().Addr().Next(), trusted.Addr(), "Docker's gateway is the first address")
}

// What goes by the health of containers takes no serve out of service that people can
// work with, as while Temporal is away; who waits for all to be there waits for worker.
func TestUnderComposeServeIsHealthyWhileItServes(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docker-compose.yml")
	require.NoError(t, err)
	var file struct {
		Services map[string]struct {
			Healthcheck struct {
				Test []string `yaml:"test"`
			} `yaml:"healthcheck"`
		} `yaml:"services"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &file))
	asks := func(url string) []string { return []string{"CMD", "/taskloom", "healthcheck", url} }
	require.Equal(t, asks("http://127.0.0.1:8080/healthz"), file.Services["serve"].Healthcheck.Test)
	require.Equal(t, asks("http://127.0.0.1:9090/readyz"), file.Services["worker"].Healthcheck.Test)
}

// settings are the variables of a type's fields.
func settings(of reflect.Type, prefix string) (names []string) {
	for f := range of.Fields() {
		if name := f.Tag.Get("env"); name != "" {
			names = append(names, prefix+name)
		} else if inner, ok := f.Tag.Lookup("envPrefix"); ok {
			names = append(names, settings(f.Type, prefix+inner)...)
		}
	}
	return names
}
