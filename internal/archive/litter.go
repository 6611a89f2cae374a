package archive

import (
	"path"
	"strings"
)

// litter tells what systems add to archives on their own; "" for everything
// else. It is skipped without a word to the rows.
func litter(name string) string {
	base := path.Base(name)
	switch {
	case name == "__MACOSX", strings.HasPrefix(name, "__MACOSX/"), strings.Contains(name, "/__MACOSX/"), strings.HasPrefix(base, "._"):
		return "metadata that macOS adds"
	case base == ".DS_Store":
		return "folder settings of macOS"
	case strings.EqualFold(base, "Thumbs.db"):
		return "a cache of thumbnails of Windows"
	case strings.EqualFold(base, "desktop.ini"):
		return "folder settings of Windows"
	}
	return ""
}
