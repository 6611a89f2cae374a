package chaos

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// looksAtItsClock are the places that may look at the process's clock, and why
// nothing of leases, limits, expiry or what is due follows from what it says. A span
// is between two looks of one process: no step of the clock is in it.
var looksAtItsClock = map[string]string{
	"worker/settle.go settle":                    "a span, for a metric: since the take, beside how long the database says that it had waited",
	"worker/dispatcher.go lane":                  "a span: how long nothing was found",
	"worker/dispatcher.go batch":                 "a span: when to stop sending, well before the lease ends by the database's clock",
	"worker/heartbeat.go run":                    "a span: when the next heartbeat is, which the database dates",
	"worker/giveway.go newCalm":                  "no time: a pace",
	"worker/giveway.go batch":                    "no time: a pace",
	"activities/uploads_turns.go pass":           "no time: a pace",
	"activities/load.go loaded":                  "the database's, read with the task",
	"workflows/task_steps.go load":               "the database's, read with the task",
	"workflows/task_deadline.go adopt":           "the database's, read with the task",
	"activities/uploads_ingest.go rows":          "a span: how long a page took, for the rest after it",
	"internal/store/engine.go LoadTask":          "the database's, read with the task",
	"internal/giveway/pace.go Due":               "a span: since the last look at who waits",
	"internal/giveway/pace.go Asked":             "a span: since the last look at who waits",
	"internal/giveway/pace.go Learn":             "a span: since the last look at who waits",
	"internal/blob/body.go watchStall":           "a span: how long an object stands still",
	"internal/blob/body.go ask":                  "a span: how long an object stands still",
	"internal/blob/body.go pause":                "a span: how long an object stands still",
	"internal/blob/probe.go sweepProbes":         "how old what a doctor left is: an hour, of an object that is needed for seconds",
	"internal/limit/memory.go newMemory":         "a span: how old the counts are",
	"internal/limit/memory.go age":               "a span: how old the counts are",
	"internal/limit/memory.go state":             "there and back in one call: the library wants a date where the rest of a window is meant",
	"internal/limit/limiter.go decide":           "there and back in one call: the library has a date where the rest of a window is meant",
	"api/edge/ratelimit.go AdmitKey":             "a span: a second in which a refusal is repeated",
	"api/edge/ratelimit_again.go AgainRefused":   "a span: a second in which a refusal is repeated",
	"api/edge/body.go discard":                   "a connection's deadline: a span to the runtime",
	"api/edge/body.go readInTime":                "a connection's deadline: a span to the runtime",
	"api/edge/budget.go open":                    "a span: how long a body brings next to nothing",
	"api/edge/budget.go cutSlow":                 "a span: how long a body brings next to nothing",
	"api/edge/budget.go try":                     "a span: how long a body brings next to nothing",
	"api/edge/body_refused.go ReadOn":            "a span, for the log and the metrics: how long a client was listened to",
	"api/edge/observe.go Middleware":             "a span, for the log and the metrics",
	"api/edge/observe.go finish":                 "a span, for the log and the metrics",
	"api/api.go New":                             "handed on",
	"api/api.go withDefaults":                    "handed on: to the line of the gate for spans, to the log, to what is told of links",
	"api/console/files.go links":                 "what is told of a link, whose end the object store sees to",
	"api/console/files_complete.go completeFile": "what is told of a link, whose end the object store sees to",
	"api/console/files_upload.go createFile":     "what is told of a link, whose end the object store sees to",
	"api/console/history.go listHistory":         "the database's, in a cursor",
	"api/console/reviews.go listReviewQueue":     "the database's, in a cursor",
	"api/console/task_list.go listed":            "the database's, in a cursor",
	"api/console/tasks.go listWaiting":           "the database's, in a cursor",
}

// TestRow14NothingAsksTheProcesssClock is what a moved clock cannot show of
// programs in Go, which read it past libc: the packages that decide about
// leases, expiry, limits in time and what is due never look at the process's
// clock, but for what is listed above. They leave it to the database, and workflows
// to Temporal. A time as a number is looked for, too: it can no longer be part of a
// span.
func TestRow14NothingAsksTheProcesssClock(t *testing.T) {
	t.Parallel()
	var found []string
	for _, dir := range []string{
		"internal/store", "internal/pipeline", "internal/task", "internal/form", "workflows",
		"worker", "activities", "api", "api/*", "internal/limit", "internal/blob", "internal/archive", "internal/apikey", "internal/apply",
		"internal/cursor", "internal/giveway", "internal/password",
	} {
		files, err := filepath.Glob(filepath.Join(stacktest.Root(t), dir, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, dir)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			place, err := filepath.Rel(stacktest.Root(t), name)
			require.NoError(t, err)
			for _, function := range looksAtTheClock(t, name, nil) {
				found = append(found, filepath.ToSlash(place)+" "+function)
			}
		}
	}
	slices.Sort(found)
	for _, place := range slices.Compact(found) {
		require.NotEmpty(t, looksAtItsClock[place], "%s reads the process's clock", place)
	}
	for place := range looksAtItsClock {
		require.Contains(t, found, place, "it does not read the clock any more")
	}
	require.Equal(t, []string{"f", "f", "s", "s", "n", ""}, looksAtTheClock(t, "x.go", `package x
import "time"
func f(t time.Time) bool { return time.Now().After(t) || time.Since(t) > 0 }
func (x) s() any { return x.deps.Now().Add(1) == time.Until }
func n(t time.Time) int64 { return t.UnixNano() + workflow.Now(ctx).Weekday() }
var now = time.Now`), "the check is blind")
}

// theClock are names by which a clock is read, or a time made a number.
var theClock = []string{"Now", "Since", "Until", "Unix", "UnixMilli", "UnixMicro", "UnixNano"}

// looksAtTheClock returns the functions in which a file uses one of theClock, "" for
// outside of all. What Temporal tells a workflow is no clock of the process.
func looksAtTheClock(t *testing.T, name string, source any) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, decl := range file.Decls {
		in := ""
		if f, ok := decl.(*ast.FuncDecl); ok {
			in = f.Name.Name
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, _ := s.X.(*ast.Ident)
			if slices.Contains(theClock, s.Sel.Name) && (of == nil || of.Name != "workflow") {
				found = append(found, in)
			}
			return true
		})
	}
	return found
}
