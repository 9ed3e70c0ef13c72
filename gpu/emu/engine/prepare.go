package engine

import (
	"encoding/binary"
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/emu/copyengine"
	"warpbook/gpu/emu/mem"
)

// Prepare returns a launch of a program that is ready to run, with copies of its
// arguments. gpu.CheckLaunch has accepted the launch. The caller releases it, whether it
// runs or not.
func (e *Engine) Prepare(p *Program, l gpu.Launch) (*Launch, error) {
	if err := p.checkCluster(l); err != nil {
		return nil, err
	}
	block := l.Block.Full()
	run := &Launch{
		engine: e, prog: p, info: e.info, grid: l.Grid.Full(), block: block, threads: block.Size(),
		dynamic: l.Shared, params: make([]byte, p.paramBytes+8), checks: l.Checks, limit: e.stepLimit.Load(), goOn: e.goOn.Load(), stack: e.stack.Load(),
		into: results{l.Counters, l.Warnings}, races: search{}, explain: explanations{},
	}
	run.cluster = l.ClusterShape()
	if run.cluster.Size() == 1 {
		run.order = BlockOrder(e.order.Load())
	}
	run.observe = run.follow
	if l.Profile != nil {
		run.profiled(l.Profile)
	}
	if err := run.arguments(l); err != nil {
		return nil, err
	}
	return run, run.cooperate(l)
}

// arguments stores a launch's arguments.
func (run *Launch) arguments(l gpu.Launch) error {
	p, resources := run.prog, run.engine.resources
	address := func(b gpu.Buffer) uint64 {
		a, offset := resources.Allocation(b)
		return a.Address() + uint64(offset)
	}
	for i, a := range l.Args {
		param := run.params[p.paramAt[i]:][:p.params[i].Bytes()]
		if m, ok := a.(gpu.TensorMap); ok {
			if err := copyengine.EncodeTensorMap(param, m, address(m.Buffer), run.info); err != nil {
				return fmt.Errorf("emu: launch %s: argument %d, %s: %w", p.name, i, p.params[i].Name, err)
			}
			continue
		}
		if o, ok := a.(gpu.Object); ok {
			number, err := resources.Object(o)
			if err != nil {
				return fmt.Errorf("emu: launch %s: argument %d, %s: %w", p.name, i, p.params[i].Name, err)
			}
			binary.LittleEndian.PutUint64(param, number)
			continue
		}
		gpu.PutArgument(param, a, func(at int, b gpu.Buffer) {
			binary.LittleEndian.PutUint64(param[at:], address(b))
		})
	}
	run.source = l.Source
	run.buffers = make([]*mem.Allocation, len(l.Args))
	for i, a := range l.Args {
		if b, ok := a.(gpu.Buffer); ok {
			run.buffers[i], _ = resources.Allocation(b)
		}
	}
	run.findOrigins()
	run.paramContents = mem.Wrap(run.params[:p.paramBytes])
	return nil
}

// Release frees what the launch needed, whether it ran or not.
func (run *Launch) Release() {
	if run.workspace != nil {
		run.engine.memory.Free(run.workspace)
	}
}

// cooperate checks that all blocks of a cooperative launch fit and gives them the memory
// of CUDA's grid.sync(): a word at offset 4 of memory whose address is in %envreg1 and
// %envreg2.
func (run *Launch) cooperate(l gpu.Launch) error {
	if !l.Cooperative {
		return nil
	}
	if err := gpu.CheckCooperative(run.info, l, run.engine.Occupancy(run.prog, run.threads, run.dynamic)); err != nil {
		return err
	}
	const workspaceBytes = 8
	a, err := run.engine.memory.Alloc(workspaceBytes, "the workspace of grid.sync()")
	if err != nil {
		return err
	}
	c := a.Contents.Load()
	clear(c.Data)
	c.Wrote(0, workspaceBytes)
	run.workspace = a
	return nil
}

// findOrigins finds the buffer that the accesses of each origin must stay in.
func (run *Launch) findOrigins() {
	var buffers uint64
	for i, param := range run.prog.wide {
		if run.buffers[param] != nil {
			buffers |= 1 << i
		}
	}
	run.origins = make([]*mem.Allocation, len(run.prog.origins))
	for i, s := range run.prog.origins {
		if at := (origin{true, s.once, s.other}).alone(buffers); at >= 0 {
			run.origins[i] = run.buffers[run.prog.wide[at]]
		}
	}
}
