// Package tool runs the launches of a cell under NVIDIA's profiler (ncu) or
// sanitizer (compute-sanitizer), and compares the tool's findings with the
// emulator's for the same launches. Profile and Sanitize return a Run; the cells'
// %%ncu and %%sanitize magics call them.
//
// The tool runs the worker of each open GPU. The live buffers move into that worker
// and back at the end; the notebook's own program does not run under the tool.
// Without a GPU, only the emulator counts and checks. The package judges nothing: it
// shows both results and says which of them must be equal.
package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/kernel/leaf/scratch"
)

// Run is launches under a tool, from its start to End.
type Run struct {
	tool  kind
	dir   string // of the tool's reports
	under []*watched

	findings int
}

// Findings is how many complaints the tables of End have.
func (r *Run) Findings() int { return r.findings }

// kind is a tool: the profiler or the sanitizer.
type kind interface {
	name() string
	command(report string) ([]string, error)           // without the program that it runs
	prepare(l *gpu.Launch, alone bool)                 // how a launch runs on the emulator; alone without a GPU
	every() bool                                       // whether every launch of a shape is looked at
	alone() string                                     // why the emulator cannot do the same for a GPU, "" if it can
	tables(w *watched, report string) ([]Table, error) // w.mu is held; report is "" for the emulator
}

// Table is a result as a notebook shows it.
type Table struct {
	title   string
	columns []string
	rows    [][]string
	notes   []string
}

// Title stands above the table.
func (t Table) Title() string { return t.title }

// Notes stand below the table.
func (t Table) Notes() []string { return t.notes }

// Table is the columns and rows.
func (t Table) Table() (columns []string, rows [][]string) { return t.columns, t.rows }

// movable is a device whose work a tool can run.
type movable interface {
	gpu.Device
	Under(tool ...string) (back func() error, err error)
}

// observable is a device that shows its launches.
type observable interface {
	gpu.Device
	Observe(gpu.Observer)
}

// running is whether a tool runs: its devices can be under one at a time.
var running atomic.Bool

// start puts all open devices under a tool.
func start(k kind) (*Run, error) {
	if !running.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("tool: %s: another cell runs under a tool: wait for its end", k.name())
	}
	r, err := under(k)
	if err != nil {
		running.Store(false)
	}
	return r, err
}

func under(k kind) (*Run, error) {
	dir, err := os.MkdirTemp(scratch.Dir(), "warpbook-"+k.name())
	if err != nil {
		return nil, fmt.Errorf("tool: %s: %w", k.name(), err)
	}
	r := &Run{tool: k, dir: dir}
	devices := device.Opened()
	if len(devices) == 0 {
		return nil, errors.Join(fmt.Errorf("tool: %s: %w: no device is open: open one in an earlier cell", k.name(), gpu.ErrArgument), r.close())
	}
	for i, d := range devices {
		o, ok := d.(observable)
		if !ok {
			continue
		}
		w := &watched{device: o}
		err := w.start(k, filepath.Join(dir, fmt.Sprint("report", i)))
		if errors.Is(err, gpu.ErrClosed) {
			continue // by the notebook
		}
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.under = append(r.under, w)
	}
	return r, nil
}

// End moves the buffers back, once, and returns the findings of each device with
// at least one launch.
func (r *Run) End() ([]Table, error) {
	var tables []Table
	var errs []error
	for _, w := range r.under {
		errs = append(errs, w.end())
		t, err := w.tables(r.tool)
		tables, errs = append(tables, t...), append(errs, err)
		r.findings += w.found
	}
	r.under = nil
	running.Store(false)
	if len(tables) == 0 && errors.Join(errs...) == nil {
		tables = []Table{{title: r.tool.name(), columns: []string{"result"}, rows: [][]string{{"nothing was launched on a device that is open"}}}}
	}
	return tables, errors.Join(append(errs, r.close())...)
}

// tables are the findings of the tool and of the emulator on a device, none if
// there was no launch.
func (w *watched) tables(k kind) ([]Table, error) {
	w.mu.Lock() // a launch of another goroutine may still go on
	defer w.mu.Unlock()
	if len(w.launches) == 0 {
		return nil, nil
	}
	return k.tables(w, w.report)
}

// close moves back the buffers that are still under the tool.
func (r *Run) close() error {
	var errs []error
	for _, w := range r.under {
		errs = append(errs, w.end())
	}
	r.under = nil
	return errors.Join(append(errs, os.RemoveAll(r.dir))...)
}

// watched is a device while its launches are observed.
type watched struct {
	device   observable
	back     func() error // from under the tool; nil on the emulator
	report   string       // file of the tool; "" on the emulator
	emulator *emulation   // of a GPU

	mu       sync.Mutex
	launches []*launch // in order, one for each shape; guarded by mu, as are they
	found    int       // complaints in the tables; guarded by mu
}

// launch is the launches of an entry with a shape: the counters of the first, and
// the faults of all.
type launch struct {
	entry       string
	grid, block gpu.Dim
	shared      int
	times       int
	counters    gpu.Counters
	counted     bool
	faults      []fault // of the emulator, the first of each kind and line
	warnings    []*gpu.Fault
	note        string // why the emulator has nothing
}

// fault is a finding of the emulator in a launch.
type fault struct {
	err  error
	at   int    // number of the launch that had it first, from 1
	line string // the text of the line, if it is known
}

func (l *launch) String() string {
	text := fmt.Sprintf("%s %v %v", l.entry, l.grid, l.block)
	if l.shared > 0 {
		text += fmt.Sprintf(", %d bytes shared", l.shared)
	}
	if l.times > 1 {
		text += fmt.Sprintf(", first of %d", l.times)
	}
	return text
}

