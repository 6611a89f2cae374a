package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// MaxTaskFiles bounds the files that one person may upload for one node of a
// task, so that a claim is no free object store.
const MaxTaskFiles = 500

// TaskFile is a file that a person uploads for a field of a task.
type TaskFile struct {
	File

	// Field is the one that it was uploaded for.
	Field string
	// UploadKey is where the browser puts it. What is there may still change,
	// so it is nothing that anybody is shown.
	UploadKey string
	// Announced is the content type that the browser sends it with.
	Announced string
	// CompletedAt is when its bytes were looked at; nil before. Key, SHA256 and
	// ContentType are set from then on.
	CompletedAt *time.Time
}

// TaskFileCopy is the key of a copy of what a person put. Each copy has another
// end, and all of those of a file the same beginning, by which the sweep finds them
// (taskFileCopies).
func TaskFileCopy(orgID, taskID int64, id uuid.UUID, end string) string {
	return fmt.Sprintf("org/%d/files/task/%d/%s-%s", orgID, taskID, id, end)
}

const taskFileCopies = `'org/' || org_id || '/files/task/' || task_id || '/' || id || '-'`

const taskFileColumns = `id, org_id, coalesce(object_key, ''), name, size, coalesce(sha256, ''), coalesce(content_type, '')`

// CreateTaskFile notes a file that the holder of a claim is about to upload.
// Validation when they have uploaded too many.
func (s *Store) CreateTaskFile(ctx context.Context, c Claim, f TaskFile) error {
	tag, err := s.pool.Exec(ctx, `INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 WHERE (SELECT count(*) FROM task_files
			WHERE task_id = $3 AND node_key = $4 AND user_id = $6 AND org_id = $2) < $11`,
		f.ID, c.OrgID, c.TaskID, c.Node, f.Field, c.UserID, f.UploadKey, f.Name, f.Size, f.Announced, MaxTaskFiles)
	if err == nil && tag.RowsAffected() == 0 {
		return fault.New(fault.Validation, "you have uploaded %d files for this work already, and more are not possible; "+
			"release the claim and tell an admin when the work needs more", MaxTaskFiles)
	}
	return translate(err)
}

const taskFileSQL = `SELECT ` + taskFileColumns + `, field, upload_key, announced_type, completed_at FROM task_files
	WHERE id = $1 AND org_id = $2 AND task_id = $3 AND node_key = $4 AND user_id = $5`

// TaskFile returns a file that the claim's holder uploads for its node.
func (s *Store) TaskFile(ctx context.Context, c Claim, id uuid.UUID) (TaskFile, error) {
	return s.taskFile(ctx, taskFileSQL, c, id)
}

// SettledTaskFile is TaskFile after whatever is under way with the file: a completion
// whose caller was not told of its end may still be committed.
func (s *Store) SettledTaskFile(ctx context.Context, c Claim, id uuid.UUID) (TaskFile, error) {
	return s.taskFile(ctx, taskFileSQL+` FOR UPDATE`, c, id)
}

func (s *Store) taskFile(ctx context.Context, sql string, c Claim, id uuid.UUID) (TaskFile, error) {
	var f TaskFile
	err := s.pool.QueryRow(ctx, sql, id, c.OrgID, c.TaskID, c.Node, c.UserID).Scan(&f.ID, &f.OrgID, &f.Key, &f.Name, &f.Size, &f.SHA256, &f.ContentType,
		&f.Field, &f.UploadKey, &f.Announced, &f.CompletedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, fault.New(fault.NotFound, "file not found: it is not one that you upload for this work")
	}
	return f, translate(err)
}

