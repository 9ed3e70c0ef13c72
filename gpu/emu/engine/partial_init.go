package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// copyWritten is checkWritten for a load and a store that copy: bytes that were never
// written in local memory count as never written in a copy there, and are a fault as
// soon as they leave it.
func (w *warp) copyWritten(in *instr, p place, m uint32) bool {
	moved := &w.copied[in.mem.copy-1]
	mask, c := uint32(1<<in.mem.size-1), p.contents
	checks := w.block.checks.Has(gpu.CheckUninitialized)
	for ; m != 0; m &= m - 1 {
		l := lowest(m) & 31
		o := int(w.addr[l])
		if in.mem.kind == load {
			if moved[l] = mask; !c.Whole.Load() {
				moved[l] &= c.Written[o>>5] >> (o & 31)
			}
			if moved[l] == mask || p.space == ptx.Local || !checks {
				continue
			}
			if w.unwritten(in, p, l); w.block.fault != nil {
				return false
			}
			continue
		}
		switch {
		case p.space == ptx.Local:
			c.Written.Clear(o, mask)
			c.Written.Set(o, moved[l])
			continue
		case moved[l] == 0 && checks && !w.block.launch.known(in):
			if !w.undefinedUse(in, l, gpu.ErrUninitialized, "%s gets %d bytes of local memory, none of which was written", p.where(w.addr[l]), in.mem.size) {
				return false
			}
		}
		if !c.Whole.Load() {
			c.Written.Set(o, mask)
		}
	}
	return true
}
