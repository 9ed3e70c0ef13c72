// Package cell runs the cells of a Go notebook in this process: it evaluates,
// completes, inspects and interrupts.
//
// A cell is type-checked with the live objects of earlier cells in scope,
// compiled to SSA together with exactly the declarations that it reaches, and
// interpreted by github.com/goplus/ixgo. Types, variables and goroutines live
// as long as the session. Standard output and error are those of the process;
// the package knows no messages and no display. What kills a process (a
// concurrent map write, lack of memory, a fault in C code) kills this one,
// which is why it runs in a program of its own, kernel/cells.
//
// Programs that import this package are built with Go 1.26: the engine makes types
// in the layout of its runtime.
package cell

//go:generate go run ./symbols/generate -dir symbols

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/types/typeutil"

	"warpbook/kernel/cell/magic"
	"warpbook/kernel/cell/split"
	"warpbook/kernel/frame"
)

// Config is what an Engine is told by its program.
type Config struct {
	// Interrupt is called at each interrupt to end compiled calls that can
	// be ended from outside, such as a launch on a device.
	Interrupt []func()

	// Ending, if set, says whether such a call is still being ended: until
	// then its cell is not given up.
	Ending func() bool

	// Doc, if set, returns the declaration and comment of an object of a
	// compiled package; see symbols.Doc.
	Doc func(path, name string) string

	// Stdin, if set, is what fmt.Scan, Scanf and Scanln read. os.Stdin is
	// that of the process.
	Stdin io.Reader

	// Output, if set, takes what cells print with fmt, log, print and println;
	// else it goes to os.Stdout and os.Stderr. The cell is the one that
	// started the printing goroutine, 0 if that is not known; name is
	// "stdout" or "stderr".
	Output func(cell uint64, name string, text []byte) (int, error)

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

// Engine is one session. Its methods may be called at any time, from any
// goroutine: cells are compiled one at a time, and run at once.
type Engine struct {
	config    Config
	ctx       *ixgo.Context
	loader    *loader
	types     *registry
	stop      *stopper
	externals map[string]any // functions of ours by the names that cells call them by; made by New
	ours      sync.Map       // ids of goroutines that recover by themselves, to that of their cell
	warned    sync.Map       // positions of statements whose dropped error has been told
	calls     sync.Map       // ids to the calls of magics in the cells that run
	stdout    io.Writer
	stderr    io.Writer

	// mu is held while a cell is checked and compiled, and while a question
	// about the session is answered, but not while a cell runs. It guards
	// all below.
	mu        sync.Mutex
	importer  importer
	graph     *graph
	live      map[string]types.Object // what names mean to the next cell
	decls     map[string]*declaration // sources of live functions, types, methods ("T.M") and constants
	sources   map[int][]string        // lines by cell
	versions  map[string][]version    // functions that change in place, by name
	broken    map[string]string       // names that mean nothing any more, and why
	declaring map[string]bool         // names that the cell declares, while it is checked
	serial    int                     // of units
	dynamic   []dynamicType           // see noteDynamic
	libraries []*library              // see link
	history   []magic.Cell            // the last cells

	dynamicSeen typeutil.Map
	homes       typeutil.Map // type to *ixgo.Interp, see home
	nextPrune   int
}

// Result is how a cell ended.
type Result struct {
	Values []any        // of the last expression, if it is to be shown
	Next   string       // what is offered in place of the cell, if anything
	Err    *frame.Error // nil if the cell ended well
}

const maxStack = 1 << 30 // the watch of stacks acts long before the runtime does

// New starts a session.
func New(config Config) (*Engine, error) {
	debug.SetMaxStack(maxStack)
	if config.AbandonAfter == 0 {
		config.AbandonAfter = 2 * time.Second
	}
	if config.Lasting == nil {
		config.Lasting = func() {}
	}
	ctx := newContext(0)
	e := &Engine{config: config, ctx: ctx, stop: newStopper(),
		live: map[string]types.Object{}, decls: map[string]*declaration{}, sources: map[int][]string{},
		externals: map[string]any{}, versions: map[string][]version{}, broken: map[string]string{}}
	e.stdout, e.stderr = stream{e, "stdout", os.Stdout}, stream{e, "stderr", os.Stderr}
	e.graph = newGraph(e.importedUnit)
	e.types = newRegistry(ctx, e.graph.nested)
	e.types.guard, e.types.home = e.guardMethod, e.home
	e.loader = &loader{Loader: ctx.Loader, types: e.types, nested: e.graph.nested, standIns: map[*types.TypeName]*types.Named{}}
	ctx.Loader = e.loader
	e.importer = newImporter(ctx)
	if err := e.registerRuntime(); err != nil {
		return nil, err
	}
	return e, nil
}

// Warm imports packages, so that the first cell that does need not wait.
func (e *Engine) Warm(paths ...string) {
	for _, p := range paths {
		e.mu.Lock()
		e.importer.Import(p) // a package that is not offered fails again, with a message, in a cell
		e.mu.Unlock()
	}
}

// Eval runs a cell on this goroutine, which it may end, and calls answer once.
// The id names it to Owner, the number is the one that errors name. When ctx is
// cancelled everything that runs is stopped, as soon as it can be; a cell that
// does not end is answered by another goroutine.
func (e *Engine) Eval(ctx context.Context, id uint64, n int, src string, answer func(Result)) {
	var c *prepared
	e.run(ctx, id, job{
		prepare: func(begin func() bool) bool { c = e.prepare(ctx, n, src, begin); return c.failure == nil },
		run:     func() outcome { return e.call(c.program) },
		discard: func() { e.release(c) },
	}, func(o outcome) {
		if o.discarded { // c is still being prepared
			answer(Result{Err: stopped()})
			return
		}
		answer(e.result(c, o))
	})
}

// result ends a cell and says how it ended.
func (e *Engine) result(c *prepared, o outcome) Result {
	defer e.release(c)
	if c.failure != nil {
		return Result{Err: c.failure}
	}
	if o.err != nil {
		return Result{Err: e.runFailure(o.err)}
	}
	r := c.outcome(o.values)
	r.Next = c.source.next
	return r
}

// prepared is a cell that is ready to run, or why there is none.
type prepared struct {
	*checked
	program *program
	failure *frame.Error
	forget  func() // see expand
	shut    func() // see openMagics
}

// prepare makes a cell ready to run, until release.
func (e *Engine) prepare(ctx context.Context, n int, src string, begin func() bool) *prepared {
	text, forget, failure := e.expand(ctx, n, src)
	if failure != nil {
		return &prepared{failure: failure}
	}
	c := &prepared{forget: forget}
	if c.checked, c.program, c.failure = e.build(ctx, n, src, text, begin); c.failure == nil {
		c.shut = e.openMagics(c.source)
	}
	return c
}

// release ends a cell that has run or that nobody waits for: it may be dropped,
// if nothing that it has defined is used.
func (e *Engine) release(c *prepared) {
	if c.forget != nil {
		c.forget()
	}
	if c.program == nil {
		return
	}
	c.shut()
	e.mu.Lock()
	defer e.mu.Unlock()
	c.program.unit.running = false
}

// build checks and compiles the Go that stands for a cell, and makes its names
// known once it is ready to begin. Nothing has changed when it was stopped before.
func (e *Engine) build(ctx context.Context, n int, src, text string, begin func() bool) (c *checked, p *program, failure *frame.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		if r := recover(); r != nil { // a bug here or in the engine library must not cost the session
			failure = bug(fmt.Errorf("cell: %v", r))
		}
	}()
	if ctx.Err() != nil {
		return nil, nil, stopped()
	}
	e.sources[n] = strings.Split(src, "\n")
	e.remember(n, src)
	c, diags := e.check(ctx, n, text)
	if len(diags) > 0 {
		return nil, nil, e.compileFailure(diags)
	}
	if c == nil {
		return nil, nil, stopped()
	}
	if full() {
		return nil, nil, e.compileFailure([]diagnostic{{msg: "no room for the methods of more types: restart the session"}})
	}
	undo := e.replaceMethods(c)
	imported := c.imports()
	e.serial++
	u := &unit{pkg: c.pkg, info: c.info, files: c.files(), path: fmt.Sprintf("main·%d", e.serial), cell: n, vars: map[string]reflect.Value{}, file: c.temporary(), running: true}
	e.graph.add(u)
	undo = append(undo, e.replaceFuncs(c)...)
	e.moveVars(c, u)
	p, err := e.compile(u)
	if err != nil || ctx.Err() != nil || !begin() {
		e.drop(c, undo)
		if err != nil {
			return nil, nil, bug(err)
		}
		return nil, nil, stopped()
	}
	e.moveValues(c, u)
	e.define(c, imported)
	e.warnOfMain(c)
	e.graph.compact(u)
	e.prune()
	return c, p, nil
}

