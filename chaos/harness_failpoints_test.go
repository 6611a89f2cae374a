package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

	atPublish = failpoint{"a published version", regexp.MustCompile(`INSERT INTO pipeline_versions`)}
	atPause   = failpoint{"a pause", regexp.MustCompile(`(?s)` + statusStatement + `.*\x00PAUSED`)}
	atResume  = failpoint{"the end of a pause", regexp.MustCompile(`(?s)` + statusStatement + `.*\x00ACTIVE`)}
	atAdmit   = failpoint{"a role that is given", regexp.MustCompile(`INSERT INTO project_members AS m`)}
	atDismiss = failpoint{"a role that is ended", regexp.MustCompile(`DELETE FROM project_members WHERE org_id = \$1 AND project_id`)}

	atRelease = journaled("what somebody gives back", pipeline.EventRelease)
	atHold    = journaled("a hold", pipeline.EventHold)
	atUnhold  = journaled("the end of a hold", pipeline.EventUnhold)
	atFail    = journaled("the failing of a task", pipeline.EventFail)
	atResolve = journaled("what an admin decides", pipeline.EventResolve)
)

// statusStatement writes the status of a pipeline, which is an argument.
const statusStatement = `UPDATE pipelines SET status = \$3, updated_at`

// eventStatement writes an event whose kind is an argument, and its reason the last one.
const eventStatement = `INSERT INTO task_events \(task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends,\s`

// journaled is a command that is known by the event that it writes, which nobody gave a
// reason for: admins who end claims give one.
func journaled(name string, kind pipeline.EventKind) failpoint {
	return failpoint{name, regexp.MustCompile(`(?s)` + eventStatement + `.*\x00` + string(kind) + `\x00.*\x00$`)}
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
		atClaim, atDraft, atSubmission, atExtension, atUndo, atInit, atConfirm, atBegin, atComplete, atPublish, atDismiss, atTaken, atTold, atStep, atFile, atFinalise,
		{"an event", regexp.MustCompile(eventStatement)},
		{"a status", regexp.MustCompile(statusStatement)},
	} {
		require.Len(t, at.of.FindAllString(source.String(), -1), 1, at.name)
	}
}
