package bench

import (
	"errors"
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/trace"
	"warpbook/ops/results"
)

// Touches runs a rung's first launch once on PTX that notes its accesses, and returns which
// thread of which block loads which element of an input, or stores which of an output: its
// ordinary loads and stores, not copies by cp.async or the copy engine. A rung of a cell, which
// has no committed PTX, and one with more accesses than a trace holds are errors.
func Touches(b *Bench, variant, tensor string) (*results.Touches, error) {
	v, err := b.operator.Variant(variant)
	if err != nil {
		return nil, err
	}
	if v.Host != nil || v.Own != nil || v.Picks {
		return nil, fmt.Errorf("ops: %s: touches: %w, expected a rung with committed PTX that launches itself", v.Name, gpu.ErrUnsupported)
	}
	width, kind := 0, trace.Load // bytes of an element
	for _, t := range b.tensors() {
		if t.Name == tensor {
			width = t.Elements().Bytes()
		}
	}
	for _, t := range b.outputTensors() {
		if t.Name == tensor {
			kind = trace.Store
		}
	}
	if width == 0 {
		return nil, fmt.Errorf("ops: %s: touches: no tensor %q: %w", b.operator.Name, tensor, gpu.ErrNotFound)
	}
	r, err := b.prepare(v)
	if err != nil {
		return nil, err
	}
	touches, err := r.touches(r.Memory(tensor), width, kind)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("ops: %s: touches: %w", v.Name, err)
	}
	touches.Rung, touches.Tensor = v.Name, tensor
	return touches, nil
}

func (r *trial) touches(memory gpu.Buffer, width int, kind trace.Kind) (*results.Touches, error) {
	device := r.bench.site.Device
	file, err := r.bench.operator.PTX(r.Source(), device.Info())
	if err != nil {
		return nil, err
	}
	at, err := trace.Addresses(device, []gpu.Buffer{memory})
	if err != nil {
		return nil, err
	}
	if err := r.poison(); err != nil {
		return nil, err
	}
	l := r.Launches[0]
	wanted := func(i trace.Instruction) bool { return !i.Shared && i.Kind == kind }
	events, more, err := trace.Run(device, file.Name, file.Text, l, l.Entry.Name(), wanted)
	switch {
	case err != nil:
		return nil, err
	case more:
		return nil, fmt.Errorf("%w: more than %d loads or stores of global memory, expected a smaller size", gpu.ErrUnsupported, trace.Most)
	}
	all := &results.Touches{Device: fmt.Sprint(device.Info()), Stores: kind == trace.Store}
	end := at[0] + uint64(memory.Len()*memory.Type().Bytes())
	grid, block := l.Grid.Full(), l.Block.Full()
	for _, e := range events {
		for byte := uint64(0); byte < uint64(e.Bytes); byte += uint64(width) {
			if address := e.Address + byte; address >= at[0] && address < end {
				all.Of = append(all.Of, results.Touch{
					Block:   (e.Block.Z*grid.Y+e.Block.Y)*grid.X + e.Block.X,
					Thread:  (e.Thread.Z*block.Y+e.Thread.Y)*block.X + e.Thread.X,
					Element: int(address-at[0]) / width,
				})
			}
		}
	}
	return all, nil
}
