package bench

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// run is a variant ready to run: its plan, its scratch on the device, and the
// launches with their arguments.
type run struct {
	bench    *Bench
	module   gpu.Module // with the variant's entries
	variant  ladder.Variant
	plan     ladder.Plan
	launches []gpu.Launch
	scratch  map[string]gpu.Buffer // and tables
	own      []gpu.Buffer          // of scratch, to be freed
	statics  []gpu.Buffer
	tickets  []gpu.Buffer
}

func (b *Bench) newRun(v ladder.Variant) (*run, error) {
	r := &run{bench: b, variant: v, scratch: map[string]gpu.Buffer{}}
	if err := r.choose(); err != nil {
		return nil, fmt.Errorf("ops: %s: %w", v.Name, err)
	}
	r.plan = v.Plan(v.Name, b.size, b.device.Info())
	if v.Host != nil {
		return r, nil
	}
	if r.plan.Unaligned != nil && !r.aligned() {
		r.plan = r.plan.Unaligned()
	}
	err := r.load()
	if err == nil {
		err = r.allocate()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ops: %s: %w", v.Name, err), r.close())
	}
	for _, s := range r.plan.Steps {
		launch, err := r.launch(s)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("ops: %s: %w", v.Name, err), r.close())
		}
		r.launches = append(r.launches, launch)
	}
	return r, nil
}

// choose rejects variants that the device does not support, and sizes that the variant does not take.
func (r *run) choose() error {
	v, b := r.variant, r.bench
	if info := b.device.Info(); ladder.Older(info.Compute, v.Needs) {
		return fmt.Errorf("%w on %v, it needs %v", gpu.ErrUnsupported, info, v.Needs)
	}
	if v.Refuses != nil {
		return v.Refuses(b.size)
	}
	return nil
}

// load finds the module with the plan's entries.
func (r *run) load() (err error) {
	if own := r.variant.Own; own != nil {
		r.module, err = own.Module().On(r.bench.device)
	} else {
		r.module, err = r.bench.load(r.source())
	}
	return err
}

// source is the name of the source of the plan's entries.
func (r *run) source() string { return cmp.Or(r.plan.Module, r.bench.operator.ModuleOf(r.variant)) }

// aligned reports whether the matrices of the plan's maps start where the copy
// engine takes them, as all scratch does.
func (r *run) aligned() bool {
	for _, s := range r.plan.Steps {
		for _, arg := range s.Args {
			m, _ := arg.(ladder.TensorMap)
			if buffer, ok := r.bench.memory[m.Tensor]; ok {
				if _, err := m.Of(buffer); errors.Is(err, gpu.ErrUnsupported) {
					return false
				}
			}
		}
	}
	return true
}

func (r *run) allocate() error {
	for _, t := range r.plan.Scratch {
		if r.bench.workspace == nil {
			if err := r.alloc(t); err != nil {
				return err
			}
			continue
		}
		buffer, err := r.bench.workspace.alloc(r.bench.device, t)
		if err != nil {
			return fmt.Errorf("alloc %s: %w", t.Name, err)
		}
		r.scratch[t.Name] = buffer
	}
	for _, t := range r.plan.Tables {
		if err := r.alloc(t.Tensor); err != nil {
			return err
		}
		buffer := r.scratch[t.Name]
		if err := t.Upload(r.bench.stopped, buffer, t.Values); err != nil {
			return fmt.Errorf("upload %s: %w", t.Name, err)
		}
	}
	for _, name := range r.plan.Statics {
		buffer, err := r.module.Global(name)
		if err != nil {
			return err
		}
		r.statics = append(r.statics, buffer)
	}
	for _, c := range r.plan.Consts {
		if err := r.fill(c); err != nil {
			return fmt.Errorf("fill %s with %s: %w", c.Variable, c.Tensor, err)
		}
	}
	for _, name := range r.plan.Tickets {
		buffer, err := r.module.Global(name)
		if err != nil {
			return err
		}
		r.tickets = append(r.tickets, buffer)
	}
	return nil
}

