package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// maxBody is the largest body of a creation, as docs/external-api.md says.
const maxBody = 32 << 20

// wrong sends a creation that cannot be right, and must be refused as such, whatever is
// broken. That it left nothing is checkCreates' to say.
func (g *integrator) wrong(ctx context.Context) error {
	g.wrongs++
	key := fmt.Sprintf("%s-wrong-%d", g.org.Mark, g.wrongs)
	item := func(more object) object {
		fields := object{"question": fmt.Sprintf("%s question of wrong creation %d", g.org.Mark, g.wrongs)}
		maps.Copy(fields, more)
		return object{"tasks": []object{{"fields": fields}}}
	}
	q := request{
		Op: Op{Kind: opCreate, Key: key}, method: http.MethodPost, path: g.workflow("/tasks"), idempotency: key, in: item(nil),
	}
	to := func(pipeline int64) string { return "/api/v1/workflows/" + strconv.FormatInt(pipeline, 10) + "/tasks" }
	var status int
	switch g.rand.IntN(4) {
	case 0:
		q.in, status = item(object{"nonsense": "x"}), http.StatusUnprocessableEntity
	case 1:
		q.path, status = to(1<<40), http.StatusNotFound
	case 2:
		q.path, status = to(g.run.World.Probe.Pipeline), http.StatusNotFound
	default:
		doc, err := json.Marshal(q.in)
		if err != nil {
			return err
		}
		q.body, status = slices.Concat(doc, bytes.Repeat([]byte(" "), maxBody)), http.StatusRequestEntityTooLarge
	}
	q.refusals = []int{status}
	_, err := g.do(ctx, q)
	if errors.Is(err, errRefused) {
		return nil
	}
	if err == nil {
		g.run.Violate("I1: create %s, which is to be refused with %d, was acknowledged", key, status)
	}
	return err
}
