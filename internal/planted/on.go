//go:build planted

package planted

import "os"

// Enabled says whether this build carries the bugs.
const Enabled = true

var chosen = Bug(os.Getenv("TASKLOOM_PLANTED"))

// Is reports whether this process has the bug.
func Is(b Bug) bool { return chosen == b }