// alloc makes scratch for this run alone.
func (r *run) alloc(t ladder.Tensor) error {
	buffer, err := r.bench.device.Alloc(t.Elements(), t.Len)
	if err != nil {
		return fmt.Errorf("alloc %s: %w", t.Name, err)
	}
	r.scratch[t.Name] = buffer.Label(t.Name)
	r.own = append(r.own, buffer)
	return nil
}

// fill copies a tensor to a variable of the module.
func (r *run) fill(c ladder.Const) error {
	from := r.memory(c.Tensor)
	values := make([]float32, from.Len())
	if err := from.Download(values); err != nil {
		return err
	}
	if c.Reversed {
		slices.Reverse(values)
	}
	all, err := r.module.Global(c.Variable)
	if err != nil {
		return err
	}
	if all.Len() < 4*len(values) {
		return fmt.Errorf("%w: %d elements of 4 bytes for a variable of %d bytes: the plan refuses such sizes first", gpu.ErrArgument, len(values), all.Len())
	}
	bytes, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		return err
	}
	part, err := all.View(0, len(bytes))
	if err != nil {
		return err
	}
	return part.Upload(bytes)
}

// launch gives a step its entry and its memory.
func (r *run) launch(s ladder.Step) (gpu.Launch, error) {
	entry, err := r.module.Entry(s.Entry)
	if err != nil {
		return gpu.Launch{}, err
	}
	l := gpu.Launch{Entry: entry, Grid: s.Grid, Block: s.Block, Shared: s.Shared}
	for _, arg := range s.Args {
		switch a := arg.(type) {
		case string:
			arg = r.memory(a)
		case ladder.Argument:
			if arg, err = a(r.memory); err != nil {
				return gpu.Launch{}, err
			}
		case ladder.TensorMap:
			if arg, err = a.Of(r.memory(a.Tensor)); err != nil {
				return gpu.Launch{}, err
			}
		}
		l.Args = append(l.Args, arg)
	}
	for _, name := range s.Zero {
		l.Zero = append(l.Zero, r.memory(name))
	}
	return l, nil
}

// memory is an input, an output or scratch by name.
func (r *run) memory(name string) gpu.Buffer {
	if buffer, ok := r.scratch[name]; ok {
		return buffer
	}
	buffer, ok := r.bench.memory[name]
	if !ok {
		panic("ops: " + r.variant.Name + ": the plan names " + name + ", which is no input, output or scratch")
	}
	return buffer
}

// close frees the scratch.
func (r *run) close() error {
	var errs []error
	for _, buffer := range r.own {
		errs = append(errs, buffer.Free())
	}
	return errors.Join(errs...)
}

// poison fills the outputs and all scratch, so that what a run does not write
// or reads before it is written shows in its result, and clears the tickets.
func (r *run) poison() error {
	var errs []error
	for i, t := range r.bench.operator.Outputs(r.bench.size) {
		errs = append(errs, t.Upload(r.bench.stopped, r.memory(t.Name), t.PoisonedFor(r.bench.expected[i])))
	}
	for _, t := range r.plan.Scratch {
		errs = append(errs, t.Upload(r.bench.stopped, r.memory(t.Name), t.Poisoned()))
	}
	for _, buffer := range r.statics {
		errs = append(errs, buffer.Upload(poisonedBytes(buffer.Len())))
	}
	return errors.Join(append(errs, r.clearTickets())...)
}

// clearTickets sets them to 0: a run that was interrupted left them as they were.
func (r *run) clearTickets() error {
	var errs []error
	for _, buffer := range r.tickets {
		errs = append(errs, buffer.Upload(make([]uint8, buffer.Len())))
	}
	return errors.Join(errs...)
}

// once runs the variant once and returns its outputs and how long the run took
// here, launches and waiting included. A plan without steps zeroes the outputs.
func (r *run) once() (outputs []ladder.Values, took time.Duration, err error) {
	if r.variant.Host != nil {
		outputs = r.newOutputs()
		start := time.Now()
		r.variant.Host(r.bench.stopped, r.bench.size, r.bench.inputs, outputs)
		return outputs, time.Since(start), nil
	}
	if err := r.poison(); err != nil {
		return nil, 0, err
	}
	start := time.Now()
	if err := r.submit(r.bench.checks()); err != nil {
		return nil, 0, err
	}
	took = time.Since(start)
	outputs, err = r.download()
	return outputs, took, err
}

