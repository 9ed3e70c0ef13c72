package bench

import (
	"errors"
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/run"
)

// data is what the rungs of a bench compute: its inputs and expected outputs on the
// host, and their memory on the device.
type data struct {
	site     *run.Site
	seed     uint64
	set      ladder.DataSet
	own      bool // the inputs are the caller's, not random
	inputs   []ladder.Values
	expected []ladder.Expected
	counted  map[string]*counted // verified counts of these inputs, by rung
	verified map[string]bool     // variants whose result for these inputs was right, by name

	whole  map[string]gpu.Buffer    // the allocations that the site's memory is a part of
	starts map[string]int           // of Place: where in whole memory begins
	copies []map[string]gpu.Buffer  // of the site's memory, for Rotated
	host   map[string]ladder.Values // memory that inputs and outputs are downloaded to, by name

	interrupts uint64 // of the device, when the present call began
	stale      bool   // the inputs in device memory may be others: a call has failed
}

// newData is the data of a bench before any is made.
func newData(device gpu.Device, operator *ladder.Operator, seed uint64, size ladder.Size) *data {
	d := &data{seed: seed, counted: map[string]*counted{}, verified: map[string]bool{}, host: map[string]ladder.Values{}, whole: map[string]gpu.Buffer{}, starts: map[string]int{},
		site: &run.Site{Device: device, Operator: operator, Size: size, Memory: map[string]gpu.Buffer{}, Modules: run.Modules{}}}
	d.site.Stopped = d.stopped
	return d
}

// tensors are the inputs and outputs.
func (d *data) tensors() []ladder.Tensor { return append(d.inputTensors(), d.outputTensors()...) }

func (d *data) inputTensors() []ladder.Tensor { return d.site.Operator.Inputs(d.site.Size) }

func (d *data) outputTensors() []ladder.Tensor { return d.site.Operator.Outputs(d.site.Size) }

// begin makes later interrupts of the device end computations on the host, too.
func (d *data) begin() { d.interrupts = d.site.Device.Interrupts() }

// stopped is the Stop of computations on the host.
func (d *data) stopped() bool { return d.site.Device.Interrupts() != d.interrupts }

// interrupted is the error of an interrupted call, nil if there was no interrupt.
func (d *data) interrupted(what string) error {
	if !d.stopped() {
		return nil
	}
	return fmt.Errorf("ops: %s: %s: %w on the host", d.site.Operator.Name, what, gpu.ErrInterrupted)
}

// make makes the inputs of a data set.
func (d *data) make(set ladder.DataSet) []ladder.Values {
	return set.Make(d.stopped, d.inputTensors(), ladder.NewRandom(d.seed))
}

// allocate makes the memory of inputs and outputs, in place of what there is.
func (d *data) allocate() error {
	if err := errors.Join(d.freeCopies()...); err != nil {
		return fmt.Errorf("ops: %s: free copies: %w", d.site.Operator.Name, err)
	}
	for _, t := range d.tensors() {
		if err := d.place(t); err != nil {
			return err
		}
	}
	return nil
}

// place makes the memory of an input or output, in place of what there is.
func (d *data) place(t ladder.Tensor) error {
	name, start := d.site.Operator.Name, d.starts[t.Name]
	whole, err := d.site.Device.Alloc(t.Elements(), start+t.Len)
	if err != nil {
		return fmt.Errorf("ops: %s: alloc %s: %w", name, t.Name, err)
	}
	whole = whole.Label(t.Name)
	part := whole
	if start > 0 {
		if part, err = whole.View(start, t.Len); err != nil {
			return errors.Join(err, whole.Free())
		}
	}
	if old := d.whole[t.Name]; old != nil {
		if err := old.Free(); err != nil {
			return fmt.Errorf("ops: %s: free %s: %w", name, t.Name, err)
		}
	}
	d.whole[t.Name], d.site.Memory[t.Name] = whole, part
	return nil
}

