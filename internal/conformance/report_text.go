package conformance

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// sentenceWidth keeps a check on one line.
const sentenceWidth = 96

var marks = map[Outcome]string{Passed: "ok  ", Failed: "FAIL", Skipped: "skip"}

// Text writes the report for people: by section, each failure with what was
// sent and what came back, and the totals last.
func (r Report) Text(w io.Writer) error {
	p := &printer{w: w}
	p.line("Conformance of %s, %s", r.Target, r.Began.Format("2006-01-02 15:04:05 UTC"))
	for _, section := range sections {
		r.section(p, section.id, section.title)
	}
	p.line("\n%-42s %5s %6s %7s %7s", "section", "ok", "failed", "skipped", "total")
	for _, section := range sections {
		if sum := r.of(section.id); len(sum.Results) > 0 {
			p.line("%-42s %5d %6d %7d %7d", heading(section.id, section.title),
				sum.Count(Passed), sum.Count(Failed), sum.Count(Skipped), len(sum.Results))
		}
	}
	p.line("%-42s %5d %6d %7d %7d   in %s", "all", r.Count(Passed), r.Count(Failed), r.Count(Skipped), len(r.Results),
		r.Took.Round(100*time.Millisecond))
	return p.err
}

func heading(id, title string) string {
	if id == additions {
		return title
	}
	return id + "  " + title
}

// of is the part of the report about a section.
func (r Report) of(section string) Report {
	part := Report{}
	for _, result := range r.Results {
		if result.Section == section {
			part.Results = append(part.Results, result)
		}
	}
	return part
}

func (r Report) section(p *printer, id, title string) {
	part := r.of(id)
	if len(part.Results) == 0 {
		return
	}
	p.line("\n%s", heading(id, title))
	for _, result := range part.Results {
		p.result(result)
	}
}

// printer writes lines until the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) result(r Result) {
	sentence := []rune(r.Sentence)
	if len(sentence) > sentenceWidth {
		sentence = append(sentence[:sentenceWidth-1], '…')
	}
	if r.Outcome == Skipped {
		p.line("  %s  %-26s %s", marks[r.Outcome], r.ID, r.Reason)
		return
	}
	p.line("  %s  %-26s %s", marks[r.Outcome], r.ID, string(sentence))
	if r.Failure == nil {
		return
	}
	p.line("        sentence  %s", r.Sentence)
	p.line("        did       %s", r.Does)
	p.line("        expected  %s", r.Failure.Expected)
	p.line("        got       %s", r.Failure.Got)
	if e := r.Failure.Exchange; e != nil {
		p.line("        request   %s", e.Request)
		p.line("        answer    %d, X-Request-Id %s", e.Status, orNone(e.RequestID))
		if e.Body != "" {
			p.line("                  %s", strings.ReplaceAll(strings.TrimSpace(e.Body), "\n", "\n                  "))
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