// drop forgets a cell that has been compiled and does not begin.
func (e *Engine) drop(c *checked, undo []func()) {
	for _, f := range slices.Backward(undo) {
		f()
	}
	e.unbreak(c)
	delete(e.graph.units, c.pkg)
	e.forget(c.file)
}

// define makes the cell's names the live ones.
func (e *Engine) define(c *checked, imported map[string]types.Object) {
	before := e.varTypes(c)
	for name, o := range imported {
		e.live[name] = o
	}
	scope := c.pkg.Scope()
	var defined []string
	for _, name := range scope.Names() {
		if o := scope.Lookup(name); o.Pkg() == c.pkg && !strings.HasPrefix(name, "__") {
			if _, ok := o.(*types.PkgName); !ok {
				e.retire(e.live[name])
				e.live[name] = o
				defined = append(defined, name)
			}
		}
	}
	e.redefine(c, defined)
	e.warnOfOld(c, before)
}

// warnOfMain says that nothing calls the main of a whole program.
func (e *Engine) warnOfMain(c *checked) {
	for _, p := range c.pieces {
		if p.Kind == split.Statement || p.Kind == split.Magic {
			return
		}
	}
	for _, d := range c.file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && fd.Name.Name == "main" && c.carried(fd.Pos()) == nil {
			fmt.Fprintf(e.stderr, "warning: %s declares main, which nothing calls: write main() as its last line\n", frame.CellName(c.cell))
		}
	}
}