// CompleteTaskFile notes where a file's bytes are for good and what they are.
// The first one counts: false says that somebody was faster, or that the upload is
// over (TaskFilesToSweep), and that this object is not the file. It is a transaction,
// since one that is given up counts only if its COMMIT was sent, and holds the row from
// before that: a statement by itself could begin and count after SettledTaskFile has
// seen nothing of it.
func (s *Store) CompleteTaskFile(ctx context.Context, c Claim, f File) (first bool, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE task_files SET object_key = $3, sha256 = $4, content_type = $5, completed_at = now()
			WHERE id = $1 AND org_id = $2 AND completed_at IS NULL AND created_at > now() - `+taskFileUpload, f.ID, c.OrgID, f.Key, f.SHA256, f.ContentType)
		first = tag.RowsAffected() == 1
		return err
	})
	return first, err
}

// TaskFiles returns the files with these ids that people uploaded for the task
// and that are complete, or all of those when ids is nil. Ids of other tasks and
// unknown ones are left out.
func (s *Store) TaskFiles(ctx context.Context, orgID, taskID int64, ids []uuid.UUID) ([]File, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+taskFileColumns+` FROM task_files
		WHERE ($3::uuid[] IS NULL OR id = ANY($3)) AND task_id = $2 AND org_id = $1 AND completed_at IS NOT NULL ORDER BY id`, orgID, taskID, ids)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[File])
	return out, translate(err)
}

// fileValue is one file in the value of a file_upload field.
type fileValue struct {
	ID          string  `json:"file_id"`
	Name        string  `json:"name"`
	Size        float64 `json:"size"`
	ContentType *string `json:"content_type"`
	SHA256      *string `json:"sha256"`
}

// is reports whether the value tells the truth about the file.
func (v fileValue) is(f TaskFile) bool {
	return v.Name == f.Name && int64(v.Size) == f.Size && (v.ContentType == nil || *v.ContentType == f.ContentType) &&
		(v.SHA256 == nil || *v.SHA256 == f.SHA256)
}

// fileValues reads a file_upload value: one file, or an array of them.
func fileValues(raw json.RawMessage) []fileValue {
	var all []fileValue
	if json.Unmarshal(raw, &all) == nil {
		return all
	}
	var one fileValue
	if json.Unmarshal(raw, &one) != nil {
		return nil
	}
	return []fileValue{one}
}

// checkFiles refuses values that name files which nobody uploaded for that
// field of this task, or that say of them what is not so. It returns the files
// that they name.
func checkFiles(ctx context.Context, q querier, c Claim, fields []form.Field, values form.Values) ([]uuid.UUID, error) {
	named := map[string][]fileValue{}
	var ids []uuid.UUID
	for _, f := range fields {
		if raw, ok := values[f.Name]; ok && f.Type == form.FileUpload && f.Input == form.Contributor {
			named[f.Name] = fileValues(raw)
			for _, v := range named[f.Name] {
				if id, err := uuid.Parse(v.ID); err == nil {
					ids = append(ids, id)
				}
			}
		}
	}
	if len(named) == 0 {
		return nil, nil
	}
	known, err := filesOfFields(ctx, q, c, ids)
	if err != nil {
		return nil, err
	}
	var problems []form.Problem
	for _, f := range fields {
		for _, v := range named[f.Name] {
			if file, ok := known[v.ID]; !ok || file.Field != f.Name || !v.is(file) {
				problems = append(problems, form.Problem{Field: f.Name, Message: "the file " + strconv.Quote(cut(v.Name)) +
					" was not uploaded for this field, or its upload did not end: upload it again"})
			}
		}
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids), problemsOf(problems)
}

// queueKeptFiles marks the files of a submission, so that the sweep leaves them.
func queueKeptFiles(b *pgx.Batch, c Claim, ids []uuid.UUID) {
	if len(ids) == 0 {
		return
	}
	b.Queue(`UPDATE task_files SET submitted = true
		WHERE id = ANY($3) AND task_id = $2 AND org_id = $1 AND completed_at IS NOT NULL`, c.OrgID, c.TaskID, ids).
		Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() != int64(len(ids)) {
				return fault.New(fault.Validation, "a file was uploaded so long ago that it is given up: upload it again")
			}
			return nil
		})
}

// filesOfFields returns the complete files of the claim's task, by their ids.
func filesOfFields(ctx context.Context, q querier, c Claim, ids []uuid.UUID) (map[string]TaskFile, error) {
	rows, err := q.Query(ctx, `SELECT id, name, size, sha256, content_type, field FROM task_files
		WHERE id = ANY($3) AND task_id = $2 AND org_id = $1 AND completed_at IS NOT NULL`, c.OrgID, c.TaskID, ids)
	if err != nil {
		return nil, translate(err)
	}
	out := map[string]TaskFile{}
	var f TaskFile
	_, err = pgx.ForEachRow(rows, []any{&f.ID, &f.Name, &f.Size, &f.SHA256, &f.ContentType, &f.Field}, func() error {
		out[f.ID.String()] = f
		return nil
	})
	return out, translate(err)
}

// UploadField returns the field of the claim's form that contributors fill with
// files; for a review, of the forms that it may correct.
func (s *Store) UploadField(ctx context.Context, c Claim, name string) (form.Field, error) {
	p, err := s.Version(ctx, c.VersionID)
	if err != nil {
		return form.Field{}, translate(err)
	}
	fields := claimFields(p, c)
	at := slices.IndexFunc(fields, func(f form.Field) bool {
		return f.Name == name && f.Type == form.FileUpload && f.Input == form.Contributor
	})
	if at < 0 {
		return form.Field{}, fault.New(fault.Validation, "field %q of this form takes no uploads", cut(name)).With(
			[]fault.Problem{{Field: "field", Message: "names no file_upload field that you fill in"}})
	}
	return fields[at], nil
}

// claimFields are the fields that the holder of a claim may answer.
func claimFields(p *pipeline.Pipeline, c Claim) []form.Field { return draftForm(p, c).Fields() }
