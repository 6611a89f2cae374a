package edge

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

// refusing answers every POST with an error of the kind.
func refusing(rd *Reader, kind *fault.Kind, outside ...func(http.Handler) http.Handler) http.Handler {
	router := chi.NewRouter()
	router.Use(Identify)
	router.Use(outside...)
	api := humachi.New(router, huma.DefaultConfig("test", "1"))
	api.UseMiddleware(rd.ReadOn, func(ctx huma.Context, _ func(huma.Context)) {
		WriteHumaError(api, ctx, fault.New(*kind, "refused"))
	})
	op := huma.Operation{OperationID: "op", Method: http.MethodPost, Path: "/"}
	huma.Register(api, op, func(context.Context, *struct{}) (*struct{}, error) { return nil, nil })
	return router
}

// Bodies of refused requests are read on, of so many at a time; who waits to be asked for
// theirs is not asked, and in an overload nobody is listened to.
func TestOnlySoManyRefusedBodiesAreReadOn(t *testing.T) {
	t.Parallel()
	rd, kind := NewReader(), fault.InvalidAPIKey
	router := refusing(rd, &kind)
	unread := func(expect string) int {
		body := strings.NewReader("a body")
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.Header.Set("Expect", expect)
		router.ServeHTTP(httptest.NewRecorder(), r)
		return body.Len()
	}
	require.Zero(t, unread(""))
	require.NotZero(t, unread("100-continue"))
	kind = fault.Unavailable
	require.NotZero(t, unread(""))
	kind = fault.InvalidAPIKey
	for range refusedMost {
		rd.refused <- struct{}{}
	}
	require.NotZero(t, unread(""))
	<-rd.refused
	require.Zero(t, unread(""))
}

// lateBody takes a second.
type lateBody struct{}

func (lateBody) Read([]byte) (int, error) {
	<-time.After(time.Second)
	return 0, io.EOF
}

// Who refuses is not slow because of clients that send slowly.
func TestListeningToTheRefusedIsNoTimeOfTheirs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := NewObserver(slog.New(slog.NewJSONHandler(&log, nil)), time.Now, nil)
		kind, began := fault.InvalidAPIKey, time.Now()
		r := httptest.NewRequest(http.MethodPost, "/", lateBody{})
		refusing(NewReader(), &kind, o.Middleware).ServeHTTP(httptest.NewRecorder(), r)
		require.Equal(t, time.Second, time.Since(began))
		var line struct{ Took time.Duration }
		require.NoError(t, json.Unmarshal(log.Bytes(), &line), log.String())
		require.Zero(t, line.Took)
	})
}
