package engine

import (
	"io"
	"time"

	"warpbook/kernel/engine/ask"
	"warpbook/kernel/engine/hint"
	"warpbook/kernel/engine/magic"
)

// Config holds the settings of an Engine.
type Config struct {
	// Interrupt is called at each interrupt to end compiled calls that can
	// be ended from outside, such as a launch on a device.
	Interrupt []func()

	// Ending, if set, reports whether such a call is still being ended: until
	// then its cell is not given up.
	Ending func() bool

	// Doc, if set, returns the declaration and comment of an object of a
	// compiled package; see symbols.Doc.
	Doc func(path, name string) string

	// Stdin, if set, is what fmt.Scan, Scanf and Scanln read, and scanners and
	// readers that cells make of os.Stdin. os.Stdin itself is
	// that of the process.
	Stdin io.Reader

	// Output, if set, takes what cells print with fmt, log, print and println;
	// else it goes to os.Stdout and os.Stderr. The cell is the one that
	// started the printing goroutine, 0 if that is not known; name is
	// "stdout" or "stderr".
	Output func(cell uint64, name string, text []byte) (int, error)

	// Magics are those that the program adds to magic.Builtin.
	Magics []*magic.Magic

	// Advice, if set, brings what hints know about packages of the program. Its
	// Namespace is set by the engine.
	Advice hint.Advice

	// Texts, if set, completes string literals with what packages of the program
	// know, such as the names of rungs.
	Texts ask.Texts

	// Past, if set, are the cells that %history knows beside those of the
	// engine.
	Past magic.Past

	// Lasting, if set, is called every 10 ms while cells are compiled or run,
	// and when a cell wants its goroutine for itself.
	Lasting func()

	// Show displays a value for a magic.
	Show func(v any)

	// AbandonAfter is how long after an interrupt a cell may stay in a
	// compiled call before it is given up; 0 means 2 s.
	AbandonAfter time.Duration
}