// retire gives the package of a type whose name gets another meaning a name of
// its own, by which messages of the checker tell the two apart, and the type one
// by which its values are.
func (e *Engine) retire(o types.Object) {
	t, ok := o.(*types.TypeName)
	if !ok {
		return
	}
	if u := e.mark(t); u != nil {
		e.types.retire(t, u.cell)
	}
}

// pruneEvery is how many new cells are kept before unused ones are dropped.
const pruneEvery = 32

func (e *Engine) prune() {
	if len(e.graph.units) < e.nextPrune {
		return
	}
	for _, u := range e.graph.prune(e.live, e.dynamic) {
		if u.file.IsValid() { // positions are asked for no more
			e.ctx.FileSet.RemoveFile(e.ctx.FileSet.File(u.file))
		}
	}
	for name, list := range e.versions { // without those that nothing calls
		e.versions[name] = slices.DeleteFunc(list, func(v version) bool { return e.graph.units[v.decl.unit.pkg] == nil })
	}
	e.nextPrune = len(e.graph.units) + pruneEvery
	used := map[int]bool{}
	for _, u := range e.graph.units {
		used[u.cell] = true
	}
	for _, d := range e.decls { // of methods that live in the unit of their type
		used[d.cell] = true
	}
	for n := range e.sources {
		if !used[n] {
			delete(e.sources, n)
		}
	}
}

