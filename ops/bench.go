package ops

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"warpbook/gpu"
)

// Progress is told what a bench is doing. A progress bar of kernel/display is
// one.
type Progress interface {
	Step(done, total int, what string)
}

// Bench checks, times and counts the variants of one operator at one size on
// one device. It is for one goroutine at a time; gpu.Device.Interrupt from
// another ends what it is doing with an error.
type Bench struct {
	Progress Progress // told before each variant, if not nil
	Repeats  int      // of each timing; 0 chooses up to 50, fewer when slow
	Method   Method   // of Time

	device   gpu.Device
	modules  map[string]gpu.Module // by the name of their source; nil is closed
	operator *Operator
	size     Size
	seed     uint64
	own      bool              // the inputs are the caller's, not random
	expects  map[string]string // of Expect, by variant

	inputs   [][]float32
	expected []Expected
	memory   map[string]gpu.Buffer   // inputs and outputs by name
	copies   []map[string]gpu.Buffer // of memory, for Rotated

	interrupts uint64 // of the device, when the present call began
	stale      bool   // the inputs in device memory may be others: a call has failed
}

// NewBench loads the operator's PTX and makes inputs: random numbers in [0, 1)
// of the given seed. The size is n of Reduce, and m, n, k of Gemm. Close releases
// what it holds on the device.
func NewBench(device gpu.Device, operator *Operator, seed uint64, size ...int) (*Bench, error) {
	if err := operator.check(size); err != nil {
		return nil, err
	}
	if err := operator.fits(size, device.Info()); err != nil {
		return nil, err
	}
	b := &Bench{device: device, modules: map[string]gpu.Module{}, operator: operator, size: size, seed: seed,
		expects: map[string]string{}, memory: map[string]gpu.Buffer{}}
	b.begin()
	if _, err := b.load(operator.module(Variant{})); err != nil {
		return nil, fmt.Errorf("ops: %w", err)
	}
	if err := b.prepare(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// load returns the module of a source's PTX for the device, loaded at first.
func (b *Bench) load(source string) (gpu.Module, error) {
	if module, ok := b.modules[source]; ok {
		return module, nil
	}
	files, err := ptxFiles(source)
	if err != nil {
		return nil, err
	}
	file, err := pick(source, files, b.device.Info())
	if err != nil {
		return nil, err
	}
	module, err := b.device.Load(file.name, file.text)
	if err != nil {
		return nil, fmt.Errorf("%s: load: %w", source, err)
	}
	b.modules[source] = module
	return module, nil
}

// MustBench is NewBench for notebooks, where an error ends the cell: it loads
// the operator's PTX and makes inputs of a size, n of Reduce, and m, n, k of Gemm.
func MustBench(device gpu.Device, operator *Operator, seed uint64, size ...int) *Bench {
	b, err := NewBench(device, operator, seed, size...)
	if err != nil {
		panic(err)
	}
	return b
}

// prepare makes the inputs and the memory of inputs and outputs.
func (b *Bench) prepare() error {
	if err := b.allocate(); err != nil {
		return err
	}
	random := newRandom(b.seed)
	var inputs [][]float32
	for _, t := range b.operator.Inputs(b.size) {
		inputs = append(inputs, t.random(b.stopped, random))
	}
	return b.use(inputs)
}

// allocate makes the memory of inputs and outputs, in place of what there is.
func (b *Bench) allocate() error {
	if err := errors.Join(b.freeCopies()...); err != nil {
		return fmt.Errorf("ops: %s: free copies: %w", b.operator.Name, err)
	}
	for _, t := range append(b.operator.Inputs(b.size), b.operator.Outputs(b.size)...) {
		buffer, err := b.device.Alloc(t.elements(), t.Len)
		if err != nil {
			return fmt.Errorf("ops: %s: alloc %s: %w", b.operator.Name, t.Name, err)
		}
		if old := b.memory[t.Name]; old != nil {
			if err := old.Free(); err != nil {
				return fmt.Errorf("ops: %s: free %s: %w", b.operator.Name, t.Name, err)
			}
		}
		b.memory[t.Name] = buffer.Label(t.Name)
	}
	return nil
}

// restore gives the inputs back what a launch changed in them. A fault on a GPU
// ends its context and takes the memory along, which is then made again.
func (b *Bench) restore() error {
	err := b.upload(b.inputs)
	if !errors.Is(err, gpu.ErrClosed) {
		return err
	}
	if err := b.allocate(); err != nil {
		return err
	}
	return b.upload(b.inputs)
}

// use uploads inputs and computes what the outputs must be. Nothing has changed
// when it was interrupted before.
func (b *Bench) use(inputs [][]float32) error {
	expected := b.operator.Reference(b.stopped, b.size, inputs)
	if err := b.interrupted("reference"); err != nil {
		return err
	}
	b.inputs, b.expected = inputs, expected
	return errors.Join(append(b.freeCopies(), b.upload(inputs))...)
}

func (b *Bench) upload(inputs [][]float32) error {
	b.stale = true
	for i, t := range b.operator.Inputs(b.size) {
		if err := t.upload(b.stopped, b.memory[t.Name], inputs[i]); err != nil {
			return fmt.Errorf("ops: %s: upload %s: %w", b.operator.Name, t.Name, err)
		}
	}
	b.stale = false
	return nil
}

// SetInput replaces the random data of one input by a copy of the caller's,
// rounded to the input's type.
func (b *Bench) SetInput(name string, values []float32) error {
	tensors := b.operator.Inputs(b.size)
	for i, t := range tensors {
		if t.Name != name {
			continue
		}
		if len(values) != t.Len {
			return fmt.Errorf("ops: %s: input %s of %d elements: %w, expected %d",
				b.operator.Name, name, len(values), gpu.ErrArgument, t.Len)
		}
		inputs := append([][]float32(nil), b.inputs...)
		b.begin()
		inputs[i] = t.rounded(b.stopped, append([]float32(nil), values...))
		err := b.use(inputs)
		b.own = b.own || err == nil
		return err
	}
	return fmt.Errorf("ops: %s: input %q: %w, there is %s", b.operator.Name, name, gpu.ErrNotFound, tensors[0].Name)
}

// Expect declares the check that a variant must fail on this bench, as its
// table would; "" declares that it must pass.
func (b *Bench) Expect(variant, check string) error {
	if _, err := b.operator.Variant(variant); err != nil {
		return err
	}
	b.expects[variant] = check
	return nil
}

// expect is the check that a variant must fail. Faults are what the emulator
// promises: what a GPU does at a wrong address is not defined.
func (b *Bench) expect(v Variant) string {
	check, ok := b.expects[v.Name]
	if !ok && v.Expect != nil {
		check = v.Expect(b.size)
	}
	if kind, fault := strings.CutPrefix(check, checkFault); fault && !b.device.Info().Emulated {
		return undefined(kind)
	}
	return check
}

// undefined is what may fail on a GPU where the emulator finds a fault of a
// kind: the GPU goes on with whatever it read, and a wrong address, this one or
// a later one, is a fault there, too, if it is far enough.
func undefined(kind string) string {
	may := []string{CheckBound, CheckTolerance, CheckNaN, checkFault + gpu.ErrOutOfBounds.Error()}
	if kind == gpu.ErrOutOfBounds.Error() {
		may = append(may, CheckInput)
	}
	return CheckUndefined + strings.Join(may, ", ")
}

// Close releases the bench's memory and its module.
func (b *Bench) Close() error {
	errs := b.freeCopies()
	for name, buffer := range b.memory {
		errs = append(errs, buffer.Free())
		delete(b.memory, name)
	}
	for _, module := range b.modules {
		errs = append(errs, module.Close())
	}
	b.modules = nil
	return errors.Join(errs...)
}

// each calls f for the named variants with their memory and launches ready.
// Where none is named, those that the device cannot run are left out, and e
// says so.
func (b *Bench) each(what string, names []string, e *Environment, f func(*run) error) error {
	variants, err := b.operator.choose(names)
	if err != nil {
		return err
	}
	if b.modules == nil {
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
		r, err := b.newRun(v)
		if len(names) == 0 && errors.Is(err, gpu.ErrUnsupported) {
			e.NotRun = append(e.NotRun, strings.TrimPrefix(err.Error(), "ops: "))
			continue
		}
		if err == nil {
			err = errors.Join(f(r), r.close())
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

// slow is the time over which fewer repeats are made.
func (b *Bench) slow() time.Duration {
	if b.device.Info().Emulated {
		return 200 * time.Millisecond
	}
	return time.Second
}
