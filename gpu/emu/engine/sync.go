package engine

import (
	"math/bits"

	"warpbook/gpu"
)

// sync runs a .sync operation for the lanes whose named lanes have all arrived; the
// others wait. It reports whether the whole fragment continues.
//
// Lanes meet at one instruction, except at bar.warp.sync, where lanes that wait at
// different instructions meet, too. A shuffle in one branch therefore does not pair with
// a shuffle in the other.
func (w *warp) sync(f *fragment, in *instr, m uint32) bool {
	ready, met := w.ready(in, m)
	if w.block.fault != nil {
		return false
	}
	if ready == m {
		w.count(f, f.pc, f.pc+1)
		in.exec(w, in, m)
		w.met(in, m)
		if len(w.absences) > 0 {
			w.block.launch.explain.withoutAbsent(w, in, m)
		}
		if met != 0 {
			f.pc++
			w.release(met)
			return false
		}
		return w.block.fault == nil
	}
	pc, goOn := f.pc, f.mask&^m|ready
	f.mask, f.state = m&^ready, atSync
	w.block.launch.explain.awaits(w, in, f)
	if goOn != 0 {
		g := fragment{pc: pc + 1, mask: goOn, waits: f.waits}
		w.count(&g, pc, pc+1)
		w.frags = append(w.frags, g)
	}
	if ready != 0 {
		in.exec(w, in, ready)
		w.met(in, ready)
		w.block.launch.explain.withoutAbsent(w, in, ready)
		w.release(met)
	}
	return false
}

// ready is the part of m whose lanes name only arrived lanes that name the same ones;
// exited lanes do not count. For bar.warp.sync, met are the lanes that wait for them
// elsewhere. A lane that does not name itself is a fault, or, if that is not checked,
// joins those that name the same lanes.
func (w *warp) ready(in *instr, m uint32) (ready, met uint32) {
	named := lanes[uint32](w, in.x.e)
	for rest := m; rest != 0; {
		mask := named[bits.TrailingZeros32(rest)]
		group := naming(named, rest, mask)
		rest &^= group
		if outside := group &^ mask; outside != 0 && w.block.checks.Has(gpu.CheckMasks) {
			l := bits.TrailingZeros32(outside)
			if !w.undefinedUse(in, l, gpu.ErrMask, "lane %d executes it and is not in its mask %#08x", l, mask) {
				return 0, 0
			}
		}
		missing := mask & w.alive &^ group
		if missing != 0 && in.src.Opcode == "bar" {
			elsewhere := w.elsewhere(in, mask) & missing
			missing &^= elsewhere
			if missing == 0 {
				met |= elsewhere
			}
		}
		if missing == 0 {
			ready |= group
		}
	}
	return ready, met
}

// naming is the lanes of m with the given mask.
func naming(named *[32]uint32, m, mask uint32) (group uint32) {
	if *(*[31]uint32)(named[:31]) == *(*[31]uint32)(named[1:]) && named[0] == mask { // nearly always true
		return m
	}
	for x := m; x != 0; x &= x - 1 {
		if l := bits.TrailingZeros32(x); named[l] == mask {
			group |= 1 << l
		}
	}
	return group
}

// elsewhere is the lanes that wait at other bar.warp.sync instructions and
// name the same mask.
func (w *warp) elsewhere(in *instr, mask uint32) (met uint32) {
	for i := range w.frags {
		g := &w.frags[i]
		other := &w.block.prog.code[g.pc]
		if g.state == atSync && other != in && other.src.Opcode == "bar" {
			met |= naming(lanes[uint32](w, other.x.e), g.mask, mask)
		}
	}
	return met
}

// release lets lanes that wait at a bar.warp.sync continue.
func (w *warp) release(met uint32) {
	for i := 0; met != 0 && i < len(w.frags); i++ {
		g := &w.frags[i]
		free := g.mask & met
		if g.state != atSync || free == 0 {
			continue
		}
		met &^= free
		h := fragment{pc: g.pc + 1, mask: free, waits: g.waits}
		w.count(&h, g.pc, g.pc+1)
		w.block.cnt.WarpSyncs++
		if g.mask &^= free; g.mask == 0 {
			*g = h
		} else {
			w.frags = append(w.frags, h)
		}
	}
}

// together reports whether a fragment that waits at a .sync operation can continue,
// because lanes that it names have arrived or exited.
func (w *warp) together(f *fragment) bool {
	ready, _ := w.ready(&w.block.prog.code[f.pc], f.mask)
	return ready != 0
}

// absence is lanes that were elsewhere when the lanes that name them came to an operation.
type absence struct {
	in    *instr
	mask  uint32 // that the operation names
	lanes uint32
	at    *instr // where they were
}
