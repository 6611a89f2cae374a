package main

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// keySicknesses have keys begin, go on and end without a word.
var keySicknesses = []sickness{{branch: "created", make: func(w *ward) string {
	w.exec(`DELETE FROM audit_log WHERE action = 'key.create'`)
	return fmt.Sprintf("API key %d (test) of organization %d: no row says who created it", w.KeyID, w.OrgID)
}}, {branch: "revoked", make: func(w *ward) string {
	w.exec(`UPDATE api_keys SET revoked_at = now() WHERE id = $1`, w.KeyID)
	return fmt.Sprintf("API key %d (test) of organization %d: no row says who revoked it", w.KeyID, w.OrgID)
}}, {branch: "an end put off", make: func(w *ward) string {
	_, err := w.Store.SetKeyExpiry(w.t.Context(), w.OrgID, w.KeyID, new(time.Date(2099, 1, 2, 3, 4, 5, 678901234, time.UTC)), w.Admin)
	require.NoError(w.t, err)
	require.Contains(w.t, section(w.t, w.deep().out, "keys-audited"), "ok  ", "an end by the product")
	w.exec(`UPDATE api_keys SET expires_at = expires_at + interval '1 year' WHERE id = $1`, w.KeyID)
	return fmt.Sprintf("API key %d (test) of organization %d: expires 2100-01-02T03:04:05Z, but the last row says 2099-01-02T03:04:05Z", w.KeyID, w.OrgID)
}}, {branch: "an end taken away", make: func(w *ward) string {
	_, err := w.Store.SetKeyExpiry(w.t.Context(), w.OrgID, w.KeyID, new(time.Date(2099, 1, 2, 3, 4, 5, 0, time.UTC)), w.Admin)
	require.NoError(w.t, err)
	w.exec(`UPDATE api_keys SET expires_at = NULL WHERE id = $1`, w.KeyID)
	return "expires never, but the last row says 2099-01-02T03:04:05Z"
}}}

// memberSicknesses have people come, go and rise without a word.
var memberSicknesses = []sickness{{branch: "let in", make: func(w *ward) string {
	w.exec(`DELETE FROM audit_log WHERE action = 'member.set' AND object = $1`, fmt.Sprintf("user/%d", w.Outsider))
	return fmt.Sprintf("user %d in organization %d: no row says who let them in", w.Outsider, w.OrgID)
}}, {branch: "let in again", make: func(w *ward) string {
	require.NoError(w.t, w.Store.RemoveUser(w.t.Context(), w.Slug, w.Email("outsider1")))
	w.exec(`UPDATE org_members SET removed_at = NULL WHERE user_id = $1`, w.Outsider)
	return fmt.Sprintf("user %d in organization %d: no row says who let them in", w.Outsider, w.OrgID)
}}, {branch: "removed", make: func(w *ward) string {
	w.RemoveUser(w.t, w.Outsider)
	return fmt.Sprintf("user %d in organization %d: no row says who removed them", w.Outsider, w.OrgID)
}}, {branch: "removed again", make: func(w *ward) string {
	require.NoError(w.t, w.Store.RemoveUser(w.t.Context(), w.Slug, w.Email("outsider1")))
	require.Contains(w.t, section(w.t, w.deep().out, "members-audited"), "ok  ", "a removal by the product")
	w.exec(`UPDATE org_members SET removed_at = NULL WHERE user_id = $1`, w.Outsider)
	w.exec(`INSERT INTO audit_log (org_id, action, object) VALUES ($1, 'member.set', $2)`, w.OrgID, fmt.Sprintf("user/%d", w.Outsider))
	require.Contains(w.t, section(w.t, w.deep().out, "members-audited"), "ok  ", "they are in again")
	w.RemoveUser(w.t, w.Outsider)
	return fmt.Sprintf("user %d in organization %d: no row says who removed them", w.Outsider, w.OrgID)
}}, {branch: "a role", make: func(w *ward) string {
	require.NoError(w.t, w.Store.SetOrgRole(w.t.Context(), w.member(w.Admin), w.Outsider, store.OrgRoleAdmin))
	require.NoError(w.t, w.Store.SetOrgRole(w.t.Context(), w.member(w.Admin), w.Outsider, store.OrgRoleMember))
	require.Contains(w.t, section(w.t, w.deep().out, "members-audited"), "ok  ", "a role by the product")
	w.exec(`UPDATE org_members SET role = 'org_admin' WHERE user_id = $1`, w.Outsider)
	return fmt.Sprintf("user %d in organization %d: is org_admin, but the last rows say member", w.Outsider, w.OrgID)
}}, {branch: "a role after an acceptance", make: func(w *ward) string {
	eve := w.accept("eve")
	require.Contains(w.t, section(w.t, w.deep().out, "members-audited"), "ok  ", "an acceptance by the product")
	w.exec(`UPDATE org_members SET role = 'org_admin' WHERE user_id = $1`, eve)
	return fmt.Sprintf("user %d in organization %d: is org_admin, but the last rows say member", eve, w.OrgID)
}}}

