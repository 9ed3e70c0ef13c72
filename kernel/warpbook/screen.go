//go:build !windows

package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"warpbook/kernel/leaf/lazyregexp"
)

// The shortest times between two lines of one progress display.
const (
	onTerminal = 100 * time.Millisecond // rewritten in place
	inFile     = 3 * time.Second        // one line after another
)

// screen shows a run in the terminal: a line for each cell, its output below,
// and its time. The execution's mu guards it.
type screen struct {
	w        io.Writer
	terminal bool
	quiet    bool

	open    bool   // the cell's line is not ended yet
	column0 bool   // the last output ended its line
	live    bool   // the last line is a progress display that can be rewritten
	waiting string // the newest state of a display, not shown yet
	shown   time.Time
}

// newScreen returns a screen that writes to w; f is standard output.
func newScreen(f *os.File, w io.Writer, quiet bool) *screen {
	info, err := f.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	return &screen{w: w, terminal: terminal, quiet: quiet}
}

func (s *screen) begin(r *cellRun, cells int) {
	const width = 72
	title := []rune(r.title)
	if len(title) > width {
		title = append(title[:width-1], '…')
	}
	fmt.Fprintf(s.w, "[%*d/%d] %s", len(fmt.Sprint(cells)), r.number, cells, string(title))
	s.open, s.column0, s.shown = true, false, time.Time{}
}

func (s *screen) end(elapsed time.Duration) {
	s.settle()
	if !s.open && !s.column0 {
		fmt.Fprintln(s.w)
	}
	fmt.Fprintf(s.w, "  %.2f s\n", elapsed.Seconds())
	s.open, s.column0 = false, true
}

// escapes are control sequences that colour text in a terminal and are noise in a file.
var escapes = lazyregexp.New("\x1b\\[[0-9;]*m")

// text shows output as it arrives.
func (s *screen) text(text string) {
	if s.quiet || text == "" {
		return
	}
	s.settle()
	if !s.terminal {
		text = escapes().ReplaceAllString(text, "")
	}
	s.write(text)
}

// display shows a display, or the update of one. Displays of one line that have an id
// are progress: not every state is shown.
func (s *screen) display(id, text string) {
	switch {
	case s.quiet || text == "" && id == "":
	case text == "": // progress that is done
		s.waiting = ""
		if s.live && s.terminal {
			fmt.Fprint(s.w, "\r\x1b[K")
			s.live, s.column0 = false, true
		}
	case id == "" || strings.Contains(text, "\n"):
		s.settle()
		if !s.open && !s.column0 {
			fmt.Fprintln(s.w)
		}
		s.write(strings.TrimRight(text, "\n") + "\n")
	default:
		s.waiting = text
		s.progress()
	}
}

func (s *screen) progress() {
	interval := inFile
	if s.terminal {
		interval = onTerminal
	}
	if time.Since(s.shown) >= interval {
		s.showWaiting()
	}
}

// showWaiting shows the newest state of a display, in place of the previous state or
// below it.
func (s *screen) showWaiting() {
	if s.waiting == "" {
		return
	}
	if s.live && s.terminal {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.column0 = true
	}
	if !s.open && !s.column0 {
		fmt.Fprintln(s.w)
	}
	line := s.waiting
	if runes := []rune(line); s.terminal && len(runes) > 79 {
		line = string(runes[:79]) // a longer line could not be rewritten
	}
	if !s.terminal {
		line += "\n"
	}
	s.write(line)
	s.waiting, s.live, s.shown = "", true, time.Now()
}

// settle shows the waiting state and ends its line.
func (s *screen) settle() {
	s.showWaiting()
	if s.live && s.terminal {
		s.write("\n")
	}
	s.live = false
}

func (s *screen) write(text string) {
	if s.open {
		fmt.Fprintln(s.w)
		s.open = false
	}
	fmt.Fprint(s.w, text)
	s.column0 = strings.HasSuffix(text, "\n")
}

// plainText returns the text that a terminal can show of a bundle.
func plainText(data map[string]any) string {
	if text, ok := data["text/plain"].(string); ok {
		return text
	}
	if len(data) == 0 {
		return ""
	}
	return "(" + strings.Join(slices.Sorted(maps.Keys(data)), ", ") + ")"
}
