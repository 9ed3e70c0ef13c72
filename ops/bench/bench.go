// Package bench measures ladders on a device. A Bench checks, times, counts and explains
// the rungs of an operator, and compares them with peers and with figures that
// were measured before. Notebooks call it by package ops, and ops/cmd/bench calls it.
// Package run launches the rungs, package results has the tables that it returns.
//
// It draws nothing, and must never import an operator.
package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// Progress receives the progress of a bench. A progress bar of kernel/display is a
// Progress.
type Progress interface {
	Step(done, total int, what string)
}

// Bench checks, times and counts the rungs of one operator at one size on
// one device. It is for one goroutine at a time; gpu.Device.Interrupt from another
// goroutine ends the running call with an error.
type Bench struct {
	Progress Progress       // called before each rung, if not nil
	Repeats  int            // of each timing; 0 chooses up to 50, fewer when slow
	Method   results.Method // of Time
	Audits   bool           // Time audits kernels of the caller's, see results.Audit
	Steps    *results.Steps // times that Compare shows above the counters; nil for none

	*data    // its inputs, outputs and their memory
	operator *ladder.Operator
	expects  map[string]string // of Expect, by rung
	watcher  watcher           // of Time
}

// New loads the operator's PTX and makes inputs: the operator's first data set, of the
// given seed. The size is n of Reduce, and m, n, k of Gemm. Close releases
// its memory and modules on the device.
func New(device gpu.Device, operator *ladder.Operator, seed uint64, size ...int) (*Bench, error) {
	if err := operator.CheckSize(size); err != nil {
		return nil, err
	}
	if err := fits(operator, size, device.Info()); err != nil {
		return nil, err
	}
	b := &Bench{data: newData(device, operator, seed, size), operator: operator, expects: map[string]string{}}
	b.begin()
	var err error
	if b.set, err = operator.DataSet(""); err != nil {
		return nil, err
	}
	if _, err := b.site.Modules.Load(device, operator, operator.ModuleOf(ladder.Variant{})); err != nil {
		return nil, fmt.Errorf("ops: %w", err)
	}
	if err = b.allocate(); err == nil {
		err = b.use(b.make(b.set))
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Must is New for notebooks, where an error ends the cell: it loads
// the operator's PTX and makes inputs of a size, n of Reduce, and m, n, k of Gemm.
func Must(device gpu.Device, operator *ladder.Operator, seed uint64, size ...int) *Bench {
	b, err := New(device, operator, seed, size...)
	if err != nil {
		panic(err)
	}
	return b
}

// UseData replaces the inputs by a data set of the operator's; the error for an
// unknown name lists the others.
func (b *Bench) UseData(name string) error {
	set, err := b.operator.DataSet(name)
	if err != nil {
		return err
	}
	b.begin()
	if err := b.use(b.make(set)); err != nil {
		return err
	}
	b.set, b.own = set, false
	return nil
}

// SetInput replaces the random data of one input by a copy of the caller's, of the
// input's Go type and length, rounded to the input's type: []float32 also for floats
// of 16 bits.
func (b *Bench) SetInput(name string, values ladder.Values) error {
	b.begin()
	inputs, err := b.with(name, values)
	if err == nil {
		err = b.use(inputs)
		b.own = b.own || err == nil
	}
	return err
}

// Expected are the outputs of the reference.
func (b *Bench) Expected() []ladder.Expected { return b.expected }

// Place moves the start of an input or output so many elements after the start of
// its allocation, as in a caller's view: the address may then be unaligned for
// vectors.
func (b *Bench) Place(name string, start int) error {
	tensors := b.tensors()
	i := slices.IndexFunc(tensors, func(t ladder.Tensor) bool { return t.Name == name })
	if i < 0 || start < 0 || start > ladder.MostElements {
		return fmt.Errorf("ops: %s: place %s at element %d: %w, expected an input or output and a number from 0 to %d", b.operator.Name, name, start, gpu.ErrArgument, ladder.MostElements)
	}
	b.begin()
	return b.move(tensors[i], start)
}

// checks are those that Expect takes, besides faults.
var checks = []string{ladder.CheckBound, ladder.CheckTolerance, ladder.CheckNaN, ladder.CheckUnwritten, ladder.CheckBeyond, ladder.CheckInput,
	ladder.CheckOrder, ladder.CheckLength, ladder.CheckCount, ladder.CheckExact, ladder.CheckULP, ladder.CheckElements}

// Expect declares the check that a rung must fail on this bench, as its
// table would; "" declares that it must pass.
func (b *Bench) Expect(variant, check string) error {
	if _, err := b.operator.Variant(variant); err != nil {
		return err
	}
	if check != "" && !slices.Contains(checks, check) && !strings.HasPrefix(check, ladder.CheckFault) && !strings.HasPrefix(check, ladder.CheckUndefined) {
		return fmt.Errorf("ops: %s: expect %s of %s: %w: no such check, %s", b.operator.Name, check, variant, gpu.ErrArgument, gpu.Nearest(check, checks))
	}
	b.expects[variant] = check
	delete(b.counted, variant) // its verdict may change
	delete(b.verified, variant)
	return nil
}

// expect is the check that a rung must fail. Only the emulator guarantees faults:
// a wrong address on a GPU is undefined behaviour.
func (b *Bench) expect(v ladder.Variant) string {
	check, ok := b.expects[v.Name]
	if !ok && v.Expect != nil {
		check = v.Expect(b.site.Size)
	}
	if kind, fault := strings.CutPrefix(check, ladder.CheckFault); fault && !b.site.Device.Info().Emulated {
		return undefined(kind)
	}
	return check
}

// undefined is the check that may fail on a GPU where the emulator finds a fault of a
// kind: the GPU goes on with whatever it read, and a wrong address, this one or
// a later one, is a fault there, too, if it is far enough.
func undefined(kind string) string {
	may := []string{ladder.CheckBound, ladder.CheckTolerance, ladder.CheckNaN, ladder.CheckExact, ladder.CheckElements, ladder.CheckULP, ladder.CheckCount, ladder.CheckUnwritten, ladder.CheckBeyond, ladder.CheckFault + gpu.ErrOutOfBounds.Error()}
	if kind == gpu.ErrOutOfBounds.Error() {
		may = append(may, ladder.CheckInput)
	}
	return ladder.CheckUndefined + strings.Join(may, ", ")
}

// Close releases the bench's memory and its module.
func (b *Bench) Close() error {
	b.watcher.close()
	err := errors.Join(append(b.free(), b.site.Modules.Close())...)
	b.site.Modules = nil
	return err
}

// each calls f for the named rungs with their memory and launches ready.
// Where none is named, those that the device cannot run are left out, and e
// says so.
func (b *Bench) each(what string, names []string, e *results.Environment, f func(*trial) error) error {
	variants, err := b.operator.Choose(names)
	if err != nil {
		return err
	}
	if b.site.Modules == nil {
		return fmt.Errorf("ops: %s: bench: %w", b.operator.Name, gpu.ErrClosed)
	}
	b.begin()
	if b.stale {
		if err := b.restore(); err != nil {
			return err
		}
	}
	for i, v := range variants {
		b.step(i, len(variants), what+" "+v.Name)
		r, err := b.prepare(v)
		if len(names) == 0 && errors.Is(err, gpu.ErrUnsupported) {
			e.NotRun = append(e.NotRun, strings.TrimPrefix(err.Error(), "ops: "))
			continue
		}
		if err == nil {
			err = errors.Join(f(r), r.Close())
		}
		if err == nil {
			err = b.interrupted(what + " " + v.Name)
		}
		if err != nil {
			b.stale = true
			return err
		}
	}
	b.step(len(variants), len(variants), what)
	return nil
}

func (b *Bench) step(done, total int, what string) {
	if b.Progress != nil {
		b.Progress.Step(done, total, what)
	}
}

// fits refuses sizes whose inputs and outputs are more than the device holds, or
// the host: it has the inputs and a copy to compare them with, and as an
// emulator the device's memory, too.
func fits(o *ladder.Operator, size ladder.Size, info gpu.Info) error {
	var device, host float64
	for _, t := range append(o.Inputs(size), o.Outputs(size)...) {
		device += float64(t.Elements().Bytes()) * float64(t.Len)
		host += 2 * float64(max(4, t.Elements().Bytes())) * float64(t.Len)
	}
	if info.Emulated {
		host += device * 9 / 8 // which bytes were written
	}
	const gib = 1 << 30
	if device > float64(info.GlobalBytes) {
		return fmt.Errorf("ops: %s: %s: %w: %.4g GiB, %s has %.4g", o.Name, o.Describe(size), gpu.ErrMemory,
			device/gib, info.Name, float64(info.GlobalBytes)/gib)
	}
	if err := gpu.CheckHost(host); err != nil {
		return fmt.Errorf("ops: %s: %s: %w: take a smaller size", o.Name, o.Describe(size), err)
	}
	return nil
}

// Operator returns the operator that the bench measures.
func (b *Bench) Operator() *ladder.Operator { return b.operator }

// String names the operator, the size, the inputs and the device.
func (b *Bench) String() string {
	dims := make([]string, len(b.site.Size))
	for i, n := range b.site.Size {
		dims[i] = fmt.Sprintf("%s = %d", b.operator.Dims[i], n)
	}
	inputs := fmt.Sprintf("seed %d", b.seed)
	if b.own {
		inputs = "inputs of the caller"
	}
	text := fmt.Sprintf("bench of %s, %s, %s, on %v", b.operator.Name, strings.Join(dims, ", "), inputs, b.site.Device.Info())
	if b.site.Modules == nil {
		text += ", closed"
	}
	return text
}
