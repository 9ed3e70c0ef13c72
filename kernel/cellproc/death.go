package cellproc

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/leaf/lazyregexp"
)

// reason describes how the program ended, as the error of the running cell. The caller
// holds mu.
func (c *child) reason(state *os.ProcessState) *cellproto.Error {
	how := state.String()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL && c.useless == "" {
		how += killer(c.oomKills, c.oomKnown)
	}
	name, value := "program ended", ""
	switch {
	case c.asked.Load():
		name, value = "killed", "the cells program was killed"
	case c.foreign != "":
		value = fmt.Sprintf("the cells program %s is of warpbook %s, this process of %s, as after an upgrade: restart the kernel, or install warpbook again", c.config.Program, c.foreign, ourName())
	case c.protocol != nil:
		value = fmt.Sprintf("the cells program broke its protocol (%v)", c.protocol)
	case c.useless != "" && !c.dying:
		value = "the cells program " + c.useless + " and was ended"
	case !c.ready:
		value = "the cells program did not start: " + how + after(c.stderr.words.last)
	default:
		value = "the cells program ended: " + how
		if c.dying { // otherwise a cell has printed a similar line
			value += after(c.stderr.words.fatal)
		}
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
	return &cellproto.Error{Name: name, Value: value, Traceback: trace}
}

// lastLine matches the beginning of the runtime's last message. A cell may print the
// same text.
var lastLine = lazyregexp.New(`(?m)^((runtime|fatal error): .*\n)*(runtime|fatal error): |^(panic|SIG[A-Z]+): `)

// stacks matches the line after that message.
var stacks = lazyregexp.New(`(?m)^(goroutine \d+ .*\[|runtime stack:)`)

// Text on stderr that may be the runtime's last message is held back until the crash
// pipe decides: a panic arrives there at the same time. Other fatal errors arrive on
// stderr alone, and on a busy machine the lines after them may take long. Requests are
// answered meanwhile. If neither arrives within holdTime, a cell printed the text, and
// it is delivered.
const (
	holdTime  = 100 * time.Millisecond
	holdBytes = 64 << 10
)

// own reports whether the runtime writes the line to the crash pipe too.
func own(line []byte) bool {
	return bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("SIG"))
}

// dumpBytes is how much of a dump is searched for a call that a cell made.
const dumpBytes = 256 << 10

// withoutDump returns the part of the text on stderr that the user sees now. The
// runtime's dump of goroutines, thousands of lines about the engine, goes to the file
// that holds the rest of a cell's output. Text that may be the beginning of a dump is
// held back. The caller holds mu.
func (c *child) withoutDump(data []byte) []byte {
	if c.dying {
		c.keepDump(data)
		return nil
	}
	held := len(c.held) > 0
	if held {
		data = append(c.held, data...)
		c.held = nil
	}
	if shown := c.beforeDump(data); c.dying {
		return shown
	}
	begin := 0
	if !held {
		at := lastLine().FindIndex(data)
		if at == nil {
			return data
		}
		begin = at[0]
		c.heldSince = time.Now()
		time.AfterFunc(holdTime, c.releaseLate)
	}
	if c.over || len(data)-begin > holdBytes || time.Since(c.heldSince) >= holdTime {
		return data
	}
	c.held = bytes.Clone(data[begin:])
	return data[:begin]
}

// beforeDump returns the text before a dump, and keeps the dump; without a dump it
// returns all of the text. The caller holds mu.
func (c *child) beforeDump(data []byte) []byte {
	c.crash.drain()
	begin := dumpStart(data, c.crash.said)
	if begin < len(data) {
		c.dying = true
		c.keepDump(data[begin:])
	}
	return data[:begin]
}

// keepDump saves a part of the dump. The caller holds mu.
func (c *child) keepDump(dump []byte) {
	c.dump = append(c.dump, dump[:min(len(dump), dumpBytes-len(c.dump))]...)
	out := c.outputOf(c.last)
	if err := out.save(string(dump)); err == nil {
		c.saved = out.path
	}
}

// release delivers the text held back, unless it is a dump. The caller holds mu.
func (c *child) release() {
	if held := c.held; len(held) > 0 {
		c.held = nil
		c.stderr.show(c.beforeDump(held))
	}
}

// releaseLate delivers text that has been held back for holdTime.
func (c *child) releaseLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.heldSince) >= holdTime {
		c.release()
	}
}

// dumpStart returns where the runtime's dump begins in the text on stderr, or the
// text's length without a dump. said is the output of the crash pipe so far, empty
// while the program lives. It distinguishes the runtime's line from an equal line that
// a cell printed and that was read together with the dump, or just before it.
func dumpStart(data, said []byte) int {
	if len(said) == 0 {
		return len(data)
	}
	said, _, _ = bytes.Cut(bytes.TrimLeft(said, "\n"), []byte("\n"))
	heads := lastLine().FindAllIndex(data, -1)
	for _, at := range slices.Backward(heads) {
		line, _, whole := bytes.Cut(data[at[0]:], []byte("\n"))
		if own(line) != own(said) {
			continue
		}
		if !own(line) || bytes.HasPrefix(line, said) || !whole && bytes.HasPrefix(said, line) {
			return at[0]
		}
	}
	if at := stacks().FindIndex(data); at != nil {
		return at[0]
	}
	return len(data)
}

var (
	crashed   = lazyregexp.New(`(?m)^goroutine .*\[running.*\n`)
	stackLine = lazyregexp.New(`(?m)^([\w./*()\[\]·-]+)\(.*\n`)
	ofEngine  = lazyregexp.New(`^(github\.com/(goplus|visualfc)/|warpbook/kernel/|main\.)`)
	ofRuntime = lazyregexp.New(`^(runtime|reflect|internal)\b|^panic$`)
)

// called returns the function of a compiled package that interpreted code called on the
// first goroutine of a dump, "" if the dump does not show it. The lines of cells are
// not on the processor's stack.
func called(dump []byte) (name string) {
	at := crashed().FindIndex(dump)
	if at == nil {
		return ""
	}
	stack, _, _ := bytes.Cut(dump[at[1]:], []byte("\n\n"))
	for _, m := range stackLine().FindAllSubmatch(stack, -1) {
		switch f := string(m[1]); {
		case ofEngine().MatchString(f):
			return name
		case !ofRuntime().MatchString(f):
			name = f
		}
	}
	return "" // no cell called it
}

func after(words string) string {
	if words == "" {
		return ""
	}
	return ", " + words
}

// lastWords watches stderr for the line in which the Go runtime gives the reason before
// it ends a process; a dump of goroutines of any length follows.
type lastWords struct {
	line  []byte // the line so far, at most lineBytes of it
	last  string // the last line that is not empty
	fatal string // the last line that gives a reason
}

const lineBytes = 500

// fatalLine matches the beginning of the line in which the runtime gives the reason for
// the end: a fatal error, a panic, or a signal, such as a fault in C raises.
var fatalLine = lazyregexp.New(`^(fatal error|panic|SIG[A-Z]+): `)

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
	if fatalLine().MatchString(line) {
		w.fatal = line
	}
}
