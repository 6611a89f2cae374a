package console

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/store"
)

// About tells of the deployment what the web app adapts itself to.
type About struct {
	// Version is that of the binary.
	Version string
	// TemporalUIURL is where operators find the Temporal Web UI, "" when it is
	// not known; TemporalNamespace is where the runs are.
	TemporalUIURL, TemporalNamespace string
}

// maxFileBytes bounds a file that a contributor uploads.
const maxFileBytes = 500 << 20

// Info is what the web app adapts itself to.
type Info struct {
	Version           string   `json:"version"`
	TemporalUIURL     string   `json:"temporal_ui_url" doc:"For admins of an organization or a project; empty for others, and when the deployment names none."`
	TemporalNamespace string   `json:"temporal_namespace" doc:"Goes with temporal_ui_url."`
	LLM               bool     `json:"llm" doc:"Whether pipelines may use LLM fields here."`
	LLMModels         []string `json:"llm_models"`
	UndoSeconds       int      `json:"undo_seconds" doc:"How long a submission can be taken back."`
	MaxFileBytes      int64    `json:"max_file_bytes" doc:"The largest file that a contributor can upload."`
}

type infoOutput struct{ Body Info }

func (a *api) registerInfo() {
	register(a, huma.Operation{
		OperationID: "getInfo", Method: http.MethodGet, Path: "/info", Tags: []string{"Session"},
		Summary: "About this deployment",
	}, a.getInfo)
}

func (a *api) getInfo(ctx context.Context, _ *struct{}) (*infoOutput, error) {
	info := Info{
		Version: a.About.Version, LLM: a.Publish.LLM, LLMModels: []string{},
		UndoSeconds: int(store.UndoWindow.Seconds()), MaxFileBytes: maxFileBytes,
	}
	admin, err := a.Store.Administers(ctx, caller(ctx).ID)
	if err != nil {
		return nil, err
	}
	if admin && a.About.TemporalUIURL != "" {
		info.TemporalUIURL, info.TemporalNamespace = a.About.TemporalUIURL, a.About.TemporalNamespace
	}
	return &infoOutput{Body: info}, nil
}
