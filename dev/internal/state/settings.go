package state

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// OwnerFile names, in a database directory that lies elsewhere, the state
// directory that it belongs to.
const OwnerFile = "belongs-to"

// Elsewhere is where the database lives when the account that runs it cannot
// reach the state directory, because that lies below a private one such as /root.
const Elsewhere = "/var/lib/taskloom-dev"

// Settings is what a stack draws once and keeps: its secrets and its ports.
type Settings struct {
	// ID tells this stack from others, also from one that had the same path before.
	ID               string `json:"id"`
	PostgresPassword string `json:"postgres_password"`
	S3AccessKeyID    string `json:"s3_access_key_id"`
	S3SecretKey      string `json:"s3_secret_access_key"`
	// SecretKey is the application's SECRET_KEY: 64 hex digits.
	SecretKey string `json:"secret_key"`
	// PostgresBase is where the cluster lives when it cannot live in the
	// state directory; "" when it does.
	PostgresBase string `json:"postgres_base,omitempty"`
	// Ports by the name of what listens there.
	Ports map[string]int `json:"ports"`
}

const settingsFile = "settings.json"

// LoadSettings returns the settings of the last run, new ones for a new directory.
func (d *Dir) LoadSettings() (Settings, error) {
	text, err := os.ReadFile(d.Path(settingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(d.Path("postgres")); err == nil {
			return Settings{}, fmt.Errorf(`%s is gone, and with it the password of the database beside it
  put the file back, or start empty: FRESH=1 make dev`, d.Path(settingsFile))
		}
		return newSettings(), nil
	}
	if err != nil {
		return Settings{}, unusable(d.path, err)
	}
	s := newSettings()
	if err := json.Unmarshal(text, &s); err != nil {
		return Settings{}, fmt.Errorf("read %s: %w\n  repair it, or start empty: FRESH=1 make dev", d.Path(settingsFile), err)
	}
	if s.Ports == nil {
		s.Ports = map[string]int{}
	}
	return s, nil
}

func newSettings() Settings {
	return Settings{
		ID:               secret(4),
		PostgresPassword: secret(16),
		S3AccessKeyID:    "dev" + secret(8),
		S3SecretKey:      secret(20),
		SecretKey:        secret(32),
		Ports:            map[string]int{},
	}
}

// secret is n random bytes in hex: needs no quoting in a URL, a shell or a config file.
func secret(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it ends the program instead
	return hex.EncodeToString(b)
}

// SaveSettings keeps the settings, in one step, for their owner only.
func (d *Dir) SaveSettings(s Settings) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	next := d.Path("." + settingsFile)
	if err := os.WriteFile(next, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	if err := os.Rename(next, d.Path(settingsFile)); err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	return nil
}
