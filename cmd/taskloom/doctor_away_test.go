package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

// bucketAt is the environment of an object store at an address.
func bucketAt(address string) []string {
	return []string{"S3_ENDPOINT=" + address, "S3_REGION=r", "S3_BUCKET=b", "S3_ACCESS_KEY_ID=k", "S3_SECRET_ACCESS_KEY=s"}
}

// notLooked fails unless each check says no more than which line tells why it did
// not look.
func notLooked(t *testing.T, out, line string, checks ...string) {
	t.Helper()
	for _, check := range checks {
		require.Regexp(t, `(?m)^skip  `+check+` +not looked at: the line on `+line+` says why$`, out)
	}
}

// Workers that live do not count while Temporal answers nobody. Who is told to start
// one, or to look at another part, looks for long.
func TestAFrozenTemporalIsTheOnlyOneAccused(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	require.NoError(t, w.Store.Beat(t.Context(), "w", []string{workflows.TaskQueue, workflows.IngestQueue}, false))
	w.exec(`INSERT INTO outbox (topic, task_id, seq, created_at) VALUES ('task_sync', $1, 0, now() - interval '1 hour')`, w.free)
	w.exec(`INSERT INTO task_lag VALUES ($1, now())`, w.free)
	// The kernel takes connections for a process that is stopped, too.
	frozen, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = frozen.Close() })
	environ := append(bucketAt("http://127.0.0.1:1"), w.environ...)
	got := command(t, append(environ, "TEMPORAL_ADDRESS="+frozen.Addr().String()), "", "doctor")
	require.Equal(t, 1, got.code)
	require.Regexp(t, `fail  temporal +`+regexp.QuoteMeta(frozen.Addr().String())+` does not answer: `, got.out)
	notLooked(t, got.out, "temporal", "search attributes", "pollers", "uploads")
	require.NotContains(t, got.out, "taskloom worker")
	require.Regexp(t, `fail  outbox +1 events wait for Temporal`, got.out)
	require.Regexp(t, `warn  lagging tasks +1 tasks have events`, got.out)
	require.Equal(t, 2, strings.Count(got.out, "→ mend what the line on temporal says"), got.out)
}

// Where Temporal answers, a worker that is missing is told.
func TestTheDoctorMissesWorkers(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), dbtest.URL(t), store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	d := &doctor{store: st, config: config.Config{S3: config.S3{Bucket: "b"}}, temporalUp: true}
	f := d.pollers(t.Context())
	require.Equal(t, failure, f.verdict, f.text)
	require.Equal(t, "start one: taskloom worker", f.wayOut)
	f = d.uploads(t.Context())
	require.Equal(t, failure, f.verdict, f.text)
	require.Contains(t, f.wayOut, "give a worker the S3_ variables")
}

// namespaceless is a Temporal that is well, but for our namespace.
type namespaceless struct {
	client.Client

	err error
}

func (namespaceless) CheckHealth(context.Context, *client.CheckHealthRequest) (*client.CheckHealthResponse, error) {
	return &client.CheckHealthResponse{}, nil
}

func (n namespaceless) WorkflowService() workflowservice.WorkflowServiceClient {
	return undescribed{err: n.err}
}

// undescribed tells nothing of namespaces.
type undescribed struct {
	workflowservice.WorkflowServiceClient

	err error
}

func (u undescribed) DescribeNamespace(
	context.Context, *workflowservice.DescribeNamespaceRequest, ...grpc.CallOption,
) (*workflowservice.DescribeNamespaceResponse, error) {
	return nil, u.err
}

// A server that answers is not said to be silent, neither where it does not know our
// namespace nor where it keeps it from us.
func TestATemporalWithoutOurNamespaceAnswers(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), dbtest.URL(t), store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	sick := func(err error) *doctor {
		c := config.Config{TemporalAddress: "temporal:7233", TemporalNamespace: "nope"}
		return &doctor{store: st, config: c, temporal: namespaceless{err: err}}
	}
	for name, c := range map[string]struct {
		err    error
		text   string
		wayOut []string
	}{
		"not there": {
			serviceerror.NewNamespaceNotFound("nope"), "temporal:7233 answers, but has no namespace nope",
			[]string{"set TEMPORAL_NAMESPACE", "temporal operator namespace create --namespace nope"},
		},
		"not for us": {
			serviceerror.NewPermissionDenied("not for you", ""), "temporal:7233 answers, but not for namespace nope: not for you",
			[]string{"TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY"},
		},
	} {
		d, told := sick(c.err), map[string]finding{}
		for _, check := range d.checks() {
			told[check.name] = d.run(t.Context(), check)
		}
		require.Equal(t, failure, told["temporal"].verdict, name)
		require.Equal(t, c.text, told["temporal"].text, name)
		for _, words := range c.wayOut {
			require.Contains(t, told["temporal"].wayOut, words, name)
		}
		for _, check := range []string{"search attributes", "pollers", "uploads"} {
			require.Equal(t, finding{verdict: skipped, text: "not looked at: the line on temporal says why"}, told[check], "%s: %s", name, check)
		}
	}

	over, cancel := context.WithCancel(t.Context())
	cancel()
	f := sick(serviceerror.NewDeadlineExceeded("too late")).temporalServer(over)
	require.Equal(t, "temporal:7233 does not answer: too late", f.text, "its own database may be frozen")
}

// A bucket that is not there needs no CORS rules.
func TestABucketThatIsMissingIsToldAsThat(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusNotFound)
		fmt.Fprint(rw, `<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>`)
	}))
	t.Cleanup(srv.Close)
	got := command(t, append(database(t), bucketAt(srv.URL)...), "", "doctor")
	require.Equal(t, 1, got.code)
	require.Regexp(t, `fail  s3 +there is no bucket b at `+regexp.QuoteMeta(srv.URL)+`: .*NoSuchBucket`, got.out)
	require.Contains(t, got.out, "→ set S3_BUCKET")
	notLooked(t, got.out, "s3", "s3 from browsers")
	require.NotContains(t, got.out, "CORS")
}

// What is wrong with the database is said once.
func TestADeadDatabaseIsToldOnce(t *testing.T) {
	t.Parallel()
	got := command(t, append(bucketAt("http://127.0.0.1:1"), "DATABASE_URL=postgres://u@127.0.0.1:1/db"), "", "doctor")
	require.Equal(t, 1, got.code)
	require.Regexp(t, `fail  database +127\.0\.0\.1:1/db does not answer: `, got.out)
	notLooked(t, got.out, "database", "durability", "schema", "clock", "pollers", "uploads", "outbox", "lagging tasks")
	require.NotContains(t, got.out, "does not tell")
}
