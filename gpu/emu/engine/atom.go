package engine

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// atom updates memory for one lane after the other. Other workers may update it at the
// same time.
func (w *warp) atom(in *instr, p place, m uint32) {
	mem := in.mem
	op := mem.operation(in, p)
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		at := unsafe.Add(p.contents.Base, w.addr[l])
		b, c := w.source(mem, in.b, l), w.source(mem, in.c, l)
		old := arith.Replace(at, mem.bytes, op, b, c)
		if !mem.skip[0] {
			w.setData(mem, 0, l, old)
		}
	}
}

// operation applies an atomic operation at a place.
func (mem *access) operation(in *instr, p place) arith.AtomOp {
	if global, ok := arith.GlobalAtoms[in.src.Modifiers[len(in.src.Modifiers)-1]]; ok && p.space == ptx.Global {
		return global
	}
	return mem.atom
}

func (w *warp) source(mem *access, slot uint32, l int) uint64 {
	if mem.wideData {
		return lanes[uint64](w, slot)[l]
	}
	return uint64(lanes[uint32](w, slot)[l])
}

// changing counts a store that changes memory.
func (w *warp) changing(in *instr, p place, m uint32) {
	for ; m != 0; m &= m - 1 {
		l := lowest(m) & 31
		from := w.addr[l]
		for i, now := range peek(p, from, in.mem.size) {
			if w.stored(in, l, from+uint64(i)) != now {
				w.block.changes++
				return
			}
		}
	}
}

// peek is a copy of some bytes of memory, read word by word, since other workers may update
// the words at the same time.
func peek(p place, from, size uint64) []byte {
	var words [32]byte
	data, first := p.contents.Data, from&^3
	if last := from + size; (last+3)&^3 > uint64(len(data)) { // no word of others ends there
		return data[from:last]
	}
	for at := first; at < from+size; at += 4 {
		word := atomic.LoadUint32((*uint32)(unsafe.Add(p.contents.Base, at)))
		binary.LittleEndian.PutUint32(words[at-first:], word)
	}
	return words[from-first : from-first+size]
}

// atomWatched is atom, and counts a change of memory.
func (w *warp) atomWatched(in *instr, p place, m uint32) {
	var before [32][8]byte
	eachLane(m, func(l int) { copy(before[l][:], peek(p, w.addr[l], in.mem.size)) })
	w.atom(in, p, m)
	eachLane(m, func(l int) {
		if !bytes.Equal(before[l][:in.mem.size], peek(p, w.addr[l], in.mem.size)) {
			w.block.changes++
		}
	})
}
