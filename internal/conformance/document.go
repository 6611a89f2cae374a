package conformance

import (
	_ "embed"
	"fmt"
)

// Document makes every workflow that the checks need (docs/apply.md).
//
//go:embed document.yaml
var Document []byte

// Names in Document.
const (
	Organization = "conformance"
	Admin        = "admin@conformance.test"
	// Leaver makes a key and is removed.
	Leaver = "leaver@conformance.test"
)

// Find fills in the workflows of Document by their names.
func (t *Target) Find(workflows map[string]int64) error {
	for name, id := range map[string]*int64{
		"Texts": &t.Workflow, "One file": &t.FileWorkflow, "Folders of files": &t.FolderWorkflow, "A file and a note": &t.MixedWorkflow,
		"Paused": &t.PausedWorkflow, "Draft": &t.DraftWorkflow, "Completed": &t.CompletedWorkflow, "Archived": &t.ArchivedWorkflow,
		"Foreign": &t.ForeignWorkflow,
	} {
		if *id = workflows[name]; *id == 0 {
			return fmt.Errorf("the document made no workflow %q", name)
		}
	}
	return nil
}