// publishSicknesses have pipelines change without a word.
var publishSicknesses = []sickness{{branch: "a version", make: func(w *ward) string {
	w.exec(`INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition) SELECT org_id, pipeline_id, 2, definition FROM pipeline_versions`)
	return fmt.Sprintf("pipeline %d (Math check) of organization %d: 2 versions, 1 rows of publishing", w.PipelineID, w.OrgID)
}}, {branch: "a pipeline", make: func(w *ward) string {
	w.exec(`DELETE FROM audit_log WHERE action = 'pipeline.create'`)
	return fmt.Sprintf("pipeline %d (Math check) of organization %d: no row says who made it", w.PipelineID, w.OrgID)
}}, {branch: "a status", make: func(w *ward) string {
	_, err := w.Store.SetPipelineStatus(w.t.Context(), w.OrgID, w.PipelineID, w.Admin, pipeline.VerbPause)
	require.NoError(w.t, err)
	require.Contains(w.t, section(w.t, w.deep().out, "publishes-audited"), "ok  ", "a pause by the product")
	w.exec(`UPDATE pipelines SET status = 'ACTIVE'`)
	return fmt.Sprintf("pipeline %d (Math check) of organization %d: ACTIVE, but the last row says PAUSED", w.PipelineID, w.OrgID)
}}}

// actSicknesses have priorities and uploads change without a word.
var actSicknesses = []sickness{{branch: "a priority", make: func(w *ward) string {
	w.exec(`UPDATE tasks SET priority = 7 WHERE id = $1`, w.free)
	return fmt.Sprintf("task %d: priority 7, but no row says who set it", w.free)
}}, {branch: "a priority changed later", make: func(w *ward) string {
	w.prioritize(5)
	w.exec(`UPDATE tasks SET priority = 7 WHERE id = $1`, w.free)
	return fmt.Sprintf("task %d: priority 7, but the last row says 5", w.free)
}}, {branch: "a priority taken back", make: func(w *ward) string {
	w.prioritize(5)
	w.exec(`UPDATE tasks SET priority = 0 WHERE id = $1`, w.free)
	return fmt.Sprintf("task %d: priority 0, but the last row says 5", w.free)
}}, {branch: "an upload cancelled under way", make: func(w *ward) string {
	id := w.upload(w.done)
	w.exec(`UPDATE uploads SET cancel_by = $1, cancel_at = now()`, w.Admin)
	return fmt.Sprintf("upload %s: cancelled by user %d, but no row says so", id, w.Admin)
}}, {branch: "an upload withdrawn", make: func(w *ward) string {
	id := w.pending()
	_, err := w.Store.CancelUpload(w.t.Context(), w.OrgID, w.PipelineID, id, w.Admin)
	require.NoError(w.t, err)
	require.Contains(w.t, section(w.t, w.deep().out, "acts-audited"), "ok  ", "a cancellation by the product")
	w.exec(`DELETE FROM audit_log WHERE action = 'upload.cancel'`)
	return fmt.Sprintf("upload %s: cancelled, but no row says so", id)
}}}

// datasetSicknesses have datasets change without a word.
var datasetSicknesses = []sickness{{branch: "made", make: func(w *ward) string {
	w.exec(`INSERT INTO datasets (org_id, name, columns) VALUES ($1, 'Sums', '{}')`, w.OrgID)
	return fmt.Sprintf("(Sums) of organization %d: 0 rows, but no row says who made it", w.OrgID)
}}, {branch: "a row", make: func(w *ward) string {
	w.dataset("Sums", 2)
	require.Contains(w.t, section(w.t, w.deep().out, "datasets-audited"), "ok  ", "a dataset by the product")
	w.dataset("Sums", 3)
	require.Contains(w.t, section(w.t, w.deep().out, "datasets-audited"), "ok  ", "new rows by the product")
	w.exec(`DELETE FROM dataset_rows WHERE position = 1`)
	return fmt.Sprintf("(Sums) of organization %d: 2 rows, but the last row says 3", w.OrgID)
}}}
