package edge

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/cursor"
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

// Before returns the id that the page begins after, 0 for the first page. The
// scope says for which list the cursor must have been made.
func (p *TaskPage) Before(cursors cursor.Codec, scope cursor.Scope) (int64, error) {
	if p.Cursor == "" {
		return 0, nil
	}
	id, err := cursors.Decode(scope, p.Cursor)
	if err != nil {
		return 0, fault.New(fault.InvalidRequest, "cursor does not belong to this list: send the next_cursor of the page before "+
			"with the same path and status, or leave it out to start over").Because(err)
	}
	return id, nil
}

// longestEcho is how many characters of a caller's text an answer repeats.
const longestEcho = 60

// Quote repeats a caller's text in a message, shortened.
func Quote(s string) string {
	if short, cut := cutRunes(s, longestEcho); cut {
		return strconv.Quote(short) + "…"
	}
	return strconv.Quote(s)
}

// Shorten repeats a caller's key, shortened.
func Shorten(s string) string { return shorten(s, longestEcho) }

func shorten(s string, most int) string {
	if short, cut := cutRunes(s, most); cut {
		return short + "…"
	}
	return s
}

// cutRunes returns at most the first characters, and whether there are more.
func cutRunes(s string, most int) (short string, cut bool) {
	for at := range s {
		if most == 0 {
			return s[:at], true
		}
		most--
	}
	return s, false
}