// importedUnit is the unit of a package that is kept as source.
func (e *Engine) importedUnit(p *types.Package) *unit {
	sp := e.ctx.SourcePackage(p.Path())
	if sp == nil || sp.Package != p || !sp.Loaded() {
		return nil
	}
	u := &unit{pkg: sp.Package, info: sp.Info, files: sp.Files, path: p.Path(), imported: true, vars: map[string]reflect.Value{}}
	e.graph.add(u)
	return u
}

// outcome is how a run ended.
type outcome struct {
	values    []any
	err       error
	discarded bool // it was interrupted before it began
}

// Protect calls f, which may call methods of cells, as if it were the cell of
// that id: it can be interrupted, and a panic becomes an error. It calls answer
// once, as Eval does; when f is given up it may still run then.
func (e *Engine) Protect(ctx context.Context, id uint64, f func(), answer func(*frame.Error)) {
	e.run(ctx, id, job{prepare: func(func() bool) bool { return true }, discard: func() {}, run: func() (o outcome) {
		defer func() {
			if v := recover(); v != nil {
				o.err = ixgo.PanicError{Value: v}
			}
		}()
		f()
		return o
	}}, func(o outcome) {
		switch {
		case o.discarded:
			answer(stopped())
		case o.err != nil:
			answer(e.runFailure(o.err))
		default:
			answer(nil)
		}
	})
}

// job is what a goroutine of the engine does.
type job struct {
	// prepare says whether there is something to run. It cannot be stopped, and
	// asks begin before it changes anything that others see: false means that
	// nobody waits for the job any more.
	prepare func(begin func() bool) bool
	run     func() outcome
	discard func() // what was prepared and does not begin
}

// run does a job on this goroutine and calls answer once: when the job ends, or,
// on another goroutine, when an interrupt has ended it or has given it up. Nobody
// waits for what is still being prepared at an interrupt.
func (e *Engine) run(ctx context.Context, id uint64, j job, answer func(outcome)) {
	ended, prepared, decided := make(chan outcome, 1), make(chan struct{}), &atomic.Bool{} // whether it begins or is discarded
	begin := sync.OnceValue(func() bool { return decided.CompareAndSwap(false, true) })
	notStopped := context.AfterFunc(ctx, func() {
		defer e.ourGoroutine(id)() // what magics say at the end is the cell's
		answer(e.interrupt(ended, prepared, decided))
	})
	defer e.stop.watched(e.config.Lasting)()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer e.ourGoroutine(id)()
	o := outcome{err: errGoexit}
	defer func() {
		if ended <- o; notStopped() {
			answer(o)
		}
	}()
	ready := j.prepare(begin)
	if !begin() {
		j.discard()
		return
	}
	close(prepared)
	if !ready {
		o = outcome{}
		return
	}
	e.stop.enter(ctx)
	defer e.stop.leave()
	o = j.run()
}

// interrupt ends a job of run, or gives it up, and says how it ended.
func (e *Engine) interrupt(ended <-chan outcome, prepared <-chan struct{}, decided *atomic.Bool) outcome {
	if decided.CompareAndSwap(false, true) {
		return outcome{discarded: true}
	}
	<-prepared
	first := e.stop.begin()
	defer e.stop.end()
	if first { // one stop of several cells is one for a device
		for _, f := range e.config.Interrupt {
			f()
		}
	}
	for wait := e.config.AbandonAfter; ; wait = settleTime {
		select {
		case o := <-ended:
			return outcome{err: stoppedWith(o.err)}
		case <-time.After(wait):
		}
		if e.config.Ending == nil || !e.config.Ending() {
			return outcome{err: errAbandoned}
		}
	}
}

// call runs a cell's statements, among which are the initial values of its
// variables.
func (e *Engine) call(p *program) outcome {
	r, err := p.interp.RunFunc(bodyName)
	values, _ := r.([]any)
	return outcome{values: values, err: err}
}
