package engine

import (
	"math/bits"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// This file follows loads of bytes that were never written. Compilers load a struct in whole
// words or in single bytes, with its padding and with members that nothing has set, take the
// words apart and store them again. Such a copy is no use. So the emulator follows the bits that
// were never written through registers and stores, and reports the load where one of them
// reaches arithmetic, an address or a comparison, or where a number without other bits is stored
// in global memory.
//
// A warp follows bits only after such a load, and only until the last of them has been
// overwritten; until then it runs without vector instructions, as in undefined.go.

// unset are the registers of a warp with bits that were never written, by slot.
type unset map[uint32]*unsetSlot

type unsetSlot struct {
	bits [32]uint64 // of each lane
	from [32]*unsetLoad
}

// unsetLoad is a load that read such bits.
type unsetLoad struct {
	in      *instr
	p       place
	address uint64
}

// tracked are the numbers of a register that may be unset, one for each half; they are
// equal if its halves are not told apart.
type tracked struct{ low, high uint32 }

// turnToFollow stands in place of a fault until the warp that has made its first such load
// leaves the common loop.
var turnToFollow = &gpu.Fault{}

// turn ends the common loop after an access that has made w.unset.
func (w *warp) turn(in *instr) { w.block.fault, w.turned = turnToFollow, in.mem.pc }

// stops ends a run from start on whose last access was a fault. If it only was the first whose
// value is followed, the fragment continues behind it; it returns the number of instructions.
func (w *warp) stops(f *fragment, start int32, ran int64) int64 {
	if w.block.fault != turnToFollow {
		return ran
	}
	f.pc = w.turned + 1
	return ran + w.count(f, start, f.pc)
}

// follows reports whether the values of some registers are followed.
func (w *warp) follows() bool { return w.undefined != nil || w.unset != nil }

// travels reports whether a load that found bytes which were never written may copy padding, and
// is followed: it loads single bytes, or a parameter of a call, or also found others, or its value
// is only stored, and maybe in local memory. Another word of which nothing was written is a fault
// at once, and so are bytes that a copy is about to fill.
func (w *warp) travels(in *instr, p place, l int) bool {
	mem, o := in.mem, w.addr[l]
	if mem.kind != load || !mem.plain || mem.bytes >= 4 && !mem.passed && !mem.uncounted && p.contents.Written[o>>5]>>(o&31)&(1<<mem.size-1) == 0 {
		return false
	}
	return p.space != ptx.Shared || w.block.filling(p, o, mem.size) == nil && w.block.fillingBulk(o, mem.size) == nil
}

// loadUnset notes the bits that a lane loads and that were never written. The load itself runs
// after it.
func (w *warp) loadUnset(in *instr, p place, l int) {
	mem, o := in.mem, w.addr[l]
	missing := ^(p.contents.Written[o>>5] >> (o & 31))
	if w.unset == nil {
		w.unset = unset{}
	}
	from := &unsetLoad{in, p, o}
	for k := range mem.count {
		if mem.skip[k] {
			continue
		}
		b := bitsOfBytes(missing >> (uint64(k) * mem.bytes) & (1<<mem.bytes - 1))
		w.unset.set(mem.regs[k], l, extendBits(b, mem.bytes, mem.signed), from)
	}
}

// bitsOfBytes has 8 bits for each bit of a mask.
func bitsOfBytes(mask uint32) (b uint64) {
	for ; mask != 0; mask &= mask - 1 {
		b |= 0xff << (8 * bits.TrailingZeros32(mask))
	}
	return b
}

// extendBits takes the low bytes of a value and extends them to 64 bits.
func extendBits(b, bytes uint64, signed bool) uint64 {
	shift := 64 - 8*bytes
	if signed {
		return uint64(int64(b<<shift) >> shift)
	}
	return b << shift >> shift
}

const all64 = 1<<64 - 1

// set notes which bits of a lane of a slot were never written.
func (u unset) set(at uint32, l int, b uint64, from *unsetLoad) {
	s := u[at]
	if s == nil {
		if b == 0 {
			return
		}
		s = &unsetSlot{}
		u[at] = s
	}
	if s.bits[l], s.from[l] = b, from; b == 0 && s.bits == [32]uint64{} {
		delete(u, at)
	}
}

func (u unset) of(at uint32, l int) uint64 {
	if s := u[at]; s != nil {
		return s.bits[l]
	}
	return 0
}

// followUnset checks an instruction before it runs in the lanes of m; it returns false after a
// fault.
func (w *warp) followUnset(pc int32, in *instr, m uint32) bool {
	if in.src == nil {
		return true
	}
	u := w.unset
	var defs, sources []operand
	for _, o := range w.block.prog.operands[pc] {
		switch {
		case o.predicate:
		case o.def:
			defs = append(defs, o)
		default:
			sources = append(sources, o)
		}
	}
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		var from *unsetLoad
		for _, o := range sources {
			if u.of(o.at, l) != 0 {
				from = u[o.at].from[l]
			}
		}
		var results []uint64
		if from != nil {
			var copies bool
			if results, copies = w.unsetResults(in, sources, l); !copies {
				if w.useOfUnset(from, l); w.block.fault != nil {
					return false
				}
				results = nil
			}
		}
		for k, o := range defs {
			b := uint64(0)
			if k < len(results) {
				b = results[k]
			}
			if u.set(o.at, l, b, from); o.double {
				u.set(o.at+128, l, 0, nil) // the other half of its slot
			}
		}
	}
	if len(u) == 0 {
		w.unset = nil
	}
	return true
}

