package failure

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/goplus/ixgo"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/leaf/lazyregexp"
)

// Place is a frame of user code.
type Place struct {
	Cell, Line int
	Fn         string
}

// Traced is a panic with the frames of the interpreter where it began. It may pass
// through other interpreters, when a cell calls a function value of an earlier cell or a
// linked function, and each interpreter knows only its own frames.
type Traced struct {
	Value  any
	Frames func() []Place
}

// Known returns frames.
func Known(frames []Place) func() []Place { return func() []Place { return frames } }

func (p Place) String() string {
	s := fmt.Sprintf("%s, line %d", cellproto.CellName(p.Cell), p.Line)
	if p.Fn != "" {
		s += ", in " + p.Fn
	}
	return s
}

func (t Traced) Error() string { return PanicText(t.Value) }

// Unwrap lets compiled code that has recovered a panic look at an error in it.
func (t Traced) Unwrap() error {
	err, _ := t.Value.(error)
	return err
}

// Trace adds the frames to a panic of interpreted code when it begins. A fault that the
// Go runtime finds, such as a division by zero, does not pass here.
func Trace(info *ixgo.PanicInfo) {
	switch err := info.Error.(type) {
	case ixgo.FatalError: // it has ended already
	case ixgo.PanicError:
		info.Error = Traced{err.Value, later(info.Frame)}
	default:
		info.Error = Traced{err, later(info.Frame)}
	}
}

// Callers are the frames of cells from fr outwards.
func Callers(fr *ixgo.Frame) []Place { return places(fr.CallerFrames()) }

// places are those of the frames that are of cells.
func places(list []runtime.Frame) (frames []Place) {
	for _, f := range list {
		if cell := CellOf(f.File); cell > 0 {
			frames = appendFrame(frames, Place{cell, f.Line, FuncName(f.Function)})
		}
	}
	return frames
}

// Value is the value that a cell panicked with.
func Value(value any) any {
	for {
		switch p := value.(type) {
		case ixgo.PanicError:
			value = p.Value
		case ixgo.FatalError:
			value = p.Value
		case Traced:
			value = p.Value
		default:
			return value
		}
	}
}

// Unwrap returns the value that a cell panicked with, and the frames of cells at that
// time.
func Unwrap(value any) (_ any, frames []Place) {
	for {
		switch p := value.(type) {
		case ixgo.PanicError:
			value, frames = p.Value, Join(userFrames(p.Stack()), frames)
		case ixgo.FatalError:
			value, frames = p.Value, Join(userFrames(p.Stack()), frames)
		case Traced:
			value, frames = p.Value, Join(p.Frames(), frames)
		default:
			return value, frames
		}
	}
}

// Join appends frames to those of an inner interpreter, or of the same one: then one
// list ends or begins with the other.
func Join(inner, outer []Place) []Place {
	if n := len(inner) - len(outer); n >= 0 && alike(inner[n:], outer) {
		return inner
	}
	if len(inner) < len(outer) && alike(inner, outer[:len(inner)]) {
		return outer
	}
	return append(append([]Place{}, inner...), outer...)
}

// alike compares frames without the lines: deferred calls run at another line.
func alike(a, b []Place) bool {
	for i := range a {
		if a[i].Cell != b[i].Cell || a[i].Fn != b[i].Fn {
			return false
		}
	}
	return true
}

var stackFrame = lazyregexp.New(`(?m)^([^\n]*)\(\)\n\tcell(\d+):(\d+)`)

// userFrames finds the frames of cells in the interpreter's stack text.
func userFrames(stack []byte) (frames []Place) {
	for _, m := range stackFrame().FindAllSubmatch(stack, -1) {
		cell, _ := strconv.Atoi(string(m[2]))
		line, _ := strconv.Atoi(string(m[3]))
		frames = appendFrame(frames, Place{cell, line, FuncName(string(m[1]))})
	}
	return frames
}

// appendFrame omits repeated frames, as in a recursion on one line.
func appendFrame(frames []Place, p Place) []Place {
	if n := len(frames); n > 0 && frames[n-1] == p {
		return frames
	}
	return append(frames, p)
}

var unitPrefix = lazyregexp.New(`^main(·\d+)?\.`)

// FuncName is a function's name in the source, "" for the cell itself.
func FuncName(name string) string {
	name = unitPrefix().ReplaceAllString(name, "")
	name = strings.ReplaceAll(name, rewrite.BodyName+".", "")
	if !strings.Contains(name, ")") { // a method of a generic type: the runtime omits its name with the type arguments
		name = strings.TrimPrefix(name, "(*")
	}
	if strings.HasPrefix(name, rewrite.InitPrefix) {
		return "init"
	}
	if name == rewrite.BodyName {
		return ""
	}
	return name
}
