package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

// What is made in a ward, to be broken.

// other makes a second organization.
func (w *ward) other() *dbtest.World {
	w.t.Helper()
	return dbtest.Org(w.t, w.Store, dbtest.WithSlug("other"))
}

// upload makes a completed upload of one row, which made the task.
func (w *ward) upload(task int64) uuid.UUID {
	w.t.Helper()
	u := w.AddUpload(w.t, "org/x", 1, "etag", store.UploadRow{Fields: form.Values{}})
	w.exec(`UPDATE upload_rows SET status = 'created', task_id = $2 WHERE upload_id = $1`, u.ID, task)
	w.exec(`UPDATE uploads SET inspected_at = now(), rows_total = 1, rows_done = 1, success_count = 1, status = 'completed', finished_at = now(),
		ring_at = NULL WHERE id = $1`, u.ID)
	return u.ID
}

// pending makes an upload that nobody has confirmed.
func (w *ward) pending() uuid.UUID {
	w.t.Helper()
	u := w.AddUpload(w.t, "org/x", 1, "etag", store.UploadRow{Fields: form.Values{}})
	w.exec(`UPDATE uploads SET status = 'pending', confirmed_at = NULL, ring_at = NULL WHERE id = $1`, u.ID)
	return u.ID
}

// answered stores answers under Idempotency-Keys that name a task.
func (w *ward) answered(task int64, keys ...string) {
	w.t.Helper()
	w.exec(`INSERT INTO idempotency_keys (api_key_id, route, key, body_hash, status, answer)
		SELECT $1, 'POST /x', k, '', 201, json_build_object('task_ids', ARRAY[$2::bigint]) FROM unnest($3::text[]) AS k`, w.KeyID, task, keys)
}

// prioritize sets the priority of the free task as an admin does.
func (w *ward) prioritize(priority int) {
	w.t.Helper()
	require.NoError(w.t, w.Store.SetPriority(w.t.Context(), w.member(w.ProjectAdmin), w.free, priority))
	require.Contains(w.t, section(w.t, w.deep().out, "acts-audited"), "ok  ", "a priority by the product")
}

// invite invites somebody to be a contributor.
func (w *ward) invite(name string) store.Invite {
	w.t.Helper()
	w.invites++
	i, err := w.Store.CreateInvite(w.t.Context(), w.member(w.Admin), store.NewInvite{
		Email: w.Email(name), Role: store.OrgRoleMember, Projects: []store.ProjectGrant{{ProjectID: w.ProjectID, Role: store.RoleContributor}},
		Hash: sha256.Sum256([]byte{w.invites}),
	})
	require.NoError(w.t, err)
	return i
}

// accept makes somebody a contributor through an invite.
func (w *ward) accept(name string) int64 {
	w.t.Helper()
	w.invite(name)
	u, err := w.Store.AcceptInvite(w.t.Context(), sha256.Sum256([]byte{w.invites}), store.Invitee{Name: name, PasswordHash: "x"})
	require.NoError(w.t, err)
	return u.ID
}

// dataset applies a dataset of so many rows.
func (w *ward) dataset(name string, rows int) {
	w.t.Helper()
	doc := fmt.Sprintf("organizations:\n- slug: %s\n  datasets:\n  - name: %s\n    rows:\n", w.Slug, name)
	d, err := apply.Read([]byte(doc + strings.Repeat("    - question: 6 times 7?\n", rows)))
	require.NoError(w.t, err)
	_, err = w.Store.Apply(w.t.Context(), d, store.ApplyOptions{Rand: rand.Reader})
	require.NoError(w.t, err)
}

// roleUnsaid are the words about a role in the project that no row gave.
func (w *ward) roleUnsaid(user int64, role store.Role) string {
	return fmt.Sprintf("user %d in project %d of organization %d: is %s, but no row says so", user, w.ProjectID, w.OrgID, role)
}

func (w *ward) draft(task, user, org int64) {
	w.t.Helper()
	w.exec(`INSERT INTO drafts (task_id, node_key, user_id, org_id, values, revision) VALUES ($1, 'solve', $2, $3, $4, 1)`,
		task, user, org, json.RawMessage(`{}`))
}

// file adds the row of a file that came in an upload.
func (w *ward) file(org int64, key string, upload *uuid.UUID) uuid.UUID {
	w.t.Helper()
	id := uuid.New()
	w.exec(`INSERT INTO files (id, org_id, upload_id, object_key, name, size, sha256, content_type) VALUES ($1, $2, $3, $4, 'a', 3, '', '')`,
		id, org, upload, key)
	return id
}

// taskFile adds the row of a file that a person uploaded for the free task.
func (w *ward) taskFile(org int64, key string) uuid.UUID {
	w.t.Helper()
	id := uuid.New()
	w.exec(`INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type,
			object_key, sha256, content_type, completed_at)
		VALUES ($1, $2, $3, 'solve', 'answer', $4, 'org/x', 'a', 3, '', $5, '', '', now())`, id, org, w.free, w.Contributors[0], key)
	return id
}
