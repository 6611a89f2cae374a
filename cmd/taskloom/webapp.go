package main

import (
	"context"
	"net/http"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/web"
)

// webApp is the handler of the embedded web app, which may talk to the object
// store at the address that links to it have.
func (p *process) webApp(ctx context.Context) (http.Handler, error) {
	if !web.Embedded() {
		p.log.Warn("This build has no web app, only the APIs; make build on a machine with Node makes one that has.")
	}
	origin := ""
	if p.objects != nil {
		var err error
		if origin, err = p.objects.PublicOrigin(ctx); err != nil {
			return nil, err
		}
	}
	return api.NewApp(web.Files(), origin)
}
