package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/taskloom/taskloom/dev/internal/state"
)

// place returns the directory to keep the cluster and the tools in: the state
// directory if the account can reach it.
func (s Setup) place(ctx context.Context, account Account) (string, error) {
	if s.Elsewhere != "" {
		if err := s.makeElsewhere(s.Elsewhere); err != nil {
			return "", err
		}
		return s.Elsewhere, nil
	}
	if account.reaches(ctx, s.Spawner, s.Dir) {
		return s.Dir, nil
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(s.Dir))
	base := filepath.Join(state.Elsewhere, hex.EncodeToString(sum[:4])+"-"+s.ID)
	if err := s.Keep(base); err != nil {
		return "", err
	}
	if err := s.makeElsewhere(base); err != nil {
		return "", err
	}
	if !account.reaches(ctx, s.Spawner, base) {
		return "", fmt.Errorf(`the account %q, which Postgres runs as, can reach neither %s nor %s
  use a directory whose parents everybody may enter: DEV_DIR=/var/tmp/taskloom make dev`, account.Name, s.Dir, base)
	}
	s.Say.Say("The database goes to %s: the account %q, which Postgres runs as, may not enter %s.", base, account.Name, s.Dir)
	return base, nil
}

func (s Setup) makeElsewhere(base string) error {
	if err := os.MkdirAll(base, 0o755); err != nil {
		return fmt.Errorf("make a directory for the database: %w", err)
	}
	for _, dir := range []string{filepath.Dir(base), base} { // whatever the umask is
		if err := os.Chmod(dir, 0o755); err != nil {
			return fmt.Errorf("let everybody enter the directory for the database: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, state.OwnerFile), []byte(s.Dir+"\n"), 0o644); err != nil {
		return fmt.Errorf("mark the directory of the database: %w", err)
	}
	return nil
}
