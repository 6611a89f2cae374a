package conformance

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// prefix is the version in every path (spec 9.1).
const prefix = "/api/v1"

// Target is the deployment under test and what in it may be used. Everything
// but the address, the key and the workflow is optional: what is absent skips
// the checks that need it.
type Target struct {
	// BaseURL is the address with or without /api/v1.
	BaseURL string `json:"url"`
	Key     string `json:"key"`
	// Item are the fields of a task that can be created in Workflow; nil means
	// that they are made from the schema's examples.
	Item map[string]any `json:"item,omitempty"`

	// Workflow is ACTIVE and has no file upload fields. Tasks are created in it.
	Workflow int64 `json:"workflow"`
	// FileWorkflow is ACTIVE and has one field, a file upload; FolderWorkflow
	// has several fields, all of them file uploads; MixedWorkflow has file
	// uploads and others.
	FileWorkflow   int64 `json:"file_workflow,omitempty"`
	FolderWorkflow int64 `json:"folder_workflow,omitempty"`
	MixedWorkflow  int64 `json:"mixed_workflow,omitempty"`
	// ForeignWorkflow belongs to another organization.
	ForeignWorkflow int64 `json:"foreign_workflow,omitempty"`
	// These are workflows in the status that their names say.
	PausedWorkflow    int64 `json:"paused_workflow,omitempty"`
	DraftWorkflow     int64 `json:"draft_workflow,omitempty"`
	CompletedWorkflow int64 `json:"completed_workflow,omitempty"`
	ArchivedWorkflow  int64 `json:"archived_workflow,omitempty"`

	RevokedKey string `json:"revoked_key,omitempty"`
	ExpiredKey string `json:"expired_key,omitempty"`
	// RemovedCreatorKey is a good key of the same organization whose creator
	// was removed from it.
	RemovedCreatorKey string `json:"removed_creator_key,omitempty"`
	// SpareKey is used by nobody else: its rate limit is exhausted.
	SpareKey string `json:"spare_key,omitempty"`
}

// need is something optional of a Target, named like the flag that gives it.
type need string

const (
	needFile       need = "--file-workflow"
	needFolder     need = "--folder-workflow"
	needMixed      need = "--mixed-workflow"
	needForeign    need = "--foreign-workflow"
	needPaused     need = "--paused-workflow"
	needDraft      need = "--draft-workflow"
	needCompleted  need = "--completed-workflow"
	needArchived   need = "--archived-workflow"
	needRevoked    need = "--revoked-key"
	needExpired    need = "--expired-key"
	needRemoved    need = "--removed-creator-key"
	needSpare      need = "--spare-key"
	needAnyUploads need = "--file-workflow, --folder-workflow or --mixed-workflow"
)

func (t Target) has(n need) bool {
	switch n {
	case needFile:
		return t.FileWorkflow > 0
	case needFolder:
		return t.FolderWorkflow > 0
	case needMixed:
		return t.MixedWorkflow > 0
	case needForeign:
		return t.ForeignWorkflow > 0
	case needPaused:
		return t.PausedWorkflow > 0
	case needDraft:
		return t.DraftWorkflow > 0
	case needCompleted:
		return t.CompletedWorkflow > 0
	case needArchived:
		return t.ArchivedWorkflow > 0
	case needRevoked:
		return t.RevokedKey != ""
	case needExpired:
		return t.ExpiredKey != ""
	case needRemoved:
		return t.RemovedCreatorKey != ""
	case needSpare:
		return t.SpareKey != ""
	case needAnyUploads:
		return t.FileWorkflow > 0 || t.FolderWorkflow > 0 || t.MixedWorkflow > 0
	}
	return false
}

// own lists the workflows of the key's organization.
func (t Target) own() []int64 {
	var ids []int64
	for _, id := range []int64{
		t.Workflow, t.FileWorkflow, t.FolderWorkflow, t.MixedWorkflow,
		t.PausedWorkflow, t.DraftWorkflow, t.CompletedWorkflow, t.ArchivedWorkflow,
	} {
		if id > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// normal checks the target and completes its address.
func (t Target) normal() (Target, error) {
	u, err := url.Parse(t.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return t, fmt.Errorf("--url %q is no address; write https://host or https://host%s", t.BaseURL, prefix)
	}
	t.BaseURL = strings.TrimRight(t.BaseURL, "/")
	if !strings.HasSuffix(t.BaseURL, prefix) {
		t.BaseURL += prefix
	}
	switch {
	case t.Key == "":
		return t, errors.New("--key is missing: give an API key of the organization whose workflows are used")
	case t.Workflow < 1:
		return t, errors.New("--workflow is missing: give the id of an ACTIVE workflow without file upload fields")
	}
	return t, nil
}
