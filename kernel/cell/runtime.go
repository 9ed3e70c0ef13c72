package cell

import (
	"bufio"
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"
)

// Rewritten cells import the package runtimePath under the name runtimeName.
const (
	runtimePath = "cellrt"
	runtimeName = "__rt"
)

// runtimeSource is that package. What has no body here is a function of this
// program.
const runtimeSource = `package cellrt

var Intr int32

func Stop()
func Kill() <-chan struct{}
func Block()
func Killed()
func Println(a ...any)
func Print(a ...any)
func GoStart() uint64
func GoRun(cell uint64)
func GoEnd(e any)
func Traced(e any)
func Wrap(f any, pos int) any
func Recovered(v any) any
func NotNil(v any) any
func Magic(id int)
func MagicRuns(id int) int
func Declared(id, i int) any

func Enter() {}

func W[F any](f F, pos int) F { return Wrap(f, pos).(F) }

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

// asTypePatch adds errors.AsType, which the stock package lacks: it is
// generic, and generic functions cannot be registered compiled.
const asTypePatch = `package errors

import "errors"

func AsType[E error](err error) (E, bool) {
	var e E
	ok := errors.As(err, &e)
	return e, ok
}
`

// registerRuntime gives cells the runtime package and takes over the calls
// that would end or block the process.
func (e *Engine) registerRuntime() error {
	if err := e.ctx.AddImportFile(runtimePath, runtimePath+".go", runtimeSource); err != nil {
		return fmt.Errorf("cell: register %s: %w", runtimePath, err)
	}
	if err := e.ctx.RegisterPatch("errors", asTypePatch); err != nil {
		return fmt.Errorf("cell: register errors.AsType: %w", err)
	}
	for name, f := range map[string]any{
		runtimePath + ".Intr":      &e.stop.flag,
		runtimePath + ".Stop":      e.stop.stop,
		runtimePath + ".Kill":      e.stop.channel,
		runtimePath + ".Block":     e.stop.block,
		runtimePath + ".Killed":    e.stop.killed,
		runtimePath + ".Println":   func(a ...any) { e.printBuiltin(a, true) },
		runtimePath + ".Print":     func(a ...any) { e.printBuiltin(a, false) },
		runtimePath + ".GoStart":   e.goStart,
		runtimePath + ".GoRun":     e.goRun,
		runtimePath + ".GoEnd":     e.goEnd,
		runtimePath + ".Traced":    retrace,
		runtimePath + ".Wrap":      e.wrap,
		runtimePath + ".Ended":     e.stop.ended,
		runtimePath + ".Dropped":   e.dropped,
		runtimePath + ".Recovered": recovered,
		runtimePath + ".NotNil":    notNil,
		"runtime.Goexit":           func() { panic(goexit{}) }, // the engine's own loses deferred calls
		runtimePath + ".Magic":     e.magic,
		runtimePath + ".MagicRuns": e.magicRuns,
		runtimePath + ".Declared":  e.declared,
		"os.Exit":                  func(code int) { panic(exit(code)) },
		"syscall.Exit":             func(code int) { panic(exit(code)) },
		"flag.NewFlagSet":          newFlagSet,
		"log.Fatal":                func(a ...any) { e.fatal(fmt.Sprint(a...)) },
		"log.Fatalf":               func(f string, a ...any) { e.fatal(fmt.Sprintf(f, a...)) },
		"log.Fatalln":              func(a ...any) { e.fatal(fmt.Sprintln(a...)) },
		"time.Sleep":               e.stop.sleep,
		"runtime.LockOSThread":     func() { e.config.Lasting(); runtime.LockOSThread() },
	} {
		e.external(name, f)
	}
	flag.CommandLine.Init(flag.CommandLine.Name(), flag.PanicOnError)
	e.registerPrints()
	e.registerWaits()
	if e.config.Stdin != nil {
		e.registerScans(bufio.NewReader(e.config.Stdin))
	}
	return nil
}

// external makes cells call f where they name a function of a package.
func (e *Engine) external(name string, f any) {
	e.externals[name] = f
	e.ctx.RegisterExternal(name, f)
}

// registerScans makes the functions that scan standard input read in instead.
func (e *Engine) registerScans(in *bufio.Reader) {
	var mu sync.Mutex // held while one of them reads
	scan := func(f func() (int, error)) (int, error) {
		e.stop.lock(&mu)
		defer mu.Unlock()
		return f()
	}
	for name, f := range map[string]any{
		"fmt.Scan":   func(a ...any) (int, error) { return scan(func() (int, error) { return fmt.Fscan(in, a...) }) },
		"fmt.Scanln": func(a ...any) (int, error) { return scan(func() (int, error) { return fmt.Fscanln(in, a...) }) },
		"fmt.Scanf": func(format string, a ...any) (int, error) {
			return scan(func() (int, error) { return fmt.Fscanf(in, format, a...) })
		},
	} {
		e.external(name, f)
	}
}

// goStart announces a goroutine and returns the cell that it will belong to.
func (e *Engine) goStart() uint64 {
	e.stop.live.Add(1)
	return e.Owner()
}

// goRun begins a goroutine of a cell.
func (e *Engine) goRun(cell uint64) {
	debug.SetPanicOnFault(true)
	e.ours.Store(gid.Get(), cell)
}

// goEnd ends a goroutine of a cell.
func (e *Engine) goEnd(fr *ixgo.Frame, v any) {
	e.stop.live.Add(-1)
	defer e.ours.Delete(gid.Get())
	if v, frames, ok := thrown(fr, v); ok {
		e.reportPanic("a goroutine", v, frames)
	}
}

// groupGo is wg.Go, with a goroutine as a go statement of a cell starts it.
func (e *Engine) groupGo(g *sync.WaitGroup, f func()) {
	cell := e.goStart()
	g.Go(func() {
		e.goRun(cell)
		defer func() { e.goEnd(nil, recover()) }()
		f()
	})
}

// thrown is what a function of a cell that has recovered panicked with, and
// where; ok is false if it did not. The engine passes a nil value as a nil frame.
func thrown(fr *ixgo.Frame, v any) (_ any, frames []place, ok bool) {
	if f, isFrame := v.(*ixgo.Frame); v == nil || isFrame && f == nil {
		return nil, nil, false
	}
	if v, frames = unwrap(v); len(frames) == 0 && fr != nil {
		if frames = callers(fr); len(frames) > 0 {
			frames = frames[1:] // without the function that recovers
		}
	}
	return v, frames, true
}

// retrace has a panic that leaves a function for compiled code take its frames
// along.
func retrace(fr *ixgo.Frame, v any) {
	if v, frames, ok := thrown(fr, v); ok {
		panic(traced{v, frames})
	}
}

// reportPanic prints a panic that ended what nobody waits for.
func (e *Engine) reportPanic(what string, v any, frames []place) {
	switch v.(type) {
	case interrupted, goexit:
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "panic in %s: %s\n", what, panicText(v))
	for _, p := range frames {
		fmt.Fprintf(&b, "    %s\n", p)
	}
	io.WriteString(e.stderr, b.String())
}

// recovered is what recover has returned, as the code of a cell sees it. What
// ends the cell goes on.
func recovered(v any) any {
	v, _ = unwrap(v)
	switch v := v.(type) {
	case interrupted, exit, goexit:
		panic(v)
	case ixgo.RuntimeError:
		return runtimeError(panicText(v))
	}
	return v
}

// notNil is what panic is given.
func notNil(v any) any {
	if v == nil {
		return new(runtime.PanicNilError)
	}
	return v
}

// wrap guards a function value that is handed to compiled code at a position.
func (e *Engine) wrap(f any, pos int) any {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return f
	}
	t, handed := v.Type(), e.placeOf(token.Pos(pos))
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		return e.guard(t, handed, func() []reflect.Value {
			if t.IsVariadic() {
				return v.CallSlice(args)
			}
			return v.Call(args)
		})
	}).Interface()
}

// guardMethod guards a method that compiled code calls.
func (e *Engine) guardMethod(t reflect.Type, fn *types.Func, f func() []reflect.Value) []reflect.Value {
	where := e.placeOf(fn.Pos())
	where.fn = fn.Name()
	return e.guard(t, where, f)
}

// placeOf is the place of a position; its cell is 0 if that is forgotten.
func (e *Engine) placeOf(pos token.Pos) place {
	p := e.ctx.FileSet.Position(pos)
	return place{cell: cellOf(p.Filename), line: p.Line}
}

// guard runs what compiled code calls back. On a goroutine that nobody
// recovers, it reports a panic and returns zero values. Where nobody knows the
// frames of the panic, it names the place that the function comes from.
func (e *Engine) guard(t reflect.Type, from place, f func() []reflect.Value) (res []reflect.Value) {
	if _, ok := e.ours.Load(gid.Get()); ok {
		return f()
	}
	defer func() {
		v, frames, ok := thrown(nil, recover())
		if !ok {
			return
		}
		if len(frames) == 0 && from.cell > 0 {
			frames = []place{from}
		}
		e.reportPanic("a function that compiled code called", v, frames)
		res = nil
		for i := range t.NumOut() {
			res = append(res, reflect.Zero(t.Out(i)))
		}
	}()
	return f()
}

// dropped warns of an error that a statement of a cell has dropped, once a
// statement.
func (e *Engine) dropped(pos int, err error) {
	if _, again := e.warned.LoadOrStore(pos, true); !again {
		text, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintf(e.stderr, "warning: %s drops an error: %s; handle it, or assign it to _\n", e.placeOf(token.Pos(pos)), text)
	}
}

// newFlagSet makes a wrong flag an error of the cell: package flag is compiled,
// and its os.Exit would end the process.
func newFlagSet(name string, handling flag.ErrorHandling) *flag.FlagSet {
	if handling == flag.ExitOnError {
		handling = flag.PanicOnError
	}
	return flag.NewFlagSet(name, handling)
}

func (e *Engine) fatal(msg string) {
	fmt.Fprintln(e.stderr, strings.TrimSuffix(msg, "\n"))
	panic(exit(1))
}

// printBuiltin is print and println of the language.
func (e *Engine) printBuiltin(args []any, line bool) {
	var b strings.Builder
	for i, a := range args {
		if line && i > 0 {
			b.WriteByte(' ')
		}
		v := reflect.ValueOf(a)
		switch v.Kind() {
		case reflect.Invalid:
			b.WriteString("(0x0,0x0)") // an interface
		case reflect.Float32:
			b.WriteString(builtinFloat(v.Float(), 32))
		case reflect.Float64:
			b.WriteString(builtinFloat(v.Float(), 64))
		case reflect.Complex64:
			b.WriteString(builtinComplex(v.Complex(), 32))
		case reflect.Complex128:
			b.WriteString(builtinComplex(v.Complex(), 64))
		case reflect.Pointer, reflect.Chan, reflect.Func, reflect.Map, reflect.UnsafePointer:
			fmt.Fprintf(&b, "0x%x", v.Pointer())
		case reflect.Slice:
			fmt.Fprintf(&b, "[%d/%d]0x%x", v.Len(), v.Cap(), v.Pointer())
		case reflect.String:
			b.WriteString(v.String())
		default:
			fmt.Fprint(&b, a)
		}
	}
	if line {
		b.WriteByte('\n')
	}
	io.WriteString(e.stderr, b.String())
}

// builtinFloat writes a number as the language's println does since Go 1.26.
func builtinFloat(f float64, bits int) string {
	return strconv.FormatFloat(f, 'g', -1, bits)
}

func builtinComplex(c complex128, bits int) string {
	im := builtinFloat(imag(c), bits)
	if im[0] != '-' && im[0] != '+' {
		im = "+" + im
	}
	return "(" + builtinFloat(real(c), bits) + im + "i)"
}

// ourGoroutine marks the goroutine as one of a cell that recovers by itself.
func (e *Engine) ourGoroutine(cell uint64) (done func()) {
	id := gid.Get()
	e.ours.Store(id, cell)
	return func() { e.ours.Delete(id) }
}
