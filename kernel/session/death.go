package session

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"warpbook/kernel/frame"
)

// reason says how the program ended, as the error of the cell it ended under.
// The caller holds mu.
func (c *child) reason(state *os.ProcessState) *frame.Error {
	how := state.String()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
		how += " (by the system, if memory ran out)"
	}
	name, value := "program ended", ""
	switch {
	case c.asked.Load():
		name, value = "killed", "the cells program was killed"
	case c.protocol != nil:
		value = fmt.Sprintf("the cells program broke its protocol (%v)", c.protocol)
	case !c.ready:
		value = "the cells program did not start: " + how + after(c.stderr.words.last)
	default:
		value = "the cells program ended: " + how + after(c.stderr.words.fatal)
	}
	if c.ready {
		value += "; its variables are gone, run their cells again"
	}
	trace := []string{name + ": " + value}
	if f := called(c.dump); f != "" {
		trace = append(trace, "in a call of "+f)
	}
	if c.saved != "" {
		trace = append(trace, "the Go runtime's stacks are in "+c.saved)
	}
	return &frame.Error{Name: name, Value: value, Traceback: trace}
}

// lastLine begins what the runtime says before it ends the program, or what a
// cell has printed.
var lastLine = regexp.MustCompile(`(?m)^((runtime|fatal error): .*\n)*(runtime|fatal error): |^(panic|SIG[A-Z]+): `)

// stacks begin what follows that line.
var stacks = regexp.MustCompile(`(?m)^(goroutine \d+ .*\[|runtime stack:)`)

// crashWait is how often the crash pipe is looked at, at intervals of gather,
// after a line that may be the runtime's. A panic goes there too at the same time,
// the other lines to stderr alone: what follows them may take long on a busy
// machine.
func crashWait(line []byte) int {
	if own(line) {
		return 20
	}
	return 100
}

// own reports whether the runtime says a line on the crash pipe too.
func own(line []byte) bool {
	return bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("SIG"))
}

// dumpBytes is how much of a dump is read for a call that a cell has made.
const dumpBytes = 256 << 10

// withoutDump is what of the text on stderr a user is to see: the runtime's dump
// of goroutines, thousands of lines about the engine, goes to the file that
// takes what is too much of a cell's output. The caller holds mu.
func (c *child) withoutDump(data []byte) []byte {
	begin := 0
	if !c.dying {
		c.crash.drain()
		if heads := lastLine.FindAllIndex(data, -1); heads != nil {
			last := data[heads[len(heads)-1][0]:]
			for i := 0; i < crashWait(last) && !bytes.Contains(c.crash.said, []byte("\n")); i++ {
				time.Sleep(gather)
				c.crash.drain()
			}
		}
		if begin = dumpStart(data, c.crash.said); begin == len(data) {
			return data
		}
		c.dying = true
	}
	dump := data[begin:]
	c.dump = append(c.dump, dump[:min(len(dump), dumpBytes-len(c.dump))]...)
	out := c.outputOf(c.last)
	if err := out.save(string(dump)); err == nil {
		c.saved = out.path
	}
	return data[:begin]
}

// dumpStart is where in the text on stderr the runtime's dump begins, its end if
// none does. said is what the crash pipe has brought so far, nothing as long as the
// program lives: it tells the runtime's line from one that a cell has printed and
// that was read together with the dump, or just before it.
func dumpStart(data, said []byte) int {
	if len(said) == 0 {
		return len(data)
	}
	said, _, _ = bytes.Cut(bytes.TrimLeft(said, "\n"), []byte("\n"))
	heads := lastLine.FindAllIndex(data, -1)
	for _, at := range slices.Backward(heads) {
		line, _, whole := bytes.Cut(data[at[0]:], []byte("\n"))
		if own(line) != own(said) {
			continue
		}
		if !own(line) || bytes.HasPrefix(line, said) || !whole && bytes.HasPrefix(said, line) {
			return at[0]
		}
	}
	if at := stacks.FindIndex(data); at != nil {
		return at[0]
	}
	return len(data)
}

var (
	crashed   = regexp.MustCompile(`(?m)^goroutine .*\[running.*\n`)
	stackLine = regexp.MustCompile(`(?m)^([\w./*()\[\]·-]+)\(.*\n`)
	ofEngine  = regexp.MustCompile(`^(github\.com/(goplus|visualfc)/|warpbook/kernel/|main\.)`)
	ofRuntime = regexp.MustCompile(`^(runtime|reflect|internal)\b|^panic$`)
)

// called is the function of a compiled package that interpreted code had called
// on the goroutine that a dump begins with, "" if that is not seen. The lines of
// cells are on no stack of the processor.
func called(dump []byte) (name string) {
	at := crashed.FindIndex(dump)
	if at == nil {
		return ""
	}
	stack, _, _ := bytes.Cut(dump[at[1]:], []byte("\n\n"))
	for _, m := range stackLine.FindAllSubmatch(stack, -1) {
		switch f := string(m[1]); {
		case ofEngine.MatchString(f):
			return name
		case !ofRuntime.MatchString(f):
			name = f
		}
	}
	return "" // it is not called by a cell
}

func after(words string) string {
	if words == "" {
		return ""
	}
	return ", " + words
}

// lastWords listens to stderr for the line with which the Go runtime gives the
// reason before it ends a process; a dump of goroutines of any length follows.
type lastWords struct {
	line  []byte // the line so far, at most lineBytes of it
	last  string // the last line that is not empty
	fatal string // the last line that says why
}

const lineBytes = 500

// fatalLine is how the runtime begins the line that says why it ends: an error
// of its own, a panic, a signal such as a fault in C raises.
var fatalLine = regexp.MustCompile(`^(fatal error|panic|SIG[A-Z]+): `)

func (w *lastWords) hear(data []byte) {
	for len(data) > 0 {
		piece, rest, ended := bytes.Cut(data, []byte("\n"))
		w.line = append(w.line, piece[:min(len(piece), lineBytes-len(w.line))]...)
		data = rest
		if ended {
			w.endLine()
		}
	}
}

func (w *lastWords) endLine() {
	line := strings.TrimSpace(strings.ToValidUTF8(string(w.line), "?"))
	w.line = w.line[:0]
	if line == "" {
		return
	}
	w.last = line
	if fatalLine.MatchString(line) {
		w.fatal = line
	}
}
