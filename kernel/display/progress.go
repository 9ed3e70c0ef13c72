package display

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"sync"
	"time"
)

// updateInterval is the least time between two updates of a progress bar.
const updateInterval = 100 * time.Millisecond

// Progress shows how many steps of some work are done. Any goroutine may
// call its methods. When the work is done the display is empty; work that ends before
// leaves a line, without times, so that a notebook run again has the same output.
type Progress struct {
	label string

	mu      sync.Mutex // guards what follows, and is held while sending
	handle  *Handle
	done    int
	total   int
	what    string
	shown   time.Time // of the last update
	waiting bool      // a timer will send the latest state
	full    bool      // the last update showed every step done
	ended   bool

	now   func() time.Time            // the clock, replaced by tests
	after func(time.Duration, func()) // the timer, replaced by tests
}

// NewProgress displays a progress bar for total steps; 0 if the number is not
// known yet. End it with Done.
func NewProgress(total int, label string) *Progress {
	return newProgress(total, label, time.Now, func(d time.Duration, f func()) { time.AfterFunc(d, f) })
}

func newProgress(total int, label string, now func() time.Time, after func(time.Duration, func())) *Progress {
	p := &Progress{label: label, total: total, now: now, after: after, shown: now()}
	p.handle = New(p.bundle())
	return p
}

// Step reports that done of total steps are done, and the label of the next. After all
// are done it begins a new display, for other work, perhaps of another cell.
func (p *Progress) Step(done, total int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total, p.what = done, total, what
	p.changed()
}

// Add reports that n more steps are done.
func (p *Progress) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.changed()
}

// Done ends the progress. Later calls show nothing.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended = true
		p.update()
	}
}

// changed sends an update now or, if the last one is too recent, has a timer
// send one when it is due. Called with mu held, as are the functions below.
func (p *Progress) changed() {
	switch wait := updateInterval - p.now().Sub(p.shown); {
	case p.ended:
	case p.full && !p.complete():
		p.full, p.shown = false, p.now()
		p.handle = New(p.bundle())
	case wait <= 0 || p.complete() && !p.full: // complete at once: Done may never be called
		p.update()
	case p.waiting:
	default:
		p.waiting = true
		p.after(wait, p.late)
	}
}

func (p *Progress) late() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting && !p.ended {
		p.update()
	}
}

func (p *Progress) update() {
	p.waiting = false
	p.shown = p.now()
	p.full = p.complete()
	p.handle.Update(p.bundle())
}

func (p *Progress) complete() bool { return p.total > 0 && p.done >= p.total }

// bundle is the bar as HTML that needs no script and no style, and as text.
func (p *Progress) bundle() bundler {
	switch {
	case p.ended && p.total > 0 && !p.complete():
		line := join(p.label, fmt.Sprintf("ended at %d of %d", p.done, p.total))
		return rawBundle{textPlain: line, textHTML: "<small>" + html.EscapeString(line) + "</small>"}
	case p.ended || p.complete():
		return rawBundle{textPlain: "", textHTML: ""}
	}
	value, count := "", ""
	if p.total > 0 {
		value = fmt.Sprintf(` value="%d" max="%d"`, p.done, p.total)
		count = fmt.Sprintf("%d/%d", p.done, p.total)
	} else if p.done > 0 {
		count = fmt.Sprint(p.done)
	}
	words := join(p.label, count, p.what)
	return rawBundle{
		textPlain: join(p.label, p.bar(), count, p.what),
		textHTML:  fmt.Sprintf("<div><progress%s></progress> %s</div>", value, html.EscapeString(words)),
	}
}

const barWidth = 30

func (p *Progress) bar() string {
	if p.total <= 0 {
		return ""
	}
	full := barWidth * min(max(p.done, 0), p.total) / p.total
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}

// join puts the words that are not empty on one line.
func join(words ...string) string { return strings.Join(nonempty(words...), " ") }

func nonempty(words ...string) []string {
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}

// rawBundle is a bundle that is shown as it is.
type rawBundle map[string]any

func (b rawBundle) MIMEBundle() (data, metadata map[string]any) { return b, nil }
