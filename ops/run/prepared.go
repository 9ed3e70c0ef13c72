package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Prepared is a rung ready to run at a site: its plan, its scratch on the device,
// and the launches with their arguments. A rung that runs on the host has no more
// than its plan.
type Prepared struct {
	Variant  ladder.Variant
	Plan     ladder.Plan
	Launches []gpu.Launch

	site    *Site
	module  gpu.Module            // with the rung's entries
	scratch map[string]gpu.Buffer // and tables
	own     []gpu.Buffer          // of scratch, to be freed
	statics []gpu.Buffer
	tickets []gpu.Buffer
}

// Prepare makes a rung ready to run. Close frees its scratch.
func (s *Site) Prepare(v ladder.Variant) (*Prepared, error) {
	if err := s.Supports(v); err != nil {
		return nil, fmt.Errorf("ops: %s: %w", v.Name, err)
	}
	p := &Prepared{Variant: v, Plan: v.Plan(v.Name, s.Size, s.Device.Info()), site: s, scratch: map[string]gpu.Buffer{}}
	if v.Host != nil {
		return p, nil
	}
	if p.Plan.Unaligned != nil && !p.aligned() {
		p.Plan = p.Plan.Unaligned()
	}
	if err := p.fillIn(); err != nil {
		return nil, errors.Join(fmt.Errorf("ops: %s: %w", v.Name, err), p.Close())
	}
	return p, nil
}

// fillIn loads the module, allocates the scratch and makes the launches.
func (p *Prepared) fillIn() (err error) {
	if p.module, err = p.site.load(p.Variant, p.Plan); err != nil {
		return err
	}
	if err := p.allocate(); err != nil {
		return err
	}
	for _, step := range p.Plan.Steps {
		launch, err := p.launch(step)
		if err != nil {
			return err
		}
		p.Launches = append(p.Launches, launch)
	}
	return nil
}

// Source is the name of the source that has the plan's entries.
func (p *Prepared) Source() string { return p.site.Source(p.Variant, p.Plan) }

// aligned reports whether the matrices of the plan's maps start where the copy
// engine takes them, as all scratch does.
func (p *Prepared) aligned() bool {
	for _, step := range p.Plan.Steps {
		for _, arg := range step.Args {
			m, _ := arg.(ladder.TensorMap)
			if buffer, ok := p.site.Memory[m.Tensor]; ok {
				if _, err := m.Of(buffer); errors.Is(err, gpu.ErrUnsupported) {
					return false
				}
			}
		}
	}
	return true
}

// allocate makes scratch and tables, and finds the variables of the module.
func (p *Prepared) allocate() (err error) {
	for _, t := range p.Plan.Scratch {
		if err := p.allocScratch(t); err != nil {
			return err
		}
	}
	for _, t := range p.Plan.Tables {
		if err := p.alloc(t.Tensor); err != nil {
			return err
		}
		if err := t.Upload(p.site.Stopped, p.scratch[t.Name], t.Values); err != nil {
			return fmt.Errorf("upload %s: %w", t.Name, err)
		}
	}
	if p.statics, err = p.globals(p.Plan.Statics); err != nil {
		return err
	}
	if err := p.FillConsts(); err != nil {
		return err
	}
	p.tickets, err = p.globals(p.Plan.Tickets)
	return err
}

// FillConsts copies inputs to the plan's variables in constant memory, which Prepare does
// for those of that time.
func (p *Prepared) FillConsts() error {
	for _, c := range p.Plan.Consts {
		if err := p.fill(c); err != nil {
			return fmt.Errorf("fill %s with %s: %w", c.Variable, c.Tensor, err)
		}
	}
	return nil
}

// globals are variables of the module, by name.
func (p *Prepared) globals(names []string) (all []gpu.Buffer, err error) {
	for _, name := range names {
		buffer, err := p.module.Global(name)
		if err != nil {
			return nil, err
		}
		all = append(all, buffer)
	}
	return all, nil
}

// allocScratch takes scratch from the site's workspace, if it has one.
func (p *Prepared) allocScratch(t ladder.Tensor) error {
	if p.site.scratch == nil {
		return p.alloc(t)
	}
	buffer, err := p.site.scratch.alloc(p.site.Device, t)
	if err != nil {
		return fmt.Errorf("alloc %s: %w", t.Name, err)
	}
	p.scratch[t.Name] = buffer
	return nil
}

