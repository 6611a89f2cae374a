package v1

import (
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api/edge"
)

func TestCostsAreOfOperations(t *testing.T) {
	t.Parallel()
	doc := Mount(chi.NewRouter(), Deps{Bodies: edge.NewReader(), Limits: edge.NewLimits(nil, nil), BaseURL: "http://test"}).OpenAPI()
	ids := map[string]bool{}
	for _, item := range doc.Paths {
		if item.Get != nil {
			ids[item.Get.OperationID] = true
		}
		if item.Post != nil {
			ids[item.Post.OperationID] = true
		}
	}
	for id, c := range costs {
		require.True(t, ids[id], "%s is no operation", id)
		require.Positive(t, c)
		require.Equal(t, c, cost(id))
	}
	require.Equal(t, int64(1), cost("getTask"))
}
