package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// failpoint is a place in the product's code, by what the transaction says to
// Postgres that commits there: nothing in the product has to know of it.
type failpoint struct {
	name string
	of   *regexp.Regexp
}

// The commands of people, programs and admins, in `serve`.
var (
	atCreation   = failpoint{"a creation", regexp.MustCompile(`(?i)^copy "tasks"`)}
	atClaim      = failpoint{"a claim", regexp.MustCompile(`'claim', key, iteration`)}
	atDraft      = failpoint{"a draft", regexp.MustCompile(`FOR SHARE OF n\b`)}
	atSubmission = failpoint{"a submission", regexp.MustCompile(`INSERT INTO submissions`)}
	atExtension  = failpoint{"an extension", regexp.MustCompile(`UPDATE task_nodes n SET lease_expires_at = `)}
	atUndo       = failpoint{"an undo", regexp.MustCompile(`UPDATE submissions SET undone_at = `)}
	atInit       = failpoint{"a new upload", regexp.MustCompile(`INSERT INTO uploads\b`)}
	atConfirm    = failpoint{"a confirmation of an upload", regexp.MustCompile(`SET status = 'processing', archive_bytes`)}
	atBegin      = failpoint{"the beginning of a file", regexp.MustCompile(`INSERT INTO task_files`)}
	// Before it the file is stored and no row says so.
	atComplete = failpoint{"the completion of a file", regexp.MustCompile(`UPDATE task_files SET object_key`)}

	// Of the load's pipeline, whose name has no number, and whose notes have one.
	atSave    = failpoint{"a pipeline's draft", regexp.MustCompile(`(?s)` + draftStatement + `.*\x00q[a-z]+\x00`)}
	atPublish = failpoint{"a published version", regexp.MustCompile(`(?s)` + versionStatement + `.*\x00q[a-z]+ [0-9]+\x00`)}
	atPause   = inTheLog("a pause", "pipeline.pause")
	atResume  = inTheLog("the end of a pause", "pipeline.resume")
	atAdmit   = failpoint{"a role that is given", regexp.MustCompile(`INSERT INTO project_members AS m`)}
	atDismiss = failpoint{"a role that is ended", regexp.MustCompile(`DELETE FROM project_members WHERE org_id = \$1 AND project_id`)}

	atRelease = journaled("what somebody gives back", pipeline.EventRelease)
	atHold    = journaled("a hold", pipeline.EventHold)
	atUnhold  = journaled("the end of a hold", pipeline.EventUnhold)
	atFail    = journaled("the failing of a task", pipeline.EventFail)
	atResolve = journaled("what an admin decides", pipeline.EventResolve)
	// Admins who end claims or escalate give a reason, or this one is given for them.
	atPutBack = failpoint{"the end of somebody's claim", regexp.MustCompile(`(?s)` + eventStatement + `.*\x00release\x00.*\x00by an admin$`)}
	atAside   = failpoint{"an admin's escalation", regexp.MustCompile(`(?s)` + eventStatement + `.*\x00escalate\x00.*\x00` + pipeline.ReasonPerson + `$`)}

	// A priority is that of one task, also in a bulk action on many.
	atPriority    = inTheLog("a priority", "task.priority")
	atNewKey      = inTheLog("a new key", "key.create")
	atExpiry      = inTheLog("a key's new end", "key.expire")
	atRevoke      = inTheLog("a revoked key", "key.revoke")
	atCancel      = inTheLog("the cancelling of an upload", "upload.cancel")
	atRename      = inTheLog("a project's new name", "project.rename")
	atNewPipeline = inTheLog("a new pipeline", "pipeline.create")
	atRestore     = inTheLog("a restored version", "pipeline.restore")
	atClose       = inTheLog("the completing of a pipeline", "pipeline.complete")
	atArchive     = inTheLog("the archiving of a pipeline", "pipeline.archive")
	atInvite      = inTheLog("an invite", "invite.create")
	atUninvite    = inTheLog("a revoked invite", "invite.revoke")
)

// draftStatement writes the draft and the name of a pipeline, versionStatement a version
// with its note, which are arguments.
const (
	draftStatement   = `UPDATE pipelines SET draft = \$3, name = \$4`
	versionStatement = `INSERT INTO pipeline_versions`
)

// eventStatement writes an event whose kind is an argument, and its reason the last one.
const eventStatement = `INSERT INTO task_events \(task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends,\s`

// journaled is a command that is known by the event that it writes, which nobody gave a
// reason for: admins who end claims give one.
func journaled(name string, kind pipeline.EventKind) failpoint {
	return failpoint{name, regexp.MustCompile(`(?s)` + eventStatement + `.*\x00` + string(kind) + `\x00.*\x00$`)}
}

// auditStatement writes a row of the audit log; what was done is an argument.
const auditStatement = `INSERT INTO audit_log \(org_id, actor, action, object, detail\)`

// inTheLog is a command that is known by its row in the audit log.
func inTheLog(name, action string) failpoint {
	return failpoint{name, regexp.MustCompile(`(?s)` + auditStatement + `.*\x00` + regexp.QuoteMeta(action) + `\x00`)}
}