// again runs a variant once whose result was right before, and returns how long it
// took. It overwrites the outputs first, so that a result that an earlier variant left
// does not pass for its own: with zeros on the device, or with the poison that must
// remain beyond a count.
func (r *run) again() (took time.Duration, err error) {
	b := r.bench
	for _, t := range b.operator.Outputs(b.size) {
		switch {
		case t.Len == 0:
		case t.Count != "":
			err = errors.Join(err, t.Upload(b.stopped, r.memory(t.Name), t.Poisoned()))
		default:
			err = errors.Join(err, b.device.Zero(r.memory(t.Name)))
		}
	}
	if err = errors.Join(err, r.clearTickets(), b.device.Sync()); err == nil {
		start := time.Now()
		err = r.submit(b.checks())
		took = time.Since(start)
	}
	if err != nil {
		return 0, fmt.Errorf("ops: %s: %w", r.variant.Name, err)
	}
	return took, nil
}

// searchedBytes is the most memory of inputs and outputs in which races between blocks
// are looked for: the emulator keeps 56 bytes for each word that a launch touches. At
// 25.6 million floats that took 24 GB in a check of the reduce ladder.
const searchedBytes = 16 << 20

// checks are those that the device makes of the launches of a check.
func (b *Bench) checks() gpu.Checks {
	checks, bytes := b.device.Info().Checks, 0
	for _, t := range append(b.operator.Inputs(b.size), b.operator.Outputs(b.size)...) {
		bytes += t.Len * t.Elements().Bytes()
	}
	if bytes > searchedBytes {
		checks &^= gpu.CheckBlockRaces
	}
	return checks
}

// hostMemory is memory that an input or output is downloaded to, which replaces every
// element. It is the same memory each time: at a gigabyte, new pages cost more than
// the copy.
func (b *Bench) hostMemory(t ladder.Tensor) ladder.Values {
	if b.host[t.Name] == nil {
		b.host[t.Name] = t.Make()
	}
	return b.host[t.Name]
}

// newOutputs is host memory for the outputs, poisoned.
func (r *run) newOutputs() (outputs []ladder.Values) {
	for _, t := range r.bench.operator.Outputs(r.bench.size) {
		outputs = append(outputs, t.Poisoned())
	}
	return outputs
}

// submit launches the plan and waits for it.
func (r *run) submit(checks gpu.Checks) error {
	if err := r.enqueue(checks); err != nil {
		return err
	}
	return r.bench.device.Sync()
}

// enqueue launches the plan. Without steps it zeroes the outputs.
func (r *run) enqueue(checks gpu.Checks) error {
	device := r.bench.device
	if len(r.launches) == 0 {
		for _, t := range r.bench.operator.Outputs(r.bench.size) {
			if t.Len == 0 {
				continue
			}
			if err := device.Zero(r.memory(t.Name)); err != nil {
				return err
			}
		}
	}
	for _, l := range r.launches {
		l.Checks = checks
		if err := device.Launch(l); err != nil {
			if earlier := device.Sync(); earlier != nil {
				return earlier
			}
			return err
		}
	}
	return nil
}

// download reads the outputs into the bench's host memory, where they stay until the
// next download.
func (r *run) download() (outputs []ladder.Values, err error) {
	for _, t := range r.bench.operator.Outputs(r.bench.size) {
		values := r.bench.hostMemory(t)
		if err := t.Download(r.bench.stopped, r.memory(t.Name), values); err != nil {
			return nil, err
		}
		outputs = append(outputs, values)
	}
	return outputs, nil
}

func poisonedBytes(n int) []uint8 {
	x := make([]uint8, n)
	for i := range x {
		x[i] = [4]uint8{0xed, 0x5e, 0xc0, 0x7f}[i%4] // little-endian, as devices are
	}
	return x
}
