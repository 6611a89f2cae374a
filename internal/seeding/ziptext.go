package seeding

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
)

// maxListed is the largest number of names that a message lists.
const maxListed = 5

// quote shows a path, shortened as field names are.
func quote(path string) string { return strconv.Quote(fieldName(path)) }

// countFiles says how many there are.
func countFiles(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// listFields shows names of fields: "a", "b" and "c".
func listFields(fields []form.Field) string {
	var b strings.Builder
	for i := range fields {
		switch {
		case i == maxListed:
			return b.String() + fmt.Sprintf(" and %d more", len(fields)-i)
		case i > 0 && i == len(fields)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(fields[i].Name))
	}
	return b.String()
}
