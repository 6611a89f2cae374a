package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// What admins do in a project of their own, where nobody works.
const (
	opNewProject  = "new project"
	opRename      = "rename project"
	opNewPipeline = "new pipeline"
	opCopy        = "copy pipeline"
	opImport      = "import pipeline"
	opLaunch      = "publish own" // a pipeline of that project
	opRestore     = "restore version"
	opClose       = "complete"
	opReopen      = "reopen"
	opArchive     = "archive"
	opUnarchive   = "unarchive"
	opInvite      = "invite"
	opUninvite    = "revoke invite"
)

// lifeOfOwn is what a pipeline goes through once it is published. It ends paused, as all
// do that come out of the archive.
var lifeOfOwn = []string{opClose, opReopen, opClose, opArchive, opUnarchive}

// inOwn is the path of something in the admin's own project.
func (a *admin) inOwn(rest string) string {
	return fmt.Sprintf("/api/console/projects/%d%s", a.own, rest)
}

// toTheirOwn makes and changes what is in nobody's way: a project, pipelines in it, and
// invites that nobody accepts.
func (a *admin) toTheirOwn(ctx context.Context) error {
	a.made++
	if a.own == 0 {
		if err := a.newProject(ctx); err != nil {
			return err
		}
	}
	_, err := a.do(ctx, request{
		Op: Op{Kind: opRename, Object: a.own}, method: http.MethodPut, path: a.inOwn(""),
		in: object{"name": fmt.Sprintf("%s own %d", a.org.Mark, a.made)},
	})
	if err != nil {
		return err
	}
	id, err := a.newPipeline(ctx)
	if err != nil {
		return err
	}
	if err := a.livesThrough(ctx, id); err != nil {
		return err
	}
	return a.invite(ctx)
}

func (a *admin) newProject(ctx context.Context) error {
	name := a.org.Mark + " own"
	var made struct {
		ID int64 `json:"id"`
	}
	_, err := a.do(ctx, request{
		Op: Op{Kind: opNewProject}, method: http.MethodPost, path: fmt.Sprintf("/api/console/orgs/%d/projects", a.org.ID),
		in: object{"name": name}, out: &made, note: func(op *Op) { op.Object = made.ID },
		refusals: []int{http.StatusConflict}, // an earlier try made it
	})
	if errors.Is(err, errRefused) {
		made.ID, err = a.idOf(ctx, "/api/console/projects", "projects", name)
	}
	a.own = made.ID
	return err
}

// newPipeline makes one of the ways in which there can be one more: by its definition,
// as a copy, or from a document.
func (a *admin) newPipeline(ctx context.Context) (int64, error) {
	name := fmt.Sprintf("%s own %d", a.org.Mark, a.made)
	definition := a.org.definition(0)
	definition["name"] = name
	var made struct {
		ID int64 `json:"id"`
	}
	q := request{
		Op: Op{Kind: opNewPipeline}, method: http.MethodPost, path: a.inOwn("/pipelines"), in: object{"definition": definition},
		out: &made, note: func(op *Op) { op.Object = made.ID },
		refusals: []int{http.StatusConflict}, // an earlier try made it
	}
	switch a.rand.IntN(3) {
	case 0: // one more with each try: a name that is taken gets a number
		q.Kind, q.path, q.in, q.refusals = opCopy, a.pipeline("/duplicate"), object{"name": name, "project_id": a.own}, nil
	case 1:
		document, err := json.Marshal(definition)
		if err != nil {
			return 0, err
		}
		q.Kind, q.path, q.in, q.refusals = opImport, a.inOwn("/import"), object{"document": string(document)}, nil
	}
	_, err := a.do(ctx, q)
	if errors.Is(err, errRefused) {
		return a.idOf(ctx, a.inOwn("/pipelines"), "pipelines", name)
	}
	return made.ID, err
}

// livesThrough publishes a pipeline, takes its version back into the draft, and brings it
// through its life. A verb that is refused was done before, by a try that was given up.
func (a *admin) livesThrough(ctx context.Context, id int64) error {
	path := fmt.Sprintf("/api/console/pipelines/%d", id)
	_, err := a.do(ctx, request{
		Op: Op{Kind: opLaunch, Object: id}, method: http.MethodPost, path: path + "/publish", in: object{"note": a.org.Mark},
	})
	if err != nil {
		return err
	}
	var now struct {
		Revision int64 `json:"revision"`
	}
	if _, err := a.do(ctx, request{Op: Op{Kind: opLook}, method: http.MethodGet, path: path, out: &now}); err != nil {
		return err
	}
	_, err = a.do(ctx, request{
		Op: Op{Kind: opRestore, Object: id}, method: http.MethodPost, path: path + "/versions/1/restore", in: object{"revision": now.Revision},
	})
	if err != nil { // the draft is the version, so the revision stays whatever is tried
		return err
	}
	for _, verb := range lifeOfOwn {
		_, err := a.do(ctx, request{
			Op: Op{Kind: verb, Object: id}, method: http.MethodPost, path: path + "/" + verb, refusals: []int{http.StatusConflict},
		})
		if err != nil && !errors.Is(err, errRefused) {
			return err
		}
	}
	return nil
}

