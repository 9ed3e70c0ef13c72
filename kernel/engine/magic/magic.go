// Package magic holds the commands that cells give with a percent sign, such
// as %time and %%bash: what they are called, how their lines are read, and what
// they do.
//
// Package split finds the magics of a cell, and package engine runs them. This
// package imports neither the engine nor anything of gpu and ops: a program adds
// magics of its own to Builtin.
package magic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Magic is one command. One of Run, Start, Loop and Declare says what it does;
// Start and Loop are about Go code, which stands in the rest of the line or,
// after two percent signs, in the rest of the cell. Declare is about a cell in
// another language, whose names become variables of Go.
type Magic struct {
	Name  string
	Line  bool   // may be called as %name
	Cell  bool   // may be called as %%name, as the first line of its cell
	Alone bool   // nothing else may stand in its cell
	Args  string // what follows the name, for the usage
	Short string // what it does, in one line
	Long  string // and in full, if there is more to say
	Flags []Flag

	Language string // of a cell that Declare is about

	Run   func(c *Call) error
	Start func(c *Call) (stop func() error, err error) // the stop of code that failed is not called: see Call.Always

	// Declare runs before the cell is checked; ctx ends with an interrupt. An error
	// of type Diagnostics names lines of the cell.
	Declare func(ctx context.Context, c *Call) ([]Declaration, error)

	Loop func(c *Call) (next func() (runs int, err error), err error) // 0 runs end it
}

// Declaration is a variable of Go that stands for something in the cell of another
// language. Its value points to a named type of a package that cells can import.
type Declaration struct {
	Name  string
	Value any
}

// Diagnostic is one complaint about a line of a cell in another language.
type Diagnostic struct {
	Line, Col int // in the cell, from 1
	Text      string
}

// Diagnostics is the error of a cell in another language that does not compile.
type Diagnostics []Diagnostic

func (d Diagnostics) Error() string { return d[0].Text }

// Flag is an option before the other arguments, with one or two minus signs:
// -n 10, --n=10, or without a value if Value is empty.
type Flag struct {
	Name, Value, Help string
	Many              bool // may be given more than once
}

// Session is what a magic can ask of the session that runs it.
type Session interface {
	// Variables are the live ones, by name.
	Variables() []Variable
	// Reset forgets all names.
	Reset()
	// Packages are the paths that cells can import.
	Packages() []string
	// AddModule lets cells import the packages of a module, and says which
	// ones, a line each.
	AddModule(ctx context.Context, path, version string) (added []string, err error)
	// Cells are those that this program has run, oldest first.
	Cells() []Cell
	// Past is nil if no history is kept.
	Past() Past
	// Replace offers text to take the place of the running cell.
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

// Call is a magic as it is called in a cell.
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
	Always  func() error // is called when the cell has ended, however it did, if it is set
	Show    func(v any)  // displays a value
	Help    bool         // --help is asked for
	Session Session
	Out     io.Writer
	flagAt  map[string]int // where the values stand
	all     Set            // those of its session, for %help
}

// Code is the Go code of the call, and where it stands in its text.
func (c *Call) Code() (string, int) {
	if c.Sign == "%%" {
		return c.Body, c.BodyAt
	}
	return c.Rest, c.RestAt
}

// Error is what is wrong with a call, at an offset in its text.
type Error struct {
	Offset int
	Msg    string
}

func (e *Error) Error() string { return e.Msg }

// ErrInterrupted is how a call ends that saw that it was stopped.
var ErrInterrupted = errors.New("interrupted")

// Errorf is an error of the call, at an offset in its text.
func (c *Call) Errorf(offset int, format string, args ...any) error {
	return &Error{offset, c.Sign + c.Name + ": " + fmt.Sprintf(format, args...)}
}

// FlagAt is where the value of a flag stands in the text of the call, 0 without it.
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

// Usage is how a magic is called and what it does.
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
		if sign == "%%" && m.Line { // the code moves to the lines below
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

// Do runs a magic that is not about Go code.
func (c *Call) Do() error {
	if c.Help {
		_, err := io.WriteString(c.Out, c.Usage())
		return err
	}
	return c.Run(c)
}
