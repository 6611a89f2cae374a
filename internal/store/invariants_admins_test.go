package store_test

import (
	"context"
	"crypto/rand"
	"fmt"
	random "math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// accused is what breaks I12.
func accused(t *testing.T, st *store.Store) (all []string) {
	t.Helper()
	found, err := st.Check(t.Context(), store.CheckOptions{NoJournal: true})
	require.NoError(t, err)
	for _, f := range found {
		for _, v := range f.Violations {
			if f.Promise != "I12" {
				continue
			}
			all = append(all, v.Invariant+": "+v.Where)
		}
	}
	return all
}

// TestNoAdminIsAccused has admins let people in, promote, demote and remove them, make,
// rename and change projects, keys, pipelines and datasets, all at once, in the web app's
// way and by documents: the audit log explains what the data are at every moment.
func TestNoAdminIsAccused(t *testing.T) {
	t.Parallel()
	st := dbtest.Store(t)
	made, err := applyDoc(t, st, fullDocument(t))
	require.NoError(t, err)
	o := office{
		st: st, org: made.Organizations[0].ID, project: made.Organizations[0].Projects[0].ID,
		pipeline: made.Organizations[0].Pipelines[0].ID, boss: mustUser(t, st, "ada@acme.test").ID, acts: map[string]int{},
	}
	for _, name := range []string{"bob", "cy"} {
		o.staff = append(o.staff, mustUser(t, st, name+"@acme.test").ID)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for n := range uint64(4) {
		r := random.New(random.NewPCG(11, n))
		wg.Go(func() {
			for ctx.Err() == nil {
				what, err := o.act(ctx, r)
				if ctx.Err() != nil {
					return
				}
				o.note(t, what, err)
			}
		})
	}
	begun := time.Now()
	for round := 0; time.Since(begun) < 4*time.Second || round < 3 || o.idle() != ""; round++ {
		require.Empty(t, accused(t, st), "round %d", round)
		require.Less(t, time.Since(begun), time.Minute, "%s never comes about", o.idle())
	}
	stop()
	wg.Wait()
	require.Empty(t, accused(t, st))
}

// office is an organization whose admins are all at work.
type office struct {
	st                           *store.Store
	org, project, pipeline, boss int64
	serial                       atomic.Int64

	mu sync.Mutex
	// staff are members, invites what was made; acts counts what came about.
	staff, invites []int64
	acts           map[string]int
}

// note counts what came about. A refusal is part of the play, another error is not.
func (o *office) note(t *testing.T, what string, err error) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err == nil:
		o.acts[what]++
	case fault.KindOf(err) == fault.Internal:
		t.Errorf("%s: %v", what, err)
	}
}

// idle is an act that never came about so far, "" when there is none.
func (o *office) idle() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range officeActs {
		if o.acts[a.what] == 0 {
			return a.what
		}
	}
	return ""
}

// act does one thing, and says which.
func (o *office) act(ctx context.Context, r *random.Rand) (string, error) {
	a := officeActs[r.IntN(len(officeActs))]
	return a.what, a.do(ctx, o, r)
}

func (o *office) admin() store.Member {
	return store.Member{UserID: o.boss, OrgID: o.org, OrgAdmin: true}
}

func (o *office) projectAdmin() store.Member {
	m := o.admin()
	m.ProjectID = o.project
	return m
}

func (o *office) next() int64 { return o.serial.Add(1) }

func (o *office) somebody(r *random.Rand) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.staff[r.IntN(len(o.staff))]
}

