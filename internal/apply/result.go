package apply

// Result tells what is there now, in the order of the document.
type Result struct {
	Organizations []OrganizationResult `json:"organizations"`
}

// OrganizationResult is one organization of a Result. Pipelines are those of
// all its projects, for scripts that know a pipeline by its name.
type OrganizationResult struct {
	Slug      string           `json:"slug"`
	ID        int64            `json:"id"`
	Projects  []ProjectResult  `json:"projects"`
	Pipelines []PipelineResult `json:"pipelines"`
	Datasets  []DatasetResult  `json:"datasets"`
	APIKeys   []KeyResult      `json:"api_keys"`
}

// ProjectResult is one project of a Result.
type ProjectResult struct {
	Name      string           `json:"name"`
	ID        int64            `json:"id"`
	Pipelines []PipelineResult `json:"pipelines"`
}

// PipelineResult is one pipeline of a Result.
type PipelineResult struct {
	Name   string `json:"name"`
	ID     int64  `json:"id"`
	Status string `json:"status"`
}

// DatasetResult is one dataset of a Result.
type DatasetResult struct {
	Name string `json:"name"`
	ID   int64  `json:"id"`
	Rows int    `json:"rows"`
}

// KeyResult is one API key of a Result; Value is there when the key was made
// just now, and never again.
type KeyResult struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}
