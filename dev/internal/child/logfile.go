package child

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// KeepPrevious moves a log of the previous run aside, to <log>.1.
func KeepPrevious(log string) error {
	err := os.Rename(log, log+".1")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the previous log: %w", err)
	}
	return nil
}

// tailBytes is how much of a log Tail looks at, at most.
const tailBytes = 16 << 10

// Tail returns the last lines of a log, for an error message; a log that
// cannot be read gives none.
func Tail(log string, lines int) []string {
	f, err := os.Open(log)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return nil
		}
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(all) == 1 && all[0] == "" {
		return nil
	}
	return all[max(0, len(all)-lines):]
}
