package display

import (
	"fmt"
	"strings"

	"warpbook/kernel/messages"
)

// Lesson is text below the figures of a cell: prose, statements that the cell checks
// against its figures, and findings that depend on the device. A cell
// that shows a false statement fails. One goroutine builds a lesson.
//
//	display.NewLesson().
//		Claim(v1.Wavefronts == v0.Wavefronts, "v0 and v1 need the same wavefronts").
//		Find(fast, "On this device v1 is faster.", "On this device v1 is not faster.")
type Lesson struct {
	paragraphs []string
	broken     []string // statements that are false
	doubt      string   // why statements are not made, "" where they are
}

// NewLesson returns an empty lesson.
func NewLesson() *Lesson { return &Lesson{} }

// Say adds a paragraph of Markdown that states no relation between figures.
func (l *Lesson) Say(format string, values ...any) *Lesson {
	return l.add("", format, values)
}

// Provided ends the statements of a lesson unless ok: the later ones are left out, and
// the reason stands in their place. A cell calls it when its parameters do not suit the
// statements.
func (l *Lesson) Provided(suits bool, format string, values ...any) *Lesson {
	if !suits && l.doubt == "" {
		l.doubt = messages.Sprintf(format, values...)
		l.paragraphs = append(l.paragraphs, l.doubt)
	}
	return l
}

// Claim adds a statement and whether the figures confirm it. A false one fails the cell.
func (l *Lesson) Claim(holds bool, format string, values ...any) *Lesson {
	switch {
	case l.doubt != "":
		return l
	case holds:
		return l.add("✓ ", format, values)
	}
	l.broken = append(l.broken, sentence(format, values))
	return l.add("✗ **"+messages.Text("false by these figures:")+"** ", format, values)
}

// Find adds one of two findings, by the figures of this device.
func (l *Lesson) Find(holds bool, yes, no string) *Lesson {
	switch {
	case l.doubt != "":
		return l
	case holds:
		return l.Say(yes)
	}
	return l.Say(no)
}

// add adds a paragraph in the language of the session.
func (l *Lesson) add(mark, format string, values []any) *Lesson {
	l.paragraphs = append(l.paragraphs, mark+messages.Sprintf(format, values...))
	return l
}

// sentence is a statement in English, for an error.
func sentence(format string, values []any) string {
	if len(values) == 0 {
		return format
	}
	return fmt.Sprintf(format, values...)
}

// String is the lesson as Markdown.
func (l *Lesson) String() string { return strings.Join(l.paragraphs, "\n\n") }

func (l *Lesson) drawing() (data, metadata map[string]any, err error) {
	if len(l.broken) > 0 {
		err = fmt.Errorf("display: lesson: false by the figures: %s", strings.Join(l.broken, "; "))
	}
	text := l.String()
	return map[string]any{textPlain: text, textMarkdown: text}, nil, err
}