// alloc makes scratch for this rung alone.
func (p *Prepared) alloc(t ladder.Tensor) error {
	buffer, err := p.site.Device.Alloc(t.Elements(), t.Len)
	if err != nil {
		return fmt.Errorf("alloc %s: %w", t.Name, err)
	}
	p.scratch[t.Name] = buffer.Label(t.Name)
	p.own = append(p.own, buffer)
	return nil
}

// fill copies a tensor to a variable of the module.
func (p *Prepared) fill(c ladder.Const) error {
	from := p.Memory(c.Tensor)
	values := make([]float32, from.Len())
	if err := from.Download(values); err != nil {
		return err
	}
	if c.Reversed {
		slices.Reverse(values)
	}
	all, err := p.module.Global(c.Variable)
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
func (p *Prepared) launch(s ladder.Step) (gpu.Launch, error) {
	entry, err := p.module.Entry(s.Entry)
	if err != nil {
		return gpu.Launch{}, err
	}
	l := gpu.Launch{Entry: entry, Grid: s.Grid, Block: s.Block, Shared: s.Shared}
	for _, arg := range s.Args {
		switch a := arg.(type) {
		case string:
			arg = p.Memory(a)
		case ladder.Argument:
			if arg, err = a(p.Memory); err != nil {
				return gpu.Launch{}, err
			}
		case ladder.TensorMap:
			if arg, err = a.Of(p.Memory(a.Tensor)); err != nil {
				return gpu.Launch{}, err
			}
		}
		l.Args = append(l.Args, arg)
	}
	for _, name := range s.Zero {
		l.Zero = append(l.Zero, p.Memory(name))
	}
	return l, nil
}

// LaunchesOn are the first n launches of the plan with other memory for the inputs and
// outputs, and with the same scratch.
func (p *Prepared) LaunchesOn(memory map[string]gpu.Buffer, n int) (launches []gpu.Launch, err error) {
	site := *p.site
	site.Memory = memory
	other := *p
	other.site = &site
	for _, step := range p.Plan.Steps[:n] {
		l, err := other.launch(step)
		if err != nil {
			return nil, err
		}
		launches = append(launches, l)
	}
	return launches, nil
}

// Memory is an input, an output or scratch by name.
func (p *Prepared) Memory(name string) gpu.Buffer {
	if buffer, ok := p.scratch[name]; ok {
		return buffer
	}
	buffer, ok := p.site.Memory[name]
	if !ok {
		panic("ops: " + p.Variant.Name + ": the plan names " + name + ", which is no input, output or scratch")
	}
	return buffer
}

// PoisonScratch fills scratch and static variables with poison, so that a read of
// memory that the run has not written shows in its result.
func (p *Prepared) PoisonScratch() error {
	var errs []error
	for _, t := range p.Plan.Scratch {
		errs = append(errs, t.Upload(p.site.Stopped, p.Memory(t.Name), t.Poisoned()))
	}
	for _, buffer := range p.statics {
		errs = append(errs, buffer.Upload(poisonedBytes(buffer.Len())))
	}
	return errors.Join(errs...)
}

func poisonedBytes(n int) []uint8 {
	x := make([]uint8, n)
	for i := range x {
		x[i] = [4]uint8{0xed, 0x5e, 0xc0, 0x7f}[i%4] // little-endian, as devices are
	}
	return x
}

// ClearTickets sets the tickets to 0. An interrupted run leaves them at another value.
func (p *Prepared) ClearTickets() error {
	var errs []error
	for _, buffer := range p.tickets {
		errs = append(errs, buffer.Upload(make([]uint8, buffer.Len())))
	}
	return errors.Join(errs...)
}

// Submit launches the plan and waits for it.
func (p *Prepared) Submit(checks gpu.Checks) error {
	if err := p.Enqueue(checks); err != nil {
		return err
	}
	return p.site.Device.Sync()
}

// Enqueue launches the plan. Without steps it zeroes the outputs.
func (p *Prepared) Enqueue(checks gpu.Checks) error {
	device := p.site.Device
	if len(p.Launches) == 0 {
		return p.zeroOutputs()
	}
	for _, l := range p.Launches {
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

// zeroOutputs sets every output to 0.
func (p *Prepared) zeroOutputs() error {
	for _, t := range p.site.Operator.Outputs(p.site.Size) {
		if t.Len == 0 {
			continue
		}
		if err := p.site.Device.Zero(p.Memory(t.Name)); err != nil {
			return err
		}
	}
	return nil
}

// Close frees the scratch that is not the site's.
func (p *Prepared) Close() error {
	var errs []error
	for _, buffer := range p.own {
		errs = append(errs, buffer.Free())
	}
	return errors.Join(errs...)
}
