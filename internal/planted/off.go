//go:build !planted

package planted

// Enabled says whether this build carries the bugs.
const Enabled = false

// Is reports whether this process has the bug.
func Is(Bug) bool { return false }