// What follows from them, in `worker`. Between the taking of outbox rows and
// their deletion Temporal is told, and files are stored before their rows are.
// What was told is known by its alias: a look at the outbox deletes rows as well.
var (
	atTaken    = failpoint{"taken outbox rows", regexp.MustCompile(`UPDATE outbox o SET leased_until = now`)}
	atTold     = failpoint{"delivered outbox rows", regexp.MustCompile(`AS done\(id, task_id, seq\)`)}
	atStep     = failpoint{"a step", regexp.MustCompile(`applied_seq = \$8`)}
	atFile     = failpoint{"files that are stored", regexp.MustCompile(`INSERT INTO files`)}
	atFinalise = failpoint{"an upload's end", regexp.MustCompile(`UPDATE uploads SET status = \$2, reason`)}
)

// KilledAtCommit kills the processes of a kind at the moment when a commit of
// one of them is decided: it has not reached Postgres, or Postgres has it and
// the process has not heard of it. A kill by chance hardly ever hits there.
// first, if any, sees to it that there is such a commit.
func KilledAtCommit(of string, where pgproxy.Cut, at failpoint, first func(ctx context.Context, r *Run) error) Fault {
	return Fault{
		Name: fmt.Sprintf("kill -9 of %s %s its commit of %s", of, where, at.name),
		Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
			victims := r.Serves
			if of == ofWorker {
				victims = r.Workers
			}
			hit := make(chan struct{})
			r.proxyOf(of).CutNextThen(where, at.of, func() {
				for _, p := range victims {
					p.Signal(syscall.SIGKILL)
				}
				close(hit)
			})
			if first != nil {
				if err := first(ctx, r); err != nil {
					return nil, err
				}
			}
			select {
			case <-hit:
				return halt(victims), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(floorPatience):
				return nil, fmt.Errorf("%s made no commit of %s in %s", of, at.name, floorPatience)
			}
		},
	}
}

// A failpoint that several statements match may be cut at the wrong one, and one
// that none matches anymore is never reached. (A creation is pgx's own COPY; whoever gives a
// role writes the same row, and of those only admins are here.)
func TestAFailpointIsOneStatement(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../internal/store/*.go")
	require.NoError(t, err)
	var source strings.Builder
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		source.Write(text)
	}
	for _, at := range []failpoint{
		atClaim, atDraft, atSubmission, atExtension, atUndo, atInit, atConfirm, atBegin, atComplete, atDismiss, atTaken, atTold, atStep, atFile, atFinalise,
		{"an event", regexp.MustCompile(eventStatement)},
		{"a draft of a pipeline", regexp.MustCompile(draftStatement)},
		{"a version", regexp.MustCompile(versionStatement)},
		{"a row of the audit log", regexp.MustCompile(auditStatement)},
		{"the reason for what has none", regexp.MustCompile(`"by an admin"`)},
	} {
		require.Len(t, at.of.FindAllString(source.String(), -1), 1, at.name)
	}
}

// The same statements are those of other commands, too, with other arguments.
func TestAFailpointIsOneCommand(t *testing.T) {
	t.Parallel()
	said := func(sql string, arguments ...string) string {
		return strings.Join(slices.Concat([]string{sql}, arguments), "\x00")
	}
	const (
		number = "\x00\x00\x00\x00\x00\x00\x00\x07"
		draft  = `UPDATE pipelines SET draft = $3, name = $4, revision = revision + 1`
		added  = `INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition, note, published_by)`
		row    = `INSERT INTO audit_log (org_id, actor, action, object, detail)`
		event  = "INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends,\n"
	)
	for name, c := range map[string]struct {
		at   failpoint
		said string
		is   bool
	}{
		"the load's draft":       {atSave, said(draft, number, number, "", "qalpha", number), true},
		"the draft of an own":    {atSave, said(draft, number, number, "", "qalpha own 7", number), false},
		"the load's version":     {atPublish, said(added, number, number, "", "qalpha 12", number), true},
		"an own version":         {atPublish, said(added, number, number, "", "qalpha", number), false},
		"a pause":                {atPause, said(row, number, number, "pipeline.pause", "pipeline/7", "{}"), true},
		"out of the archive":     {atPause, said(row, number, number, "pipeline.unarchive", "pipeline/7", "{}"), false},
		"an archiving":           {atArchive, said(row, number, number, "pipeline.archive", "pipeline/7", ""), true},
		"no archiving":           {atArchive, said(row, number, number, "pipeline.unarchive", "pipeline/7", ""), false},
		"an admin ends a claim":  {atPutBack, said(event, number, "release", "solve", number, number, number, "", "by an admin"), true},
		"an admin escalates":     {atAside, said(event, number, "escalate", "check", number, number, "", "", "person"), true},
		"a time limit does":      {atAside, said(event, number, "escalate", "check", number, number, number, "", "sla"), false},
		"its holder does":        {atPutBack, said(event, number, "release", "solve", number, number, number, "", ""), false},
		"the end of a role does": {atPutBack, said(event, number, "release", "solve", number, number, number, "", "removed"), false},
		"given back":             {atRelease, said(event, number, "release", "solve", number, number, number, "", ""), true},
		"taken away":             {atRelease, said(event, number, "release", "solve", number, number, number, "", "by an admin"), false},
	} {
		require.Equal(t, c.is, c.at.of.MatchString(c.said), name)
	}
}
