package emu

import (
	"encoding/binary"
	"fmt"

	"warpbook/gpu"
)

// prepare checks a launch and stores its parameters.
func (d *Device) prepare(l gpu.Launch) (*launch, error) {
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
	p := e.program
	block := l.Block.Full()
	run := &launch{
		dev: d, prog: p, info: d.info, grid: l.Grid.Full(), block: block, threads: block.Size(),
		dynamic: l.Shared, params: make([]byte, p.paramBytes+8), count: l.Counters != nil, trace: l.Profile != nil, checks: l.Checks, limit: d.stepLimit.Load(),
	}
	run.cluster = p.clusterDim()
	if run.cluster.Size() == 1 {
		run.order = BlockOrder(d.order.Load())
	}
	if err := run.checkClusters(); err != nil {
		return nil, err
	}
	if err := run.arguments(l); err != nil {
		return nil, err
	}
	return run, run.cooperate(l)
}

// arguments stores a launch's arguments.
func (run *launch) arguments(l gpu.Launch) error {
	p := run.prog
	for i, a := range l.Args {
		param := run.params[p.paramAt[i]:][:p.params[i].Bytes()]
		if m, ok := a.(gpu.TensorMap); ok {
			if err := encodeTensorMap(param, m, run.info); err != nil {
				return fmt.Errorf("emu: launch %s: argument %d, %s: %w", p.name, i, p.params[i].Name, err)
			}
			continue
		}
		if o, ok := a.(gpu.Object); ok {
			if err := run.object(param, o); err != nil {
				return fmt.Errorf("emu: launch %s: argument %d, %s: %w", p.name, i, p.params[i].Name, err)
			}
			continue
		}
		gpu.PutArgument(param, a, func(at int, b gpu.Buffer) {
			binary.LittleEndian.PutUint64(param[at:], b.(*buffer).address())
		})
	}
	run.source = l.Source
	run.buffers = make([]*buffer, len(l.Args))
	for i, a := range l.Args {
		run.buffers[i], _ = a.(*buffer)
	}
	run.findOrigins()
	run.paramContents = wrap(run.params[:p.paramBytes])
	return nil
}

// object puts the number of a texture or surface object in place.
func (run *launch) object(param []byte, o gpu.Object) error {
	x, ok := o.(*object)
	if !ok {
		return fmt.Errorf("%w: a %s object of another device", gpu.ErrArgument, o.What())
	}
	binary.LittleEndian.PutUint64(param, x.number)
	return x.usable(run.dev)
}

// release frees the prepared launch, whether it ran or not.
func (run *launch) release() {
	if run.workspace != nil {
		run.dev.mem.Free(run.workspace)
	}
}

// cooperate checks that all blocks of a cooperative launch fit and gives them the memory
// of CUDA's grid.sync(): a word at offset 4 of memory whose address is in %envreg1 and
// %envreg2.
func (run *launch) cooperate(l gpu.Launch) error {
	if !l.Cooperative {
		return nil
	}
	if err := gpu.CheckCooperative(run.info, l, run.perSM()); err != nil {
		return err
	}
	const workspaceBytes = 8
	a, err := run.dev.mem.Alloc(workspaceBytes, "the workspace of grid.sync()")
	if err != nil {
		return err
	}
	c := a.Contents.Load()
	clear(c.Data)
	c.Wrote(0, workspaceBytes)
	run.workspace = a
	return nil
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
