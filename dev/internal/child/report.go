package child

import (
	"fmt"
	"os"
)

// ReportFD is the descriptor on which a part reports to its supervisor.
const ReportFD = 3

const reportReady = "ready"

// Reporter is the part's end of the pipe. Its zero value reports to nobody.
type Reporter struct {
	to *os.File
}

// OpenReporter takes the pipe that the supervisor has passed on.
func OpenReporter() *Reporter {
	return &Reporter{to: os.NewFile(ReportFD, "reports")}
}

// Doing tells the supervisor what the part is busy with, for its progress line.
func (r *Reporter) Doing(what string) {
	if r.to != nil {
		fmt.Fprintln(r.to, what)
	}
}

// Ready tells the supervisor that the part serves, and closes the pipe.
func (r *Reporter) Ready() {
	r.Doing(reportReady)
	if r.to != nil {
		r.to.Close()
		r.to = nil
	}
}
