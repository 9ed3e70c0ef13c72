// Package bench runs ladders on a device. A Bench checks, times, counts and explains
// the variants of an operator, and compares them with peers and with figures that
// were measured before. A Handle runs them on the caller's buffers. Notebooks call it
// by package ops, and ops/cmd/bench calls it.
//
// It returns results as tables of strings, draws nothing, and must never import an
// operator.
package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Progress receives the progress of a bench. A progress bar of kernel/display is a
// Progress.
type Progress interface {
	Step(done, total int, what string)
}

// Bench checks, times and counts the variants of one operator at one size on
// one device. It is for one goroutine at a time; gpu.Device.Interrupt from another
// goroutine ends the running call with an error.
type Bench struct {
	Progress Progress // called before each variant, if not nil
	Repeats  int      // of each timing; 0 chooses up to 50, fewer when slow
	Method   Method   // of Time

	device   gpu.Device
	modules  map[string]gpu.Module // by the name of their source; nil is closed
	operator *ladder.Operator
	size     ladder.Size
	seed     uint64
	own      bool                // the inputs are the caller's, not random
	expects  map[string]string   // of Expect, by variant
	counted  map[string]*counted // verified counts of the inputs that are there, by variant
	verified map[string]bool     // variants whose result for these inputs was right, by name

	data      ladder.DataSet
	inputs    []ladder.Values
	expected  []ladder.Expected
	memory    map[string]gpu.Buffer    // inputs and outputs by name
	whole     map[string]gpu.Buffer    // the allocations that memory is a part of
	starts    map[string]int           // of Place: where in whole memory begins
	copies    []map[string]gpu.Buffer  // of memory, for Rotated
	workspace workspace                // of a handle; nil allocates scratch for each run
	host      map[string]ladder.Values // memory that inputs and outputs are downloaded to, by name

	keepWatch bool
	kept      *watch // of KeepWatch; nil before the first call of Time

	interrupts uint64 // of the device, when the present call began
	stale      bool   // the inputs in device memory may be others: a call has failed
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
	b := &Bench{device: device, modules: map[string]gpu.Module{}, operator: operator, size: size, seed: seed,
		expects: map[string]string{}, counted: map[string]*counted{}, verified: map[string]bool{}, host: map[string]ladder.Values{}, memory: map[string]gpu.Buffer{},
		whole: map[string]gpu.Buffer{}, starts: map[string]int{}}
	b.begin()
	var err error
	if b.data, err = operator.DataSet(""); err != nil {
		return nil, err
	}
	if _, err := b.load(operator.ModuleOf(ladder.Variant{})); err != nil {
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
	file, err := b.operator.PTX(source, b.device.Info())
	if err != nil {
		return nil, err
	}
	module, err := b.device.Load(file.Name, file.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: load: %w", source, err)
	}
	b.modules[source] = module
	return module, nil
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

// prepare makes the inputs and the memory of inputs and outputs.
func (b *Bench) prepare() error {
	if err := b.allocate(); err != nil {
		return err
	}
	return b.use(b.make(b.data))
}

// make makes the inputs of a data set.
func (b *Bench) make(data ladder.DataSet) []ladder.Values {
	return data.Make(b.stopped, b.operator.Inputs(b.size), ladder.NewRandom(b.seed))
}

// UseData replaces the inputs by a data set of the operator's; the error for an
// unknown name lists the others.
func (b *Bench) UseData(name string) error {
	data, err := b.operator.DataSet(name)
	if err != nil {
		return err
	}
	b.begin()
	if err := b.use(b.make(data)); err != nil {
		return err
	}
	b.data, b.own = data, false
	return nil
}

// allocate makes the memory of inputs and outputs, in place of what there is.
func (b *Bench) allocate() error {
	if err := errors.Join(b.freeCopies()...); err != nil {
		return fmt.Errorf("ops: %s: free copies: %w", b.operator.Name, err)
	}
	for _, t := range append(b.operator.Inputs(b.size), b.operator.Outputs(b.size)...) {
		if err := b.place(t); err != nil {
			return err
		}
	}
	return nil
}

// place makes the memory of an input or output, in place of what there is.
func (b *Bench) place(t ladder.Tensor) error {
	start := b.starts[t.Name]
	whole, err := b.device.Alloc(t.Elements(), start+t.Len)
	if err != nil {
		return fmt.Errorf("ops: %s: alloc %s: %w", b.operator.Name, t.Name, err)
	}
	whole = whole.Label(t.Name)
	part := whole
	if start > 0 {
		if part, err = whole.View(start, t.Len); err != nil {
			return errors.Join(err, whole.Free())
		}
	}
	if old := b.whole[t.Name]; old != nil {
		if err := old.Free(); err != nil {
			return fmt.Errorf("ops: %s: free %s: %w", b.operator.Name, t.Name, err)
		}
	}
	b.whole[t.Name], b.memory[t.Name] = whole, part
	return nil
}

// restore uploads the inputs that a launch has changed. A fault on a GPU ends its
// context and loses the memory; restore then allocates it again.
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
func (b *Bench) use(inputs []ladder.Values) error {
	if valid := b.operator.ValidInputs; valid != nil && !b.stopped() { // interrupted data is incomplete
		if err := valid(b.size, inputs); err != nil {
			return err
		}
	}
	expected := b.operator.Reference(b.stopped, b.size, inputs)
	if err := b.interrupted("reference"); err != nil {
		return err
	}
	b.inputs, b.expected = inputs, expected
	clear(b.counted)
	clear(b.verified)
	return errors.Join(append(b.freeCopies(), b.upload(inputs))...)
}

func (b *Bench) upload(inputs []ladder.Values) error {
	b.stale = true
	for i, t := range b.operator.Inputs(b.size) {
		if err := t.Upload(b.stopped, b.memory[t.Name], inputs[i]); err != nil {
			return fmt.Errorf("ops: %s: upload %s: %w", b.operator.Name, t.Name, err)
		}
	}
	b.stale = false
	return nil
}

// SetInput replaces the random data of one input by a copy of the caller's, of the
// input's Go type and length, rounded to the input's type: []float32 also for floats
// of 16 bits.
func (b *Bench) SetInput(name string, values ladder.Values) error {
	var names []string
	for i, t := range b.operator.Inputs(b.size) {
		names = append(names, t.Name)
		if t.Name != name {
			continue
		}
		if err := t.Takes(values); err != nil {
			return fmt.Errorf("ops: %s: input %s: %w", b.operator.Name, name, err)
		}
		inputs := slices.Clone(b.inputs)
		b.begin()
		inputs[i] = t.Rounded(b.stopped, ladder.Clone(values))
		err := b.use(inputs)
		b.own = b.own || err == nil
		return err
	}
	return fmt.Errorf("ops: %s: input %q: %w, %s", b.operator.Name, name, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// Expected are the outputs of the reference.
func (b *Bench) Expected() []ladder.Expected { return b.expected }

// Place moves the start of an input or output so many elements after the start of
// its allocation, as in a caller's view: the address may then be unaligned for
// vectors.
func (b *Bench) Place(name string, start int) error {
	tensors := append(b.operator.Inputs(b.size), b.operator.Outputs(b.size)...)
	i := slices.IndexFunc(tensors, func(t ladder.Tensor) bool { return t.Name == name })
	if i < 0 || start < 0 || start > ladder.MostElements {
		return fmt.Errorf("ops: %s: place %s at element %d: %w, expected an input or output and a number from 0 to %d", b.operator.Name, name, start, gpu.ErrArgument, ladder.MostElements)
	}
	b.begin()
	before := b.starts[name]
	b.starts[name] = start
	clear(b.counted) // sectors depend on the address
	clear(b.verified)
	errs := b.freeCopies()
	if err := b.place(tensors[i]); err != nil {
		b.starts[name] = before // it lies where it lay
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(append(errs, b.upload(b.inputs))...)
}

// checks are those that Expect takes, besides faults.
var checks = []string{ladder.CheckBound, ladder.CheckTolerance, ladder.CheckNaN, ladder.CheckUnwritten, ladder.CheckBeyond, ladder.CheckInput,
	ladder.CheckOrder, ladder.CheckLength, ladder.CheckCount, ladder.CheckExact, ladder.CheckULP, ladder.CheckElements}

// Expect declares the check that a variant must fail on this bench, as its
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

// expect is the check that a variant must fail. Only the emulator guarantees faults:
// a wrong address on a GPU is undefined behaviour.
func (b *Bench) expect(v ladder.Variant) string {
	check, ok := b.expects[v.Name]
	if !ok && v.Expect != nil {
		check = v.Expect(b.size)
	}
	if kind, fault := strings.CutPrefix(check, ladder.CheckFault); fault && !b.device.Info().Emulated {
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
	if b.kept != nil {
		b.kept.close()
		b.kept = nil
	}
	errs := b.freeCopies()
	for name, buffer := range b.whole {
		errs = append(errs, buffer.Free())
		delete(b.whole, name)
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
	variants, err := b.operator.Choose(names)
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

// begin makes later interrupts of the device end the bench's computations on the
// host, too.
func (b *Bench) begin() { b.interrupts = b.device.Interrupts() }

// stopped is the Stop of the bench's computations.
func (b *Bench) stopped() bool { return b.device.Interrupts() != b.interrupts }

// interrupted is the error of an interrupted call, nil if there was no interrupt.
func (b *Bench) interrupted(what string) error {
	if !b.stopped() {
		return nil
	}
	return fmt.Errorf("ops: %s: %s: %w on the host", b.operator.Name, what, gpu.ErrInterrupted)
}

// Operator returns the operator that the bench measures.
func (b *Bench) Operator() *ladder.Operator { return b.operator }

// String names the operator, the size, the inputs and the device.
func (b *Bench) String() string {
	dims := make([]string, len(b.size))
	for i, n := range b.size {
		dims[i] = fmt.Sprintf("%s = %d", b.operator.Dims[i], n)
	}
	inputs := fmt.Sprintf("seed %d", b.seed)
	if b.own {
		inputs = "inputs of the caller"
	}
	text := fmt.Sprintf("bench of %s, %s, %s, on %v", b.operator.Name, strings.Join(dims, ", "), inputs, b.device.Info())
	if b.modules == nil {
		text += ", closed"
	}
	return text
}
