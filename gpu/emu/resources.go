package emu

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/emu/engine"
	"warpbook/gpu/emu/mem"
)

// resources are the arguments of launches, as the engine needs them.
type resources struct{ dev *Device }

// Allocation is the memory of a buffer.
func (r resources) Allocation(b gpu.Buffer) (*mem.Allocation, int) {
	x := b.(*buffer)
	return x.memory, x.offset
}

// Object is the number of a texture or surface object.
func (r resources) Object(o gpu.Object) (uint64, error) {
	x, ok := o.(*object)
	if !ok {
		return 0, fmt.Errorf("%w: a %s object of another device", gpu.ErrArgument, o.What())
	}
	return x.number, x.usable(r.dev)
}

// Waiting reports whether work of another stream that writes memory waits for the running
// launch, or the host may write memory that it shares with the device.
func (r resources) Waiting() bool {
	d := r.dev
	return d.run.writers.Load() > 0 || d.hostWrites != nil && d.hostWrites()
}

// prepare checks a launch and stores its arguments.
func (d *Device) prepare(l gpu.Launch) (*engine.Launch, error) {
	e, ok := l.Entry.(*entry)
	if !ok || e.module.dev != d {
		return nil, fmt.Errorf("emu: launch: %w: the entry is not of this device, load the module on it", gpu.ErrArgument)
	}
	if e.module.closed.Load() {
		return nil, fmt.Errorf("emu: launch %s: %w: its module was closed", e.Name(), gpu.ErrClosed)
	}
	if err := gpu.CheckLaunch(d.info, l, d.own); err != nil {
		return nil, err
	}
	if err := d.fits(l); err != nil {
		return nil, err
	}
	return d.engine.Prepare(e.program, l)
}

// own checks that a buffer belongs to this device and is alive.
func (d *Device) own(b gpu.Buffer) error {
	x, ok := b.(*buffer)
	if !ok || x.dev != d {
		return fmt.Errorf("%w: a buffer of another device", gpu.ErrArgument)
	}
	if x.memory.Contents.Load() == nil {
		return fmt.Errorf("%w: %s was freed", gpu.ErrClosed, x.memory.Name())
	}
	return nil
}
