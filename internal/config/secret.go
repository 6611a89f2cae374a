package config

import (
	"encoding/json"
	"log/slog"
)

// Secret is a setting that is never printed: not by fmt, slog or encoding/json.
type Secret string

const hidden = "[secret]"

// Reveal returns the setting itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString hides the secret.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// LogValue hides the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON hides the secret.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }
