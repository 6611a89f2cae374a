package stack

import (
	"fmt"
	"strings"

	"github.com/taskloom/taskloom/dev/internal/child"
)

// DeathError is the unwanted end of a part.
type DeathError struct {
	part string
	how  string
	log  string
	tail []string
}

// tailLines is how much of a log an error message shows.
const tailLines = 12

func newDeath(c *child.Child) *DeathError {
	return &DeathError{
		part: c.Spec.Name, how: child.How(c.Err()), log: c.Spec.Log,
		tail: child.Tail(c.Spec.Log, tailLines),
	}
}

func (d *DeathError) summary() string { return fmt.Sprintf("%s died (%s)", d.part, d.how) }

// Error names the part, how it ended, and the end of its log.
func (d *DeathError) Error() string {
	var text strings.Builder
	text.WriteString(d.summary())
	if len(d.tail) > 0 {
		fmt.Fprintf(&text, "; the last lines of its log:\n    %s", strings.Join(d.tail, "\n    "))
	}
	fmt.Fprintf(&text, "\n  log: %s", d.log)
	return text.String()
}
