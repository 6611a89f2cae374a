package console

import (
	"net/url"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// refuseUnstorable refuses texts in the path and the query that the database
// cannot hold. Operations need not think of them; bodies are checked by
// storableBody.
func (a *api) refuseUnstorable(ctx huma.Context, next func(huma.Context)) {
	if err := storableURL(ctx); err != nil {
		edge.WriteHumaError(a.huma, ctx, err)
		return
	}
	next(ctx)
}

func storableURL(ctx huma.Context) error {
	for _, p := range ctx.Operation().Parameters {
		if p.In == "path" && !store.Storable(ctx.Param(p.Name)) {
			return unstorableIn(p.Name + " in the path")
		}
	}
	u := ctx.URL()
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fault.New(fault.InvalidRequest, "the query is malformed: it must be name=value pairs, percent-encoded")
	}
	for name, values := range query {
		for _, v := range values {
			if !store.Storable(v) {
				return unstorableIn(edge.Quote(name) + " in the query")
			}
		}
	}
	return nil
}

func unstorableIn(place string) error {
	return fault.New(fault.InvalidRequest, "%s holds NUL or is not valid UTF-8; leave such characters out", place)
}

// storableBody refuses texts and numbers of a body that the database cannot
// hold, and names the first.
func storableBody(body []byte) error {
	place, why := store.Unstorable(body)
	if why == "" {
		return nil
	}
	where := place
	if where == "" {
		where = "the body"
	}
	return fault.New(fault.Validation, "%s holds %s", where, why).
		With([]fault.Problem{{Path: place, Message: "holds " + why}})
}