// useOfUnset reports a load whose bits are used.
func (w *warp) useOfUnset(from *unsetLoad, l int) {
	at := w.addr[l]
	w.addr[l] = from.address
	w.unwritten(from.in, from.p, l)
	w.addr[l] = at
}

// unsetResults are the bits of each destination that depend on bits which were never written, of
// an instruction that copies bits; ok is false for one that uses them.
func (w *warp) unsetResults(in *instr, sources []operand, l int) (results []uint64, ok bool) {
	src, t := in.src, ptx.Type("b32")
	if n := len(src.Modifiers); n > 0 {
		t = ptx.Type(src.Modifiers[n-1])
	}
	size, signed := uint64(t.Bytes()), t[0] == 's'
	unset := func(i int) uint64 { return w.unset.of(sources[i].at, l) }
	value := func(i int) uint64 {
		if sources[i].double {
			return lanes[uint64](w, sources[i].at)[l]
		}
		return uint64(lanes[uint32](w, sources[i].at)[l])
	}
	one := func(b uint64) ([]uint64, bool) { return []uint64{extendBits(b, size, false)}, true }
	switch src.Opcode {
	case "mov":
		return unsetParts(src, size, len(sources), unset), true
	case "selp":
		if (w.preds[in.x.p]^in.x.pflip)>>l&1 == 0 {
			return one(unset(1))
		}
		return one(unset(0))
	case "cvt":
		if n := len(src.Modifiers); n == 2 && isInteger(src.Modifiers[0]) && isInteger(src.Modifiers[1]) {
			to := ptx.Type(src.Modifiers[0])
			return []uint64{extendBits(extendBits(unset(0), size, signed), uint64(to.Bytes()), to[0] == 's')}, true
		}
	case "not":
		return one(unset(0))
	case "xor":
		return one(unset(0) | unset(1))
	case "and":
		return one((unset(0) | unset(1)) & (value(0) | unset(0)) & (value(1) | unset(1)))
	case "or":
		return one((unset(0) | unset(1)) & (^value(0) | unset(0)) & (^value(1) | unset(1)))
	case "shl":
		b, _ := one(unset(0) << uint32(value(1)))
		return b, unset(1) == 0
	case "shr":
		b := extendBits(unset(0), size, signed)
		if signed {
			b = uint64(int64(b) >> uint32(value(1)))
		} else {
			b >>= uint32(value(1))
		}
		results, _ = one(b)
		return results, unset(1) == 0
	case "prmt":
		return []uint64{chosenBytes(unset(0)|unset(1)<<32, uint32(value(2)))}, len(src.Modifiers) == 1 && unset(2) == 0
	case "shfl":
		return nil, unset(0) != all // not followed into other lanes
	case "st":
		return nil, unset(0) == 0 // storeUnset looks at the data
	}
	return nil, false
}

// unsetParts are the bits of the destinations of mov, which also packs and unpacks.
func unsetParts(src *ptx.Instruction, size uint64, sources int, unset func(i int) uint64) (results []uint64) {
	switch to, from := src.Operands[0], src.Operands[1]; {
	case to.Kind == ptx.VectorOperand:
		part := size / uint64(len(to.Elems))
		for k, e := range to.Elems {
			if e.Kind != ptx.IgnoreOperand {
				results = append(results, extendBits(unset(0)>>(8*part*uint64(k)), part, false))
			}
		}
		return results
	case from.Kind == ptx.VectorOperand:
		part, b := size/uint64(len(from.Elems)), uint64(0)
		for k := range sources {
			b |= extendBits(unset(k), part, false) << (8 * part * uint64(k))
		}
		return []uint64{b}
	}
	return []uint64{unset(0)}
}

