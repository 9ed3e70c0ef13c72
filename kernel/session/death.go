package session

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
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
var lastLine = regexp.MustCompile(`(?m)^(runtime|fatal error|panic|SIG[A-Z]+): `)

// crashWait is how often the crash pipe is looked at, at intervals of gather,
// after a line that may be the runtime's. A panic goes there too at the same time,
// the other lines to stderr alone: what follows them may take long on a busy
// machine.
func crashWait(line []byte) int {
	if bytes.HasPrefix(line, []byte("runtime: ")) || bytes.HasPrefix(line, []byte("fatal error: ")) {
		return 100
	}
	return 20
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
		if at := lastLine.FindIndex(data); at != nil {
			begin = at[0]
			for i := 0; i < crashWait(data[begin:]) && !c.dying; i++ {
				time.Sleep(gather)
				c.crash.drain()
			}
		}
		if !c.dying {
			return data
		}
	}
	dump := data[begin:]
	c.dump = append(c.dump, dump[:min(len(dump), dumpBytes-len(c.dump))]...)
	out := c.outputOf(c.last)
	if err := out.save(string(dump)); err == nil {
		c.saved = out.path
	}
	return data[:begin]
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