// officeActs are what admins do there.
var officeActs = []struct {
	what string
	do   func(context.Context, *office, *random.Rand) error
}{
	{"a role in the organization", func(ctx context.Context, o *office, r *random.Rand) error {
		return o.st.SetOrgRole(ctx, o.admin(), o.somebody(r), pick(r, store.OrgRoleAdmin, store.OrgRoleMember))
	}},
	{"a role in the project", func(ctx context.Context, o *office, r *random.Rand) error {
		return o.st.SetProjectRole(ctx, o.projectAdmin(), o.somebody(r), pick(r, store.RoleContributor, store.RoleReviewer, store.RoleProjectAdmin))
	}},
	{"the end of one", func(ctx context.Context, o *office, r *random.Rand) error {
		return o.st.RemoveProjectMember(ctx, o.projectAdmin(), o.somebody(r))
	}},
	{"a removal", func(ctx context.Context, o *office, r *random.Rand) error {
		return o.st.RemoveMember(ctx, o.admin(), o.somebody(r))
	}},
	{"an invite that is accepted", func(ctx context.Context, o *office, r *random.Rand) error {
		n := o.next()
		hash := token(strconv.FormatInt(n, 10))
		if _, err := o.invite(ctx, r, fmt.Sprintf("new%d@acme.test", n), hash); err != nil {
			return err
		}
		u, err := o.st.AcceptInvite(ctx, hash, store.Invitee{Name: "New", PasswordHash: "x"})
		if err == nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.staff = append(o.staff, u.ID)
		}
		return err
	}},
	{"an invite that brings back", func(ctx context.Context, o *office, r *random.Rand) error {
		hash := token(strconv.FormatInt(o.next(), 10))
		var email, password string
		user := o.somebody(r)
		if err := o.st.Pool().QueryRow(ctx, `SELECT email, password_hash FROM users WHERE id = $1`, user).Scan(&email, &password); err != nil {
			return err
		}
		if err := o.st.RemoveMember(ctx, o.admin(), user); err != nil {
			return err
		}
		if _, err := o.invite(ctx, r, email, hash); err != nil {
			return err
		}
		_, err := o.st.AcceptInvite(ctx, hash, store.Invitee{UserID: user, PasswordHash: password})
		return err
	}},
	{"an invite that waits", func(ctx context.Context, o *office, r *random.Rand) error {
		i, err := o.invite(ctx, r, fmt.Sprintf("late%d@acme.test", r.IntN(3)), token(strconv.FormatInt(o.next(), 10)))
		if err == nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.invites = append(o.invites, i.ID)
		}
		return err
	}},
	{"an invite taken back", func(ctx context.Context, o *office, _ *random.Rand) error {
		o.mu.Lock()
		if len(o.invites) == 0 {
			o.mu.Unlock()
			return fault.New(fault.NotFound, "no invite yet")
		}
		id := o.invites[len(o.invites)-1]
		o.mu.Unlock()
		return o.st.RevokeInvite(ctx, o.admin(), id)
	}},
	{"a project", func(ctx context.Context, o *office, r *random.Rand) error {
		by := pick(r, o.boss, o.somebody(r))
		_, err := o.st.CreateProject(ctx, store.Member{UserID: by, OrgID: o.org}, fmt.Sprintf("Project %d", o.next()))
		return err
	}},
	{"another name", func(ctx context.Context, o *office, _ *random.Rand) error {
		p, err := o.st.CreateProject(ctx, o.admin(), fmt.Sprintf("Project %d", o.next()))
		if err != nil {
			return err
		}
		m := o.admin()
		m.ProjectID = p.ID
		_, err = o.st.RenameProject(ctx, m, fmt.Sprintf("Renamed %d", o.next()))
		return err
	}},
	{"a key", func(ctx context.Context, o *office, r *random.Rand) error {
		value, err := apikey.Generate(rand.Reader)
		if err != nil {
			return err
		}
		k, err := o.st.CreateKey(ctx, o.org, o.boss, fmt.Sprintf("key %d", o.next()), apikey.Hash(value), apikey.Last4(value), nil, o.boss)
		if err != nil {
			return err
		}
		if _, err := o.st.SetKeyExpiry(ctx, o.org, k.ID, pick(r, nil, new(time.Now().Add(time.Duration(r.Int64N(1e15))))), o.boss); err != nil {
			return err
		}
		_, err = o.st.RevokeKey(ctx, o.org, k.ID, o.boss)
		return err
	}},
	{"a verb", func(ctx context.Context, o *office, r *random.Rand) error {
		_, err := o.st.SetPipelineStatus(ctx, o.org, o.pipeline, o.boss, pick(r, pipeline.Verbs()[1:]...))
		return err
	}},
	{"a document", func(ctx context.Context, o *office, r *random.Rand) error {
		doc := fmt.Sprintf(`{"organizations":[{"slug":"acme","name":" Acme %d ","users":[{"email":"bob@acme.test"},{"email":"cy@acme.test","role":"%s"}],
			"projects":[{"name":" Doc %d ","members":[{"email":"bob@acme.test","role":"%s"}]}],
			"datasets":[{"name":"Problems","rows":[{"question":%d},{"question":2}]}]}]}`,
			o.next(), pick(r, store.OrgRoleAdmin, store.OrgRoleMember), r.IntN(5), pick(r, "contributor", "reviewer"), o.next())
		d, err := apply.Read([]byte(doc))
		if err != nil {
			return err
		}
		_, err = o.st.Apply(ctx, d, store.ApplyOptions{Rand: rand.Reader})
		return err
	}},
}

func (o *office) invite(ctx context.Context, r *random.Rand, email string, hash [32]byte) (store.Invite, error) {
	return o.st.CreateInvite(ctx, o.admin(), store.NewInvite{
		Email: email, Role: pick(r, store.OrgRoleAdmin, store.OrgRoleMember), Hash: hash,
		Projects: []store.ProjectGrant{{ProjectID: o.project, Role: pick(r, store.RoleContributor, store.RoleProjectAdmin)}},
	})
}

func pick[T any](r *random.Rand, of ...T) T { return of[r.IntN(len(of))] }
