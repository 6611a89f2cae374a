package console

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/store"
)

// Version is a published version without its definition.
type Version struct {
	Number      int       `json:"number"`
	Note        string    `json:"note"`
	PublishedBy *Person   `json:"published_by" doc:"Null when the command line did it."`
	CreatedAt   time.Time `json:"created_at"`
	Live        bool      `json:"live" doc:"New tasks get this one."`
	OpenTasks   int       `json:"open_tasks" doc:"Tasks that were created with it and are neither finished nor failed."`
}

// VersionDetail is a published version.
type VersionDetail struct {
	Number     int             `json:"number"`
	Note       string          `json:"note"`
	CreatedAt  time.Time       `json:"created_at"`
	Definition json.RawMessage `json:"definition"`
}

type versionsOutput struct {
	Body struct {
		Versions []Version `json:"versions" doc:"Newest first."`
	} `nameHint:"VersionList"`
}

// OnVersion is embedded by every operation on a version.
type OnVersion struct {
	InPipeline
	Number int `path:"number" minimum:"1"`
}

type versionOutput struct{ Body VersionDetail }

type restoreInput struct {
	OnVersion
	Body struct {
		Revision int64 `json:"revision" minimum:"0" doc:"The last one seen of the draft."`
	} `nameHint:"RestoreRequest"`
}

func (a *api) registerVersions() {
	tags := []string{"Pipelines"}
	register(a, huma.Operation{
		OperationID: "listVersions", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/versions", Tags: tags,
		Summary: "List the published versions", Description: "Newest first.",
	}, a.listVersions)
	register(a, huma.Operation{
		OperationID: "getVersion", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/versions/{number}", Tags: tags,
		Summary: "Get a published version",
	}, a.getVersion)
	register(a, huma.Operation{
		OperationID: "restoreVersion", Method: http.MethodPost, Path: "/pipelines/{pipeline_id}/versions/{number}/restore", Tags: tags,
		Summary: "Copy a version into the draft", Description: "409 when the draft was saved since the given revision.",
	}, a.restoreVersion, http.StatusConflict)
}

func (a *api) listVersions(ctx context.Context, in *InPipeline) (*versionsOutput, error) {
	m := membership(ctx)
	found, err := a.Store.Versions(ctx, m.OrgID, in.PipelineID)
	if err != nil {
		return nil, err
	}
	who, err := a.names(ctx, m.OrgID, publishers(found))
	if err != nil {
		return nil, err
	}
	out := &versionsOutput{}
	out.Body.Versions = make([]Version, len(found))
	for i, v := range found {
		out.Body.Versions[i] = Version{
			Number: v.Number, Note: v.Note, PublishedBy: who.maybe(v.PublishedBy), CreatedAt: v.CreatedAt.UTC(),
			Live: v.Live, OpenTasks: v.OpenTasks,
		}
	}
	return out, nil
}

func publishers(versions []store.VersionRow) []int64 {
	var ids []int64
	for _, v := range versions {
		if v.PublishedBy != nil {
			ids = append(ids, *v.PublishedBy)
		}
	}
	return ids
}

func (a *api) getVersion(ctx context.Context, in *OnVersion) (*versionOutput, error) {
	v, err := a.Store.VersionByNumber(ctx, membership(ctx).OrgID, in.PipelineID, in.Number)
	if err != nil {
		return nil, err
	}
	return &versionOutput{Body: VersionDetail{
		Number: v.Number, Note: v.Note, CreatedAt: v.CreatedAt.UTC(), Definition: v.Definition,
	}}, nil
}

func (a *api) restoreVersion(ctx context.Context, in *restoreInput) (*pipelineOutput, error) {
	row, err := a.Store.RestoreVersion(ctx, membership(ctx), in.PipelineID, in.Number, in.Body.Revision)
	return &pipelineOutput{Body: newPipeline(row)}, err
}
