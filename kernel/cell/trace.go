package cell

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goplus/ixgo"

	"warpbook/gpu/lazyregexp"
	"warpbook/kernel/frame"
)

// place is a frame of user code.
type place struct {
	cell, line int
	fn         string
}

// traced is a panic with the frames of the interpreter that it arose in. It may
// pass through others, when a cell calls a function value of an earlier one or a
// linked function, and each knows its own frames only.
type traced struct {
	value  any
	frames []place
}

func (p place) String() string {
	s := fmt.Sprintf("%s, line %d", frame.CellName(p.cell), p.line)
	if p.fn != "" {
		s += ", in " + p.fn
	}
	return s
}

func (t traced) Error() string { return panicText(t.value) }

// trace adds the frames to a panic of interpreted code, as it begins. A fault
// that the Go runtime finds, such as a division by zero, does not come by here.
func trace(info *ixgo.PanicInfo) {
	switch err := info.Error.(type) {
	case ixgo.FatalError: // it has ended already
	case ixgo.PanicError:
		info.Error = traced{err.Value, userFrames(err.Stack())}
	default:
		info.Error = traced{err, callers(info.Frame)}
	}
}

// callers are the frames of cells from fr outwards.
func callers(fr *ixgo.Frame) (frames []place) {
	for _, f := range fr.CallerFrames() {
		if cell := cellOf(f.File); cell > 0 {
			frames = appendFrame(frames, place{cell, f.Line, funcName(f.Function)})
		}
	}
	return frames
}

// unwrap finds the value that a cell panicked with, and the frames of cells at
// that time.
func unwrap(value any) (_ any, frames []place) {
	for {
		switch p := value.(type) {
		case ixgo.PanicError:
			value, frames = p.Value, join(userFrames(p.Stack()), frames)
		case ixgo.FatalError:
			value, frames = p.Value, join(userFrames(p.Stack()), frames)
		case traced:
			value, frames = p.value, join(p.frames, frames)
		default:
			return value, frames
		}
	}
}

// join puts frames behind those of an inner interpreter, or of the same: then
// one of the two ends or begins with the other.
func join(inner, outer []place) []place {
	if n := len(inner) - len(outer); n >= 0 && alike(inner[n:], outer) {
		return inner
	}
	if len(inner) < len(outer) && alike(inner, outer[:len(inner)]) {
		return outer
	}
	return append(append([]place{}, inner...), outer...)
}

// alike compares frames but for the lines: deferred calls run at another one.
func alike(a, b []place) bool {
	for i := range a {
		if a[i].cell != b[i].cell || a[i].fn != b[i].fn {
			return false
		}
	}
	return true
}

var stackFrame = lazyregexp.New(`(?m)^([^\n]*)\(\)\n\tcell(\d+):(\d+)`)

// userFrames finds the frames of cells in the interpreter's stack text.
func userFrames(stack []byte) (frames []place) {
	for _, m := range stackFrame().FindAllSubmatch(stack, -1) {
		cell, _ := strconv.Atoi(string(m[2]))
		line, _ := strconv.Atoi(string(m[3]))
		frames = appendFrame(frames, place{cell, line, funcName(string(m[1]))})
	}
	return frames
}

// appendFrame leaves out what repeats, as in a recursion on one line.
func appendFrame(frames []place, p place) []place {
	if n := len(frames); n > 0 && frames[n-1] == p {
		return frames
	}
	return append(frames, p)
}

var unitPrefix = lazyregexp.New(`^main(·\d+)?\.`)

// funcName is a function's name as its author knows it, "" for the cell itself.
func funcName(name string) string {
	name = unitPrefix().ReplaceAllString(name, "")
	name = strings.ReplaceAll(name, bodyName+".", "")
	if !strings.Contains(name, ")") { // of a method of a generic type, whose name the runtime leaves out with the type arguments
		name = strings.TrimPrefix(name, "(*")
	}
	if strings.HasPrefix(name, initPrefix) {
		return "init"
	}
	if name == bodyName {
		return ""
	}
	return name
}