// move places an input or output so many elements after the start of its allocation.
func (d *data) move(t ladder.Tensor, start int) error {
	before := d.starts[t.Name]
	d.starts[t.Name] = start
	d.forget() // sectors depend on the address
	errs := d.freeCopies()
	if err := d.place(t); err != nil {
		d.starts[t.Name] = before // the old memory stays
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(append(errs, d.upload(d.inputs))...)
}

// use uploads inputs and computes what the outputs must be. An interrupt before the
// upload changes nothing.
func (d *data) use(inputs []ladder.Values) error {
	if valid := d.site.Operator.ValidInputs; valid != nil && !d.stopped() { // interrupted data is incomplete
		if err := valid(d.site.Size, inputs); err != nil {
			return err
		}
	}
	expected := d.site.Operator.Reference(d.stopped, d.site.Size, inputs)
	if err := d.interrupted("reference"); err != nil {
		return err
	}
	d.inputs, d.expected = inputs, expected
	d.forget()
	return errors.Join(append(d.freeCopies(), d.upload(inputs))...)
}

// forget makes every rung verify and count its result again.
func (d *data) forget() {
	clear(d.counted)
	clear(d.verified)
}

func (d *data) upload(inputs []ladder.Values) error {
	d.stale = true
	for i, t := range d.inputTensors() {
		if err := t.Upload(d.stopped, d.site.Memory[t.Name], inputs[i]); err != nil {
			return fmt.Errorf("ops: %s: upload %s: %w", d.site.Operator.Name, t.Name, err)
		}
	}
	d.stale = false
	return nil
}

// restore uploads the inputs that a launch has changed. A fault on a GPU ends its
// context and loses the memory; restore then allocates it again.
func (d *data) restore() error {
	err := d.upload(d.inputs)
	if !errors.Is(err, gpu.ErrClosed) {
		return err
	}
	if err := d.allocate(); err != nil {
		return err
	}
	return d.upload(d.inputs)
}

// with are the inputs with a copy of the caller's values in place of one of them.
func (d *data) with(name string, values ladder.Values) ([]ladder.Values, error) {
	var names []string
	for i, t := range d.inputTensors() {
		names = append(names, t.Name)
		if t.Name != name {
			continue
		}
		if err := t.Takes(values); err != nil {
			return nil, fmt.Errorf("ops: %s: input %s: %w", d.site.Operator.Name, name, err)
		}
		inputs := slices.Clone(d.inputs)
		inputs[i] = t.Rounded(d.stopped, ladder.Clone(values))
		return inputs, nil
	}
	return nil, fmt.Errorf("ops: %s: input %q: %w, %s", d.site.Operator.Name, name, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// describe names the set and the seed of the inputs.
func (d *data) describe() string {
	if d.own {
		return "given by the caller"
	}
	return fmt.Sprintf("%s, seed %d", d.set.Describe(d.inputTensors()), d.seed)
}

// hostMemory is memory that an input or output is downloaded to, which replaces every
// element. It is the same memory each time: at a gigabyte, new pages cost more than
// the copy.
func (d *data) hostMemory(t ladder.Tensor) ladder.Values {
	if d.host[t.Name] == nil {
		d.host[t.Name] = t.Make()
	}
	return d.host[t.Name]
}

// rotated are copies of the inputs and outputs on the device, as many as are wanted.
func (d *data) rotated(wanted int) ([]map[string]gpu.Buffer, error) {
	for len(d.copies) < wanted {
		made := map[string]gpu.Buffer{}
		d.copies = append(d.copies, made)
		for _, t := range d.tensors() {
			buffer, err := d.site.Device.Alloc(t.Elements(), t.Len)
			if err != nil {
				return nil, err
			}
			made[t.Name] = buffer.Label(fmt.Sprintf("%s of copy %d", t.Name, len(d.copies)))
			if err := d.site.Device.Copy(buffer, d.site.Memory[t.Name]); err != nil {
				return nil, err
			}
		}
	}
	return d.copies[:wanted], d.site.Device.Sync()
}

// freeCopies releases the copies of rotated: the data changes, or the bench ends.
func (d *data) freeCopies() (errs []error) {
	for _, memory := range d.copies {
		for _, buffer := range memory {
			errs = append(errs, buffer.Free())
		}
	}
	d.copies = nil
	return errs
}

// free releases the memory on the device.
func (d *data) free() (errs []error) {
	errs = d.freeCopies()
	for name, buffer := range d.whole {
		errs = append(errs, buffer.Free())
		delete(d.whole, name)
		delete(d.site.Memory, name)
	}
	return errs
}
