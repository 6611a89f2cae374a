package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/seeding"
)

// The errors of an upload are ordered by row, then by field: also those of rows
// that come from the archive, whose fields are matched in form order.
func TestErrorsOfADerivedRowAreOrderedByField(t *testing.T) {
	t.Parallel()
	errs := derivedErrors(7, seeding.DerivedRow{Name: "cat", Problems: []form.Problem{
		{Field: "report", Message: "no file for report"},
		{Field: "front", Message: "two files in cat for front"},
		{Field: "front", Message: "another of cat"},
		{Message: "a file in cat that no field takes"},
	}})
	require.Equal(t, []seeding.ItemError{
		{Index: 7, Message: "a file in cat that no field takes"},
		{Index: 7, FieldName: "front", Message: "two files in cat for front"},
		{Index: 7, FieldName: "front", Message: "another of cat"},
		{Index: 7, FieldName: "report", Message: `the folder "cat": no file for report`},
	}, errs)
}
