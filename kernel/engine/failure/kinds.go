package failure

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"warpbook/kernel/cellproto"
)

// The names of the errors that a cell ends with.
const (
	CompileError = "compile error"
	PanicError   = "panic"
	ErrorError   = "error" // the last expression returned one
	Interrupted  = "interrupted"
	ExitCalled   = "exit"
	Internal     = "internal error"
)

// Stopped reports an interrupt before a cell ran.
func Stopped() *cellproto.Error {
	return &cellproto.Error{Name: Interrupted, Value: InterruptText, Traceback: []string{Interrupted + ": " + InterruptText}}
}

// Exit is the panic value of os.Exit.
type Exit int

func (x Exit) Error() string {
	return fmt.Sprintf("the cell called os.Exit(%d); the session goes on", int(x))
}

// Goexit is the panic value of runtime.Goexit.
type Goexit struct{}

var (
	ErrGoexit = errors.New("the cell ended its goroutine with runtime.Goexit")
)

// Rescue makes a panic of the engine, of the type checker or of the engine library the
// failure of the request. It is deferred.
func Rescue(request string, failure **cellproto.Error) {
	if r := recover(); r != nil {
		*failure = Bug(fmt.Errorf("engine: %s: %v at %s", request, r, panicPlace()))
	}
}

// panicPlace is the function that panicked first and its line, for a function that
// recovers: the type checker panics again with the value that it recovered.
func panicPlace() (place string) {
	var pcs [100]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	panicked := false
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		panicked = panicked || f.Function == "runtime.gopanic"
		if panicked && !strings.HasPrefix(f.Function, "runtime.") {
			place, panicked = fmt.Sprintf("%s, line %d", f.Function, f.Line), false
		}
	}
	return place
}

// Bug reports an internal error.
func Bug(err error) *cellproto.Error {
	return &cellproto.Error{Name: Internal, Value: err.Error(), Traceback: []string{Internal + ": " + err.Error(), "this is a bug of warpbook; the session goes on"}}
}
