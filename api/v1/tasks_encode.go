package v1

import (
	"strconv"
	"time"

	"github.com/taskloom/taskloom/api/edge"
)

var _ edge.Appender = TaskPage{}

// taskBytes is about what a task takes in an answer.
const taskBytes = 200

// AppendJSON appends a page, whose Tasks are not nil, as encoding/json writes it, to
// the byte (TestAPageIsEncodedAsByReflection). Lists are what programs ask for most, 200 tasks
// at a time, and reflection was a good part of what an answer cost
// (BenchmarkTaskPage).
func (p TaskPage) AppendJSON(dst []byte) (_ []byte, err error) {
	if dst == nil {
		dst = make([]byte, 0, taskBytes*(len(p.Tasks)+1))
	}
	dst = append(dst, `{"tasks":[`...)
	for i, t := range p.Tasks {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = t.appendJSON(dst); err != nil {
			return nil, err
		}
	}
	dst = append(dst, `],"next_cursor":`...)
	if p.NextCursor == nil {
		dst = append(dst, "null"...)
	} else {
		dst = appendWord(dst, *p.NextCursor)
	}
	dst = strconv.AppendBool(append(dst, `,"has_more":`...), p.HasMore)
	return append(dst, '}'), nil
}

func (t Task) appendJSON(dst []byte) ([]byte, error) {
	number := func(name string, n int64) { dst = strconv.AppendInt(append(dst, name...), n, 10) }
	number(`{"id":`, t.ID)
	dst = appendWord(append(dst, `,"status":`...), t.Status)
	number(`,"node_summary":{"total":`, int64(t.NodeSummary.Total))
	number(`,"finished":`, int64(t.NodeSummary.Finished))
	number(`,"in_progress":`, int64(t.NodeSummary.InProgress))
	number(`,"pending":`, int64(t.NodeSummary.Pending))
	dst, err := appendTime(append(dst, `},"created_at":`...), t.CreatedAt)
	if err != nil {
		return nil, err
	}
	dst, err = appendTime(append(dst, `,"updated_at":`...), t.UpdatedAt)
	return append(dst, '}'), err
}

// appendWord quotes what needs no escaping: a status, a cursor in base64url.
func appendWord(dst []byte, word string) []byte {
	return append(append(append(dst, '"'), word...), '"')
}

func appendTime(dst []byte, at time.Time) ([]byte, error) {
	dst, err := at.AppendText(append(dst, '"'))
	return append(dst, '"'), err
}
