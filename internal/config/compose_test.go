package config_test

import (
	"os"
	"reflect"
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
	for _, name := range settings(reflect.TypeFor[config.Config](), "") {
		if _, s3 := file.S3[name]; !s3 {
			if _, ok := file.Settings[name]; !ok {
				require.Contains(t, fixed, name)
			}
		}
	}
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
