package v1

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
)

// Health is the answer of the health check.
type Health struct {
	Status string `json:"status" enum:"ok" doc:"Always ok: the service answers."`
}

type healthOutput struct{ Body Health }

func (a *api) registerHealth() {
	op := huma.Operation{
		OperationID: "getHealth", Method: http.MethodGet, Path: "/health", Tags: []string{"Service"},
		Summary:     "Check that the service answers",
		Description: "Needs no key and touches nothing behind the service.",
	}
	edge.Describe(a.huma, &op, reflect.TypeFor[Error](), http.StatusTooManyRequests)
	delete(op.Responses, "500") // there is nothing that could fail
	delete(op.Responses, "503")
	huma.Register(a.huma, op, func(context.Context, *struct{}) (*healthOutput, error) {
		return &healthOutput{Body: Health{Status: "ok"}}, nil
	})
}