// invite asks somebody in, to the organization or to the project, and takes it back. Each
// try that made an invite took the place of the one before.
func (a *admin) invite(ctx context.Context) error {
	email := fmt.Sprintf("guest%d@%s.test", a.made, a.org.Mark)
	path, in := a.inOwn("/invites"), object{"email": email, "role": roleContributor}
	if a.chance(50) {
		path = fmt.Sprintf("/api/console/orgs/%d/invites", a.org.ID)
		in = object{"email": email, "role": "member", "projects": []object{{"project_id": a.own, "role": roleContributor}}}
	}
	var made struct {
		ID int64 `json:"id"`
	}
	_, err := a.do(ctx, request{
		Op: Op{Kind: opInvite}, method: http.MethodPost, path: path, in: in, out: &made, note: func(op *Op) { op.Object = made.ID },
	})
	if err != nil {
		return err
	}
	_, err = a.do(ctx, request{Op: Op{Kind: opUninvite, Object: made.ID}, method: http.MethodDelete, path: fmt.Sprintf("%s/%d", path, made.ID)})
	return err
}

// idOf looks up what an earlier try has made: who is told that its name is taken is told
// nothing else of it.
func (a *admin) idOf(ctx context.Context, path, list, name string) (int64, error) {
	var answer map[string]json.RawMessage
	if _, err := a.do(ctx, request{Op: Op{Kind: opLook}, method: http.MethodGet, path: path, out: &answer}); err != nil {
		return 0, err
	}
	var there []struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal(answer[list], &there); err != nil {
		return 0, fmt.Errorf("read the %s that %s has: %w", list, a.who, err)
	}
	for _, t := range there {
		if t.Name == name {
			return t.ID, nil
		}
	}
	a.run.Violate("I1: %s was told that the name %q is taken, and it is not among the %s", a.who, name, list)
	return 0, errRefused
}

// thing is what admins make, as "invite/7", in an organization by its mark.
type thing struct{ Org, Object string }

// thingOf is what an acknowledged call made or ended.
func thingOf(op Op) (t thing, ok bool) {
	noun := ""
	switch op.Kind {
	case opNewProject, opRename:
		noun = "project"
	case opNewPipeline, opCopy, opImport, opLaunch, opRestore, opClose, opReopen, opArchive, opUnarchive:
		noun = "pipeline"
	case opInvite, opUninvite:
		noun = "invite"
	}
	return thing{op.Org, fmt.Sprintf("%s/%d", noun, op.Object)}, noun != ""
}

// checkMade is I1 of what admins made: what was acknowledged is there, and invites that
// were revoked are. Whether projects and pipelines are as the audit log says is
// checkInvariants' to say.
func (r *Run) checkMade(ctx context.Context) error {
	rows, _ := r.Store().Pool().Query(ctx, `SELECT o.slug, x.object, x.over FROM organizations o CROSS JOIN LATERAL (
			SELECT 'project/' || p.id AS object, false AS over FROM projects p WHERE p.org_id = o.id
			UNION ALL SELECT 'pipeline/' || p.id, false FROM pipelines p WHERE p.org_id = o.id
			UNION ALL SELECT 'invite/' || i.id, i.revoked_at IS NOT NULL FROM invites i WHERE i.org_id = o.id
		) x WHERE o.id = ANY($1)`, ids(r.World.Orgs))
	there := map[thing]bool{} // whether it is over
	var t thing
	var over bool
	if _, err := pgx.ForEachRow(rows, []any{&t.Org, &t.Object, &over}, func() error {
		there[t] = over
		return nil
	}); err != nil {
		return err
	}
	made, wrong := wrongMade(r.History.Ops(), there)
	for _, w := range wrong {
		r.Violate("I1: %s", w)
	}
	r.Logf("%d projects, pipelines and invites that admins made were looked for", made)
	return nil
}

func wrongMade(ops []Op, there map[thing]bool) (made int, wrong []string) {
	seen := map[thing]bool{}
	for _, op := range ops {
		t, ok := thingOf(op)
		if !ok || op.Outcome != OK {
			continue
		}
		seen[t] = true
		switch over, is := there[t]; {
		case !is:
			wrong = append(wrong, fmt.Sprintf("%s, acknowledged to %s (%s), is not there", t.Object, op.Who, op.Kind))
		case op.Kind == opUninvite && !over:
			wrong = append(wrong, fmt.Sprintf("%s, whose end was acknowledged to %s, is open", t.Object, op.Who))
		}
	}
	slices.Sort(wrong)
	return len(seen), wrong
}

func TestWhatAdminsMadeIsCompared(t *testing.T) {
	t.Parallel()
	op := func(kind string, object int64, o Outcome) Op {
		return Op{Org: "a", Who: "admin", Kind: kind, Object: object, Outcome: o}
	}
	for name, c := range map[string]struct {
		op    Op
		there map[thing]bool
		right bool
	}{
		"made":                   {op(opNewPipeline, 7, OK), map[thing]bool{{"a", "pipeline/7"}: false}, true},
		"lost":                   {op(opNewPipeline, 7, OK), nil, false},
		"something else is":      {op(opNewPipeline, 7, OK), map[thing]bool{{"a", "project/7"}: false}, false},
		"another organization's": {op(opNewProject, 7, OK), map[thing]bool{{"b", "project/7"}: false}, false},
		"may have been made":     {op(opCopy, 0, Unknown), nil, true},
		"taken":                  {op(opNewProject, 0, Refused), nil, true},
		"invited":                {op(opInvite, 7, OK), map[thing]bool{{"a", "invite/7"}: false}, true},
		"invited, and replaced":  {op(opInvite, 7, OK), map[thing]bool{{"a", "invite/7"}: true}, true},
		"revoked":                {op(opUninvite, 7, OK), map[thing]bool{{"a", "invite/7"}: true}, true},
		"revoked, and open":      {op(opUninvite, 7, OK), map[thing]bool{{"a", "invite/7"}: false}, false},
		"what others do":         {op(opSubmit, 7, OK), nil, true},
	} {
		_, wrong := wrongMade([]Op{c.op}, c.there)
		require.Equal(t, c.right, len(wrong) == 0, "%s: %v", name, wrong)
	}
}
