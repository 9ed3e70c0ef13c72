// Package magic holds the commands that cells give with a percent sign, such as %time
// and %%bash: their names, the syntax of their lines, and their actions.
//
// Its main type is Magic. Package split finds the magics of a cell, and package engine
// runs them. This package imports neither the engine nor anything of gpu and ops: a
// program adds magics of its own to Builtin.
package magic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Magic is one command. One of Run, Start, Loop and Declare is its action. Start and
// Loop act on Go code, which stands in the rest of the line or, after two percent signs,
// in the rest of the cell. Declare acts on a cell in another language, whose names
// become Go variables.
type Magic struct {
	Name  string
	Line  bool   // may be called as %name
	Cell  bool   // may be called as %%name, as the first line of its cell
	Alone bool   // nothing else may stand in its cell
	Args  string // the arguments after the name, for the usage
	Short string // its action in one line
	Long  string // its action in detail, if one line is not enough
	Flags []Flag

	Language string // of a cell that Declare is about

	// Words are the names that can stand in the lines of such a cell, for completion and
	// help; before is what the name follows, such as "threadIdx.". nil offers none.
	Words func(body, before string) []Word

	// Arguments are the words that can stand in the magic's own line after a text, for
	// completion; nil offers none.
	Arguments func(before string) []Word

	Run   func(c *Call) error
	Start func(c *Call) (stop func() error, err error) // stop is not called for code that failed: see Call.Always

	// Declare runs before the cell is checked; an interrupt cancels ctx. An error of
	// type Diagnostics names lines of the cell.
	Declare func(ctx context.Context, c *Call) ([]Declaration, error)

	Loop func(c *Call) (next func() (runs int, err error), err error) // 0 runs end it
}

// Word is a name in a cell of another language.
type Word struct {
	Name, Kind  string // Kind as Go's names have it: "function", "variable", "field"
	Declaration string // "" if it is not known
	Short       string // a sentence on it
}

// Declaration is a Go variable for a name in a cell of another language. Its value
// points to a named type of a package that cells can import.
type Declaration struct {
	Name  string
	Value any
}

// Diagnostic is one error in a line of a cell in another language.
type Diagnostic struct {
	Line, Col int // in the cell, from 1
	Text      string
}

// Diagnostics is the error of a cell in another language that does not compile.
type Diagnostics []Diagnostic

func (d Diagnostics) Error() string { return d[0].Text }

// Flag is an option before the other arguments, with one or two minus signs: -n 10,
// --n=10, or without a value if Value is empty.
type Flag struct {
	Name, Value, Help string
	Many              bool // may be given more than once
	File              bool // names a file that stands in place of the lines below
}

// Session is the part of a session that magics use.
type Session interface {
	// Variables are the live ones, by name.
	Variables() []Variable
	// Reset forgets all names.
	Reset()
	// Packages are the paths that cells can import.
	Packages() []string
	// AddModule makes the packages of a module importable, and returns one line for
	// each.
	AddModule(ctx context.Context, path, version string) (added []string, err error)
	// Cells are those that this program has run, oldest first.
	Cells() []Cell
	// Past is nil if no history is kept.
	Past() Past
	// Replace offers a text that replaces the running cell.
	Replace(text string)
	// Stopped closes when the running cell is interrupted.
	Stopped() <-chan struct{}
}

// Variable is a live variable and its value in one short line.
type Variable struct{ Name, Type, Value string }

// Cell is one that has run.
type Cell struct {
	Session int // 0 is this one
	Number  int
	Source  string
}

// Call is a call of a magic in a cell.
type Call struct {
	*Magic
	Sign    string            // % or %%
	Flags   map[string]string // those that are given
	Rest    string            // the rest of the line
	RestAt  int               // where it stands in the text of the call
	Body    string            // the lines below, after %%
	BodyAt  int
	Number  int          // of the cell
	BodyRow int          // the number of the first of the lines below in the cell
	Always  func() error // if set, called when the cell has ended, also after an error or an interrupt
	Show    func(v any)  // displays a value
	Help    bool         // --help is asked for
	Session Session
	Out     io.Writer
	flagAt  map[string]int // where the values stand
	all     Set            // those of its session, for %help
}

// Code is the Go code of the call, and its offset in the call's text.
func (c *Call) Code() (string, int) {
	if c.Sign == "%%" {
		return c.Body, c.BodyAt
	}
	return c.Rest, c.RestAt
}

// Error is an error of a call, at an offset in its text.
type Error struct {
	Offset int
	Msg    string
}

func (e *Error) Error() string { return e.Msg }

// ErrInterrupted is the result of a call that was interrupted.
var ErrInterrupted = errors.New("interrupted")

// Errorf returns an error of the call, at an offset in its text.
func (c *Call) Errorf(offset int, format string, args ...any) error {
	return &Error{offset, c.Sign + c.Name + ": " + fmt.Sprintf(format, args...)}
}

// FlagAt is the offset of a flag's value in the text of the call, 0 without the flag.
func (c *Call) FlagAt(name string) int { return c.flagAt[name] }

// signs are the forms that a magic has.
func (m *Magic) signs() (signs []string) {
	if m.Line {
		signs = append(signs, "%")
	}
	if m.Cell {
		signs = append(signs, "%%")
	}
	return signs
}

// Usage is the syntax and the description of a magic.
func (m *Magic) Usage() string {
	var b strings.Builder
	args := m.Args
	for _, f := range m.Flags {
		b.WriteString("    " + strings.TrimRight("-"+f.Name+" "+f.Value, " ") + "  " + f.Help + "\n")
	}
	flags := b.String()
	if flags != "" {
		args = "[flags] " + args
	}
	b.Reset()
	for _, sign := range m.signs() {
		line := sign + m.Name + " " + args
		if sign == "%%" && m.Line { // the code stands in the lines below
			line = strings.TrimSuffix(strings.TrimSuffix(line, m.Args), " ")
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString("\n" + m.Short + "\n")
	if m.Long != "" {
		b.WriteString(m.Long + "\n")
	}
	return b.String() + flags
}

// Do runs a magic that takes no Go code.
func (c *Call) Do() error {
	if c.Help {
		_, err := io.WriteString(c.Out, c.Usage())
		return err
	}
	return c.Run(c)
}