func (w *watched) start(k kind, report string) error {
	gpuDevice, ok := w.device.(movable)
	if !ok {
		w.device.Observe(func(l gpu.Launch, run func(gpu.Launch) error) error { return w.onEmulator(k, l, run) })
		return nil
	}
	command, err := k.command(report)
	if err != nil {
		return err
	}
	w.report, w.emulator = report, &emulation{info: w.device.Info()}
	w.device.Observe(func(l gpu.Launch, run func(gpu.Launch) error) error { return w.onGPU(k, l, run) })
	if w.back, err = gpuDevice.Under(command...); err != nil {
		w.device.Observe(nil)
		return explain(k, report, err)
	}
	return nil
}

// end is called once or more.
func (w *watched) end() error {
	w.device.Observe(nil)
	if w.emulator != nil {
		w.emulator.close()
	}
	if w.back == nil {
		return nil
	}
	back := w.back
	w.back = nil
	return back()
}

// name is that of a launch's entry.
func name(l gpu.Launch) string {
	if l.Entry == nil {
		return "a launch without an entry"
	}
	return l.Entry.Name()
}

// add notes a launch, and reports whether it is the first of its shape.
func (w *watched) add(l gpu.Launch) (*launch, bool) {
	grid, block := l.Grid.Full(), l.Block.Full()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.launches {
		if x.entry == name(l) && x.grid == grid && x.block == block && x.shared == l.Shared {
			x.times++
			return x, false
		}
	}
	x := &launch{entry: name(l), grid: grid, block: block, shared: l.Shared, times: 1}
	w.launches = append(w.launches, x)
	return x, true
}

// note keeps the emulator's results of a launch.
func (w *watched) note(x *launch, l gpu.Launch, counters gpu.Counters, err error, note string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.Warnings != nil && len(x.warnings) == 0 {
		x.warnings = *l.Warnings
	}
	if x.times == 1 {
		x.counters, x.note, x.counted = counters, note, err == nil && note == ""
	}
	if err == nil || slices.ContainsFunc(x.faults, func(f fault) bool { return same(f.err, err) }) {
		return
	}
	now := fault{err: err, at: x.times}
	if f := (*gpu.Fault)(nil); errors.As(err, &f) && l.Source != nil {
		now.line = l.Source.Line(f.At())
	}
	x.faults = append(x.faults, now)
}

// same reports whether two errors are of one kind and line.
func same(a, b error) bool {
	f, g := (*gpu.Fault)(nil), (*gpu.Fault)(nil)
	if errors.As(a, &f) && errors.As(b, &g) {
		return f.Kind == g.Kind && f.At() == g.At()
	}
	return a.Error() == b.Error()
}

// onEmulator runs a launch as the tool would have it checked and counted.
func (w *watched) onEmulator(k kind, l gpu.Launch, run func(gpu.Launch) error) error {
	x, first := w.add(l)
	if !first && !k.every() {
		return run(l)
	}
	wanted, warnings := l.Counters, l.Warnings
	var counters gpu.Counters
	l.Counters = &counters
	if l.Warnings == nil {
		l.Warnings = new([]*gpu.Fault)
	}
	k.prepare(&l, true)
	var before map[gpu.Buffer]any
	if l.Checks&^gpu.CheckFaults != 0 {
		var err error
		if before, err = save(l); err != nil {
			return err
		}
	}
	fault := run(l)
	w.note(x, l, counters, fault, "")
	if !errors.Is(fault, gpu.ErrRace) && !errors.Is(fault, gpu.ErrUninitialized) {
		if wanted != nil {
			*wanted = counters
		}
		return fault
	}
	// The tool reports these and the launch continues.
	for b, contents := range before {
		if err := b.Upload(contents); err != nil {
			return err
		}
	}
	l.Counters, l.Warnings, l.Checks = wanted, warnings, gpu.CheckFaults
	return run(l)
}

// save copies the contents of a launch's buffers.
func save(l gpu.Launch) (map[gpu.Buffer]any, error) {
	contents := map[gpu.Buffer]any{}
	for _, b := range gpu.Buffers(l) {
		slice := gpu.NewSlice(b.Type(), b.Len())
		if err := b.Download(slice); err != nil {
			return nil, err
		}
		contents[b] = slice
	}
	return contents, nil
}

// onGPU runs a launch on the emulator first, with the buffers as they are.
func (w *watched) onGPU(k kind, l gpu.Launch, run func(gpu.Launch) error) error {
	if x, first := w.add(l); l.Entry == nil {
		err := run(l)
		w.note(x, l, gpu.Counters{}, err, "")
		return err
	} else if first && k.alone() != "" {
		w.note(x, l, gpu.Counters{}, nil, k.alone())
	} else if first {
		again := l
		again.Warnings = new([]*gpu.Fault)
		k.prepare(&again, false)
		counters, note, fault := w.emulator.run(again)
		w.note(x, again, counters, fault, note)
	}
	return run(l)
}

// explain extracts from a tool's report the reason why it did not start.
func explain(k kind, report string, err error) error {
	text, _ := os.ReadFile(report) // there may be none
	if strings.Contains(string(text)+err.Error(), permission) {
		return errPermission
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "ERROR") || strings.Contains(line, "Error") {
			return fmt.Errorf("tool: %s: %s", k.name(), strings.TrimSpace(strings.Trim(line, "=\n")))
		}
	}
	return fmt.Errorf("tool: %s: %w", k.name(), err)
}
