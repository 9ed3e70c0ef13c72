package engine

import (
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// This file handles accesses that do not fit their memory, in a launch that turns this
// check off. They never leave the memory of the launch: an access outside of all memory
// is dropped and counted, an unaligned access goes byte by byte.

// tolerate handles the lanes that do not fit their place. It is a fault if the launch
// checks for it. Otherwise tolerate drops or runs their accesses, and returns the lanes
// that remain, including those that fit the place but leave their shared variable.
func (w *warp) tolerate(in *instr, p place, m, bad uint32) uint32 {
	var unaligned uint32
	size, checks := in.mem.size, w.block.checks
	start, end := p.room(in.mem)
	for ; bad != 0; bad &= bad - 1 {
		l := lowest(bad) & 31
		o := w.addr[l]
		outside, aligned := !p.holds(o, size), o&(size-1) == 0
		switch {
		case outside && w.dropUnless(gpu.CheckBounds, in, 1<<l):
			m &^= 1 << l
		case checks.Has(gpu.CheckBounds) && (outside || o < start || o+size > end):
			w.badOffset(in, p, l)
			return 0
		case !aligned && checks.Has(gpu.CheckAlignment):
			w.misaligned(in, p, l)
			return 0
		case !aligned:
			unaligned |= 1 << l
		}
	}
	if unaligned != 0 {
		w.transferBytes(in, p, unaligned)
	}
	if w.block.fault != nil {
		return 0
	}
	return m &^ unaligned
}

// room is the range of offsets that an access must stay in.
func (p place) room(mem *access) (start, end uint64) {
	if p.contents != nil {
		end = uint64(len(p.contents.Data))
	}
	if v := mem.variable; v != nil && p.space == ptx.Shared {
		return v.at, min(v.at+v.bytes, end)
	}
	return 0, end
}

// holds reports whether the bytes of an access lie in the place.
func (p place) holds(offset, size uint64) bool {
	if p.contents == nil {
		return false
	}
	n := uint64(len(p.contents.Data))
	return offset <= n && size <= n-offset
}

// dropUnless drops the accesses of lanes to no memory, unless the launch checks for
// them; it reports whether it has. Loads and atomics give zeros.
func (w *warp) dropUnless(check gpu.Checks, in *instr, m uint32) bool {
	if w.block.checks.Has(check) {
		return false
	}
	w.block.cnt.Dropped += uint64(popcount(m))
	w.copiesWritten(in, m)
	for k := range in.mem.count {
		if in.mem.kind != store && !in.mem.skip[k] {
			eachLane(m, func(l int) { w.setData(in.mem, k, l, 0) })
		}
	}
	return true
}

// transferBytes is transfer for lanes whose addresses are not aligned.
func (w *warp) transferBytes(in *instr, p place, m uint32) {
	mem, c := in.mem, p.contents
	w.copiesWritten(in, m)
	if !w.checkBytesWritten(in, p, m) || !w.checkRace(in, p, m) {
		return
	}
	eachLane(m, func(l int) {
		for k := range mem.count {
			at := unsafe.Slice((*byte)(unsafe.Add(c.Base, w.addr[l]+uint64(k)*mem.bytes)), mem.bytes)
			var word uint64 // aligned, as storeOne needs it
			v := (*[8]byte)(unsafe.Pointer(&word))
			copy(v[:], at)
			old := narrow(unsafe.Pointer(v), mem)
			switch mem.kind {
			case store:
				storeOne(unsafe.Pointer(v), mem, w.data(mem, k, l))
				copy(at, v[:])
			case update:
				now := mem.operation(in, p)(old, w.source(mem, in.b, l), w.source(mem, in.c, l))
				storeOne(unsafe.Pointer(v), mem, now)
				copy(at, v[:])
			}
			if mem.kind != store && !mem.skip[k] {
				w.setData(mem, k, l, old)
			}
		}
	})
}

// checkBytesWritten is checkWritten for lanes whose addresses are not aligned.
func (w *warp) checkBytesWritten(in *instr, p place, m uint32) bool {
	c, size := p.contents, int(in.mem.size)
	if c.Whole.Load() {
		return true
	}
	for ; m != 0; m &= m - 1 {
		l := lowest(m) & 31
		o := int(w.addr[l])
		if in.mem.kind == store {
			c.Written.SetRange(o, size)
			continue
		}
		written := 0
		for i := range size {
			if c.Written.Has(o+i, 1) {
				written++
			}
		}
		if whole := written == size || p.space == ptx.Local && written > 0; whole || !w.block.checks.Has(gpu.CheckUninitialized) {
			continue
		}
		if w.unwritten(in, p, l); w.block.fault != nil {
			return false
		}
	}
	return true
}

// copiesWritten marks bytes that lanes load only to copy as written.
func (w *warp) copiesWritten(in *instr, m uint32) {
	if in.mem.copy > 0 && in.mem.kind == load {
		eachLane(m, func(l int) { w.copied[in.mem.copy-1][l] = 1<<in.mem.size - 1 })
	}
}
