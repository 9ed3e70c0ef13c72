package engine

import (
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// explanations implements explainer.
type explanations struct{}

// overrun is the fault of a block that ran more instructions than the limit.
func (explanations) overrun(b *block) *gpu.Fault {
	at, where := standing(b)
	return b.newFault(at, gpu.ErrStepLimit, fmt.Sprintf("%d instructions of its warps; %s", b.cnt.WarpInstructions-b.steps, where))
}

// stoppedRunning is the fault of a block that an interrupt ended.
func (explanations) stoppedRunning(b *block) *gpu.Fault {
	if b.live == 0 {
		return b.newFault(nil, gpu.ErrInterrupted, "the launch was running")
	}
	at, where := standing(b)
	return b.newFault(at, gpu.ErrInterrupted, "the launch was running; "+where)
}

// neverEnds is the fault of a block of a launch that never ends; begun is how many have begun.
func (explanations) neverEnds(b *block, begun int64) *gpu.Fault {
	if b.pending != nil {
		return b.pending
	}
	l := b.launch
	at, where := standing(b)
	text := "no thread can go on: what runs repeats the same steps, and nothing changes the memory that it reads; " + where
	if at != nil && b.prog.loopsAlone(at) {
		text += "; this loop reads no memory: a plain variable that it waits for was read once, before it: declare the variable volatile, or read it by an atomic such as atomicAdd(&x, 0)"
	}
	if begun < l.total {
		text += fmt.Sprintf("; only %d of the %d blocks fit on %s at once%s, and the others begin when these end: launch at most %d, use grid.sync() and Cooperative: true, which refuses more, or let blocks take their numbers by atomicAdd if each waits for earlier ones only", l.room(), l.total, l.info.Name, l.becauseOfRegisters(), l.room())
	}
	return b.newFault(at, gpu.ErrHang, text)
}

// loopsAlone reports whether an instruction is in a loop that reads no memory and meets no
// other thread.
func (p *Program) loopsAlone(of *instr) bool {
	at := 0
	for &p.code[at] != of {
		at++
	}
	return p.analyse().LoopsAlone(at)
}

// standing describes where each warp of the block is: its lines, the barrier or the
// lanes that it waits for, and the memory that it polls. at is an instruction of a
// running warp, or nil.
func standing(b *block) (at *instr, where string) {
	var order []string
	warps := map[string]ranges{}
	for _, w := range b.warps {
		var places []string
		for i := range w.frags {
			f := &w.frags[i]
			in := b.prog.standsAt(f)
			if at == nil && f.state == running {
				at = in
			}
			places = append(places, stands(w, f, in))
		}
		slices.Sort(places)
		text := strings.Join(slices.Compact(places), " and ")
		if text == "" {
			text = "has exited"
		}
		if warps[text] == nil {
			order, warps[text] = append(order, text), ranges{}
		}
		warps[text][w.index] = true
	}
	for i, text := range order {
		order[i] = fmt.Sprintf("warp %s %s", warps[text].list(32), text)
	}
	return at, strings.Join(order, "; ")
}

// stands describes where a fragment is.
func stands(w *warp, f *fragment, in *instr) string {
	place := w.block.prog.placeOf(in)
	switch {
	case f.state == atBarrier:
		return fmt.Sprintf("waits at barrier %d, %s", f.bar, place)
	case f.state == atGroup:
		return fmt.Sprintf("waits for other warps at %s, %s", in.src.Name(), place)
	case f.state == atSync:
		return fmt.Sprintf("waits for other lanes at %s, %s", in.src.Name(), place)
	case w.polled != nil && f.waits > 0:
		return fmt.Sprintf("at %s, polls %s by %s", place, polledPlace(w), w.polled.src.Name())
	}
	return "at " + place
}

// polledPlace names the memory of the last atomic or volatile access.
func polledPlace(w *warp) string {
	space, address := w.polled.mem.space, w.polledAt
	if space == ptx.Generic {
		s, start := spaceOf(address)
		space, address = s, address-start
	}
	if space == ptx.Shared {
		return w.block.launch.sharedPlace(address)
	}
	if table, id := w.block.launch.engine.memory.Allocations(), address>>mem.WindowBits; id >= mem.FirstID && id < uint64(len(table)) {
		return fmt.Sprintf("%s of %s", w.polled.mem.elementAt(int(address&mem.OffsetMask)), table[id].Name())
	}
	return fmt.Sprintf("address %#x", address)
}
