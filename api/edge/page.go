package edge

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/task"
)

// Page sizes of task lists (spec section 8).
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// TaskPage is the query of a task list. huma documents it; Resolve reads it:
// as huma would, but it tells an empty value from an absent one, refuses a
// repeated one and says what is accepted. Operations set SkipValidateParams.
type TaskPage struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Tasks a page."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before. Opaque; it belongs to this list and status filter."`
	Status string `query:"status" enum:"pending,in_progress,finished,failed,paused,escalated,quarantined" doc:"Only tasks of this status."`
}

// Resolve is called by huma before the handler.
func (p *TaskPage) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	if err := p.read(u.RawQuery); err != nil {
		return []error{err}
	}
	return nil
}

func (p *TaskPage) read(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fault.New(fault.InvalidRequest, "the query is malformed: it must be name=value pairs, percent-encoded")
	}
	for _, name := range []string{"limit", "cursor", "status"} {
		if n := len(query[name]); n > 1 {
			return fault.New(fault.InvalidRequest, "%s is given %d times; give it once", name, n)
		}
	}
	p.Cursor = query.Get("cursor")
	if p.Limit, err = readLimit(query); err != nil {
		return err
	}
	p.Status, err = readStatus(query)
	return err
}

func readLimit(query url.Values) (int, error) {
	if !query.Has("limit") {
		return DefaultLimit, nil
	}
	n, err := strconv.Atoi(query.Get("limit"))
	if err != nil || n < 1 || n > MaxLimit {
		return 0, fault.New(fault.InvalidRequest, "limit must be an integer from 1 to %d, got %s", MaxLimit, Quote(query.Get("limit")))
	}
	return n, nil
}

func readStatus(query url.Values) (string, error) {
	if !query.Has("status") {
		return "", nil
	}
	s := task.Status(query.Get("status"))
	if s.Valid() {
		return string(s), nil
	}
	var names []string
	for _, known := range task.Statuses() {
		names = append(names, string(known))
	}
	return "", fault.New(fault.InvalidRequest, "status must be one of %s, got %s", strings.Join(names, ", "), Quote(string(s)))
}

// ErrCursor is the error for a cursor that was not made for the list.
func ErrCursor(cause error) error {
	return fault.New(fault.InvalidRequest, "cursor does not belong to this list: send the next_cursor of the page before "+
		"with the same path and status, or leave it out to start over").Because(cause)
}

// Quote repeats a caller's text in a message, shortened.
func Quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return fmt.Sprintf("%q…", string(r[:most]))
	}
	return strconv.Quote(s)
}
