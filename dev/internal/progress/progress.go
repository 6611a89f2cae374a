// Package progress tells a waiting person what is being done: nothing for what
// is quick, a line for what takes longer than two seconds.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// patience is how long a step may take before it is shown.
const patience = 2 * time.Second

// Reporter prints the steps that take long. On a terminal the last line is
// live and counts the seconds; elsewhere each change is a line of its own.
type Reporter struct {
	out  io.Writer
	live bool

	mu    sync.Mutex
	shown []*Step // announced and not yet done, oldest first
	drawn bool    // the terminal's last line is ours
}

// New returns a Reporter on out, live when out is a terminal.
func New(out io.Writer) *Reporter {
	f, ok := out.(*os.File)
	return &Reporter{out: out, live: ok && term.IsTerminal(int(f.Fd()))}
}

// Step is something that may take long.
type Step struct {
	r     *Reporter
	title string
	what  string // it is busy with; may be ""
	since time.Time
	timer *time.Timer
	shown bool
	done  bool
}

// Start begins a step. Call Done when it is over.
func (r *Reporter) Start(title, doing string) *Step {
	s := &Step{r: r, title: title, what: doing, since: time.Now()}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.timer = time.AfterFunc(patience, s.tick)
	return s
}

// Doing changes what the step is busy with.
func (s *Step) Doing(what string) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.done || s.what == what {
		return
	}
	s.what = what
	if s.shown {
		s.r.announce(s)
	}
}

// Done ends the step; failed ones leave it to their error to say more.
func (s *Step) Done(err error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.timer.Stop()
	if s.done {
		return
	}
	s.done = true
	if !s.shown {
		return
	}
	for i, other := range s.r.shown {
		if other == s {
			s.r.shown = append(s.r.shown[:i], s.r.shown[i+1:]...)
			break
		}
	}
	how := "done in"
	if err != nil {
		how = "stopped after"
	}
	s.r.line(fmt.Sprintf("  %s: %s %v", s.title, how, time.Since(s.since).Round(100*time.Millisecond)))
}

func (s *Step) String() string {
	if s.what == "" {
		return s.title
	}
	return s.title + ": " + s.what
}

// Say prints a line at once.
func (r *Reporter) Say(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(fmt.Sprintf(format, a...))
}

// tick shows a step that has outlasted our patience; on a terminal it then
// redraws the live line every second.
func (s *Step) tick() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.done {
		return
	}
	if !s.shown {
		s.shown = true
		s.r.shown = append(s.r.shown, s)
		s.r.announce(s)
	} else if s.r.live {
		s.r.redraw()
	}
	if s.r.live {
		s.timer.Reset(time.Second)
	}
}

func (r *Reporter) announce(s *Step) {
	if r.live {
		r.redraw()
		return
	}
	fmt.Fprintf(r.out, "  %s …\n", s)
}

// line prints a whole line above the live one.
func (r *Reporter) line(text string) {
	r.wipe()
	fmt.Fprintln(r.out, text)
	if r.live && len(r.shown) > 0 {
		r.redraw()
	}
}

func (r *Reporter) redraw() {
	r.wipe()
	var parts []string
	for _, s := range r.shown {
		parts = append(parts, fmt.Sprintf("%s … %d s", s, int(time.Since(s.since).Seconds())))
	}
	fmt.Fprint(r.out, r.fit("  "+strings.Join(parts, " · ")))
	r.drawn = true
}

// fit cuts a line to the terminal's width: one that wraps could not be wiped.
func (r *Reporter) fit(line string) string {
	f, ok := r.out.(*os.File)
	if !ok {
		return line
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if letters := []rune(line); err == nil && width > 1 && len(letters) >= width {
		return string(letters[:width-1])
	}
	return line
}

func (r *Reporter) wipe() {
	if r.drawn {
		fmt.Fprint(r.out, "\r\033[K")
		r.drawn = false
	}
}
