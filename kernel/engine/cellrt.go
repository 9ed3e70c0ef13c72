package engine

import (
	"strconv"

	"warpbook/kernel/engine/rewrite"
)

// runtimeSource is the source of the runtime package. Functions without a body are
// functions of this program.
var runtimeSource = `package cellrt

var Intr int32

func Stop()
func Kill() <-chan struct{}
func Block()
func Killed()
func Println(a ...any)
func Print(a ...any)
func GoStart() uint64
func GoRun(cell uint64, pos int)
func GoEnd(e any)
func Recovered(v any) any
func NotNil(v any) any
func Magic(id int)
func MagicRuns(id int) int
func Declared(id, i int) any
func Offsetof(x any, path ...string) uintptr
func Embedded(file string) string
func EmbeddedFS(dir string, files ...string) any

func Enter() {}

var Armed [` + strconv.Itoa(rewrite.Points) + `]uint8

func Line(point int, v ...any) ([][]any, bool)

func IsSet(set []any) bool { return len(set) > 0 }

func As[T any](set []any, old T) T {
	if t, ok := set[0].(T); ok || set[0] == nil {
		return t
	}
	return old
}

func Length(n int) int { return n }

func Read(r any, p []byte) (int, error)

func Ended(err error)
func Dropped(pos int, err error)

func Waited(err error) error {
	if Intr != 0 {
		Ended(err)
	}
	return err
}

func Waited2[A any](a A, err error) (A, error) {
	if Intr != 0 {
		Ended(err)
	}
	return a, err
}

func Waited3[A, B any](a A, b B, err error) (A, B, error) {
	if Intr != 0 {
		Ended(err)
	}
	return a, b, err
}

func Values(v ...any) []any { return v }

func Zero[T any]() (z T) { return }

func Recv[T any](c <-chan T) T {
	select {
	case v := <-c:
		return v
	case <-Kill():
		Killed()
		panic("")
	}
}

func Recv2[T any](c <-chan T) (T, bool) {
	select {
	case v, ok := <-c:
		return v, ok
	case <-Kill():
		Killed()
		panic("")
	}
}

func Iter[T any](c <-chan T) func(func(T) bool) {
	return func(yield func(T) bool) {
		for {
			v, ok := Recv2(c)
			if !ok || !yield(v) {
				return
			}
		}
	}
}
`
