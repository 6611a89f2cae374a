package api_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/api/console"
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/dbtest"
)

// hungObjects is an object store that answers nothing before the test is over.
type hungObjects struct {
	console.Objects

	asked chan struct{}
	over  <-chan struct{}
}

func (h hungObjects) Head(context.Context, string) (blob.Object, error) {
	h.asked <- struct{}{}
	<-h.over
	return blob.Object{}, errors.New("the test is over")
}

// Files that are being completed, while the object store hangs, keep nobody from working.
func TestFilesThatAreCompletedKeepNobodyOut(t *testing.T) {
	t.Parallel()
	hung := hungObjects{objects(t), make(chan struct{}), t.Context().Done()}
	b := serve(t, dbtest.NewWorld(t, dbtest.WithDefinition(uploadingDefinition())), func(d *api.Deps) { d.Links, d.InFlight = hung, 1 })
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	path := onClaim(claim, "/files/"+maker.begin(t, claim, "scan", "a.png", "image/png", len(pngBytes))["file_id"].(string)+"/complete")
	var under sync.WaitGroup
	t.Cleanup(under.Wait)
	under.Go(func() { maker.do(t, http.MethodPost, path, nil) })
	<-hung.asked
	maker.ok(t, 200, http.MethodGet, onClaim(claim, ""), nil)
}