// isInteger reports whether a type is one of integers or bits.
func isInteger(t string) bool { return t[0] == 's' || t[0] == 'u' || t[0] == 'b' && t[1] != 'f' }

// chosenBytes chooses bytes as prmt does: bit 3 of a selector spreads the sign.
func chosenBytes(b uint64, selector uint32) (result uint64) {
	for k := range 4 {
		s := selector >> (4 * k) & 15
		v := b >> (8 * (s & 7)) & 0xff
		if s&8 != 0 {
			v = extendBits(v, 1, true) >> 63 * 0xff
		}
		result |= v << (8 * k)
	}
	return result
}

// storeUnset marks the bytes that were stored, and have bits that were never written, as never
// written. A store without other bits is a use in global memory, unless it may be of padding.
// Global memory that was written as a whole has no marks: there the bits are followed no further.
func (w *warp) storeUnset(in *instr, p place, m uint32) {
	for ; m != 0; m &= m - 1 {
		l := lowest(m) & 31
		bytes, full, from := w.unsetData(in.mem, l)
		if full && p.space == ptx.Global && !(in.mem.mayPad() && mayPad(from.address, w.addr[l])) {
			if w.useOfUnset(from, l); w.block.fault != nil {
				return
			}
			continue
		}
		w.unwrite(p, int(w.addr[l]), bytes)
	}
}

// unsetData has a bit for each byte that a lane stores and that has bits which were never
// written; full is true if no byte has others.
func (w *warp) unsetData(mem *access, l int) (bytes uint32, full bool, from *unsetLoad) {
	full = true
	for k := range mem.count {
		b := w.unset.of(mem.regs[k], l)
		if b != 0 {
			from = w.unset[mem.regs[k]].from[l]
		}
		if t := mem.unset[k]; t != nil && (w.set[t.low]&w.set[t.high])>>l&1 == 0 {
			b = all64
		}
		b = extendBits(b, mem.bytes, false)
		full = full && b == extendBits(all64, mem.bytes, false)
		for i := range mem.bytes {
			if b>>(8*i)&0xff != 0 {
				bytes |= 1 << (uint64(k)*mem.bytes + i)
			}
		}
	}
	return bytes, full, from
}

// mayPad reports whether a store may be that of padding, and not of a number.
func (mem *access) mayPad() bool { return mem.bytes < 4 || mem.copy > 0 }

// mayPad reports whether a value that is copied between two addresses may be the padding of a
// struct, which is not at its start and keeps its place in the words of the struct.
func mayPad(from, to uint64) bool {
	return from&3 == to&3 && to&3 != 0 || from&7 == to&7 && to&7 != 0
}

// unwrite marks some bytes as never written. Workers share global memory.
func (w *warp) unwrite(p place, at int, bytes uint32) {
	if bytes == 0 {
		return
	}
	switch c := p.contents; p.space {
	case ptx.Shared:
		c.Unwrite(at, bytes)
	case ptx.Local:
		c.Written.Clear(at, bytes)
	case ptx.Global:
		l := w.block.launch
		l.mu.Lock()
		defer l.mu.Unlock()
		if !c.Whole.Load() {
			c.Unwrite(at, bytes)
		}
	}
}

// copyWritten is checkWritten for a load and a store that copy: bytes that were never
// written count as never written in the copy, too. It is a fault if all are, and the copy
// or its source is not in local memory.
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
			if w.travels(in, p, l) {
				w.loadUnset(in, p, l)
				moved[l] = mask
				continue
			}
			if w.unwritten(in, p, l); w.block.fault != nil {
				return false
			}
			continue
		}
		if moved[l] == 0 && p.space == ptx.Global && !mayPad(uint64(o), uint64(o)) && checks && !w.block.launch.known(in) {
			if !w.undefinedUse(in, l, gpu.ErrUninitialized, "%s gets %d bytes of local memory, none of which was written", p.where(w.addr[l]), in.mem.size) {
				return false
			}
			moved[l] = mask
		}
		if w.unwrite(p, o, mask&^moved[l]); p.space == ptx.Local || !c.Whole.Load() {
			c.Written.Set(o, moved[l])
		}
	}
	return true
}
