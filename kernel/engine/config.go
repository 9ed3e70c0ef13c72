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
	// Interrupt is called at each interrupt. It ends compiled calls that can be ended
	// from outside, such as a launch on a device.
	Interrupt []func()

	// Ending, if set, reports whether such a call is still being ended. Its cell is not
	// abandoned before that.
	Ending func() bool

	// Doc, if set, returns the declaration and comment of an object of a
	// compiled package; see symbols.Doc.
	Doc func(path, name string) string

	// Stdin, if set, is the input of fmt.Scan, Scanf and Scanln, and of scanners and
	// readers that cells make of os.Stdin. os.Stdin itself is that of the process.
	Stdin io.Reader

	// Output, if set, receives the text that cells print with fmt, log, print and
	// println; otherwise it goes to os.Stdout and os.Stderr. The cell is the one that
	// started the printing goroutine, 0 if that is unknown; name is "stdout" or
	// "stderr".
	Output func(cell uint64, name string, text []byte) (int, error)

	// Magics are the magics that the program adds to magic.Builtin.
	Magics []*magic.Magic

	// Advice, if set, holds hints about packages of the program. The engine sets its
	// Namespace.
	Advice hint.Advice

	// Texts, if set, completes string literals with names that packages of the program
	// know, such as the names of rungs.
	Texts ask.Texts

	// Past, if set, holds cells of earlier sessions for %history.
	Past magic.Past

	// Lasting, if set, is called every 10 ms while cells are compiled or run, and when a
	// cell needs its goroutine for itself.
	Lasting func()

	// Show displays a value for a magic.
	Show func(v any)

	// Debugger, if set, can stop cells.
	Debugger Debugger

	// AbandonAfter is how long a cell may stay in a compiled call after an interrupt
	// before it is abandoned; 0 means 2 s.
	AbandonAfter time.Duration
}
