package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWaitingTakesAStatus(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.created(t, 2)
	p := b.login(t, "manager1")
	p.ok(t, 204, http.MethodPost, fmt.Sprintf("/tasks/%v/nodes/solve/escalate", ids[0]), nil)
	p.ok(t, 204, http.MethodPost, fmt.Sprintf("/tasks/%v/nodes/solve/quarantine", ids[1]), nil)
	for query, want := range map[string][]any{
		"":                    {ids[0], ids[1]},
		"?status=escalated":   {ids[0]},
		"?status=quarantined": {ids[1]},
	} {
		found := []any{}
		for _, n := range p.ok(t, 200, http.MethodGet, b.pipeline("/waiting"+query), nil)["nodes"].([]any) {
			found = append(found, n.(map[string]any)["task_id"])
		}
		require.Equal(t, want, found, query)
	}
}
