package api_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/taskloom/taskloom/api/v1"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
)

// Who was told to try again, because nobody could take the upload, finds it pending
// at the next try, though its address has expired meanwhile: for an hour, and for a
// day in all. Who stored no archive does not.
func TestAnUploadThatIsToBeConfirmedAgainIsKept(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, c := range map[string]struct {
		objects        v1.Objects
		worker         error
		first          int
		asked, expired string // how long ago, when uploads are cancelled
		again          int
	}{
		"no worker":         {stock, down, http.StatusServiceUnavailable, "5 minutes", "6 minutes", http.StatusAccepted},
		"storage away":      {shelf{err: fault.New(fault.Unavailable, "away")}, nil, http.StatusServiceUnavailable, "5 minutes", "6 minutes", http.StatusAccepted},
		"asked no more":     {stock, down, http.StatusServiceUnavailable, "61 minutes", "6 minutes", http.StatusConflict},
		"asked for a day":   {stock, down, http.StatusServiceUnavailable, "5 minutes", "25 hours", http.StatusConflict},
		"nothing is stored": {shelf{err: fault.New(fault.NotFound, "absent")}, nil, http.StatusUnprocessableEntity, "5 minutes", "6 minutes", http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := dbtest.NewWorld(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("scan"))))
			well, ill := uploading(t, w, stock, nil), uploading(t, w, c.objects, c.worker)
			made := well.v1(t, http.MethodPost, well.workflow("/tasks/upload"), map[string]any{})
			require.Equal(t, http.StatusAccepted, made.Status, "%s", made.Raw)
			id := made.Body["upload_id"]
			confirm := well.workflow("/tasks/upload/%s/confirm", id)
			first := ill.v1(t, http.MethodPost, confirm, nil)
			require.Equal(t, c.first, first.Status, "%s", first.Raw)

			well.exec(t, `UPDATE uploads SET expires_at = now() - $2::interval, asked_at = asked_at - $3::interval WHERE id = $1`, id, c.expired, c.asked)
			_, err := w.Store.ExpireUploads(t.Context(), 100)
			require.NoError(t, err)
			again := well.v1(t, http.MethodPost, confirm, nil)
			require.Equal(t, c.again, again.Status, "%s", again.Raw)
		})
	}
}
