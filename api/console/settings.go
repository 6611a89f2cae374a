package console

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// settingBody bounds the body of a setting: its value and what is around it.
const settingBody = 17 << 10

type settingsOutput struct {
	Body struct {
		Settings map[string]json.RawMessage `json:"settings"`
	} `nameHint:"Settings"`
}

type putSettingInput struct {
	Key  string `path:"key" pattern:"^[a-z0-9._:-]{1,80}$" maxLength:"80"`
	Body struct {
		Value json.RawMessage `json:"value" doc:"Any JSON of at most 16 KB; null deletes the setting."`
	} `nameHint:"SettingRequest"`
}

func (a *api) registerSettings() {
	tags := []string{"Session"}
	register(a, huma.Operation{
		OperationID: "getSettings", Method: http.MethodGet, Path: "/me/settings", Tags: tags, Summary: "Get my settings",
	}, a.getSettings)
	register(a, huma.Operation{
		OperationID: "putSetting", MaxBodyBytes: settingBody, Method: http.MethodPut, Path: "/me/settings/{key}", Tags: tags,
		Summary: "Set one of my settings", Description: "What the web app keeps for a person; at most 100 of them, beyond that 409.",
	}, a.putSetting, http.StatusConflict)
}

func (a *api) getSettings(ctx context.Context, _ *struct{}) (*settingsOutput, error) {
	settings, err := a.Store.Settings(ctx, caller(ctx).ID)
	out := &settingsOutput{}
	out.Body.Settings = settings
	return out, err
}

func (a *api) putSetting(ctx context.Context, in *putSettingInput) (*struct{}, error) {
	return nil, a.Store.PutSetting(ctx, caller(ctx).ID, in.Key, in.Body.Value)
}
