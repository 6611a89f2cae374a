package edge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
)

func FuzzKeyHeaders(f *testing.F) {
	good := apikey.Prefix + strings.Repeat("0a", 20)
	f.Add("Bearer "+good, "")
	f.Add("", good)
	f.Add("Bearer "+good, good)
	f.Add(good, "x")
	f.Add("Basic \x00", " ")
	f.Fuzz(func(t *testing.T, authorization, header string) {
		h := http.Header{}
		if authorization != "" {
			h.Set("Authorization", authorization)
		}
		if header != "" {
			h.Set(edge.KeyHeader, header)
		}
		key, err := edge.KeyOf(h)
		if err != nil {
			require.True(t, fault.Is(err, fault.MissingAPIKey) || fault.Is(err, fault.InvalidAPIKey))
			require.NotContains(t, err.Error(), good)
			return
		}
		require.True(t, apikey.Valid(key))
		require.True(t, strings.Contains(authorization, key) || strings.Contains(header, key))
	})
}
