package engine

import (
	"bytes"
	"slices"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/emu/copyengine"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// This file runs cp.async.bulk and cp.async.bulk.tensor, the copies of the copy
// engine (TMA); form_bulk_copy.go lowers them.
//
// A copy into shared memory reads its source when the instruction runs. Its bytes are
// written, and counted by its mbarrier, when a thread next accesses that mbarrier. Until
// then they count as never written, so that a read without a wait is a fault. A copy out
// of shared memory runs at once; writing its source again before the wait for its group
// is a fault.

// sharedOffset is the block and the offset of an address of shared memory, which may be
// generic.
func (w *warp) sharedOffset(address uint64) (*block, uint64) {
	if s, start := spaceOf(address); s == ptx.Shared {
		address -= start
	}
	return w.block.blockOf(address)
}

// startBulk starts a copy into shared memory.
func (w *warp) startBulk(f *bulkForm, in *instr, l int) {
	f.to(w, 1<<l)
	at := w.addr[l]
	f.mbarrier(w, 1<<l)
	barrier := w.addr[l]
	f.from(w, 1<<l)
	var data []byte
	swizzle, ok := 0, false
	if f.tensor {
		data, swizzle, ok = w.readTile(f, in, l)
	} else {
		data, ok = w.readBulk(in, l, uint64(w.word(&f.size, l)))
	}
	if !ok {
		return
	}
	if !f.multicast {
		w.sendBulk(in, l, at, barrier, data, swizzle, f.reduce)
		return
	}
	mask := lanes[uint32](w, f.mask)[l] & 0xffff
	for rank := range w.block.clusterSize() {
		if mask>>rank&1 != 0 {
			w.sendBulk(in, l, addressIn(at, rank), addressIn(barrier, rank), data, swizzle, nil)
		}
	}
}

// sendBulk sends data to shared memory, perhaps of another block.
func (w *warp) sendBulk(in *instr, l int, at, barrier uint64, data []byte, swizzle int, reduce *copyengine.Reduction) {
	to, offset := w.sharedOffset(at)
	owner, word := w.sharedOffset(barrier)
	align := uint64(16)
	if in.src.Opcode != "cp" { // st.async and red.async
		align = uint64(len(data))
	}
	if swizzle != 0 || in.src.Opcode == "cp" && len(in.src.Operands[1].Elems) > 0 {
		align = 128
	}
	switch size := uint64(len(data)); {
	case to == nil || owner == nil || to != owner:
		w.fail(in, l, gpu.ErrSpace, "it copies to shared address %#x and signals the mbarrier at %#x, expected both in one block of the cluster", at, barrier)
		return
	case to.shared == nil || offset+size > uint64(len(to.shared.Data)):
		w.fail(in, l, gpu.ErrOutOfBounds, "%d bytes at %s end past the %d bytes of shared memory", size, w.block.launch.sharedPlace(offset), to.sharedBytes())
		return
	case offset%align != 0:
		w.fail(in, l, gpu.ErrMisaligned, "%s, expected a multiple of %d", w.block.launch.sharedPlace(offset), align)
		return
	case word%8 != 0 || word+8 > uint64(len(to.shared.Data)) || *to.mbarrierWord(word)&mbarrierValid == 0:
		w.noMbarrier(in, l, 0)
		return
	}
	m := to.mbarrier(word)
	if !w.fencedInit(in, l, m, word) || reduce == nil && !w.freeToFill(in, l, to, offset, uint64(len(data))) || to == w.block && !w.raceBulk(in, l, offset, len(data)) {
		return
	}
	if reduce == nil {
		to.shared.UnwriteRange(int(offset), len(data))
	}
	m.bulk = append(m.bulk, copyengine.Fill{PC: in.mem.pc, Rank: w.block.rank(), Warp: w.index, Lane: l, At: offset, Data: data, Swizzle: swizzle, Reduce: reduce})
	to.filled++
}

// raceBulk looks for races with a copy into shared memory.
func (w *warp) raceBulk(in *instr, l int, offset uint64, size int) bool {
	if w.block.races == nil {
		return true
	}
	for n := 0; n < size; n += 16 {
		w.addr[l] = offset + uint64(n)
		if !(search{}).shared(w, in, 1<<l) {
			return false
		}
	}
	return true
}

// bulkArrives completes the copies that an mbarrier waits for.
func (b *block) bulkArrives(at, word uint64) uint64 {
	m := b.mbarrier(at)
	for i := range m.bulk {
		c := &m.bulk[i]
		b.storedWhileFilled(c)
		c.Put(b.shared)
		if by := b.issuer(c); by.block == b {
			m.arrive(by)
		}
		m.tx -= int64(len(c.Data))
	}
	b.filled -= len(m.bulk)
	m.bulk = m.bulk[:0]
	return m.completed(word)
}

// globalBytes is a part of global memory, checked: nil after a fault.
func (w *warp) globalBytes(in *instr, l int, address uint64, size int, write bool) []byte {
	table, id := w.block.launch.engine.memory.Allocations(), address>>mem.WindowBits
	var a *mem.Allocation
	if id < uint64(len(table)) {
		a = table[id]
	}
	if a == nil {
		w.fail(in, l, gpu.ErrOutOfBounds, "address %#x is in no buffer", address)
		return nil
	}
	c, offset := a.Contents.Load(), address&mem.OffsetMask
	switch {
	case c == nil:
		w.fail(in, l, gpu.ErrFreed, "address %#x is in %s, which was freed", address, a.Name())
		return nil
	case offset+uint64(size) > uint64(len(c.Data)):
		w.fail(in, l, gpu.ErrOutOfBounds, "%d bytes at address %#x end %d bytes past %s (%d bytes)", size, address, offset+uint64(size)-uint64(len(c.Data)), a.Name(), len(c.Data))
		return nil
	case write:
		c.Written.SetRange(int(offset), size)
	case !c.Whole.Load() && w.block.checks.Has(gpu.CheckUninitialized):
		if at, ok := c.Written.FirstUnset(int(offset), size); !ok {
			w.fail(in, l, gpu.ErrUninitialized, "address %#x is byte %d of %s, which was never written", a.Address()+uint64(at), at, a.Name())
			return nil
		}
	}
	return c.Data[offset:][:size]
}

// readBulk reads the source of a plain copy, whose address is in w.addr.
func (w *warp) readBulk(in *instr, l int, size uint64) ([]byte, bool) {
	address := w.addr[l]
	if size%16 != 0 || address%16 != 0 {
		w.fail(in, l, gpu.ErrMisaligned, "%d bytes at address %#x, expected multiples of 16", size, address)
		return nil, false
	}
	if slices.Contains(in.src.Modifiers, "global") {
		from := w.globalBytes(in, l, address, int(size), false)
		return bytes.Clone(from), from != nil
	}
	return w.sharedBulk(in, l, address, size, 0)
}

// sharedBulk reads shared memory of the block; a tile is read in the layout of its map.
func (w *warp) sharedBulk(in *instr, l int, address, size uint64, swizzle int) ([]byte, bool) {
	from, offset := w.sharedOffset(address)
	if from != w.block || from.shared == nil || offset+size > uint64(len(from.shared.Data)) {
		w.fail(in, l, gpu.ErrOutOfBounds, "%d bytes at shared address %#x, expected them in the %d bytes of the block", size, address, w.block.sharedBytes())
		return nil, false
	}
	if at, ok := from.shared.Written.FirstUnset(int(offset), int(size)); !ok && w.block.checks.Has(gpu.CheckUninitialized) {
		w.fail(in, l, gpu.ErrUninitialized, "%s was never written", w.block.launch.sharedPlace(uint64(at)))
		return nil, false
	}
	if !w.fencedAsync(in, l, offset, size) || in.mem.kind == load && !w.raceBulk(in, l, offset, int(size)) {
		return nil, false
	}
	return copyengine.Take(from.shared.Data, offset, size, swizzle), true
}

// fencedAsync reports whether the copy engine or wgmma may read bytes of shared memory
// that threads have stored: the storing warp, or the issuing one, has run
// fence.proxy.async since. It is checked only with the search for races.
func (w *warp) fencedAsync(in *instr, l int, offset, size uint64) bool {
	r, b := w.block.races, w.block
	if r == nil {
		return true
	}
	for at := offset &^ (r.CellBytes() - 1); at < offset+size; at += r.CellBytes() {
		c := r.Written(at)
		if c == nil || c.Epoch < max(b.warps[c.Warp()].proxyFence, w.proxyFence) {
			continue
		}
		first := &b.prog.code[c.PC()]
		if first.mem == nil || first.src.Opcode != "st" {
			continue
		}
		w.fail(in, l, gpu.ErrRace, "%s was written by thread %v with %s at %s, and no fence.proxy.async stands between: run it after the stores, before the barrier",
			b.launch.sharedPlace(at), b.thread(int(c.Warp())*32+c.Lane()), first.src.Name(), b.prog.placeOf(first))
		return false
	}
	return true
}

// tensorTile finds the map at the address in w.addr and the coordinates of a lane.
func (w *warp) tensorTile(f *bulkForm, in *instr, l int) (t *copyengine.TensorMap, at [5]int32, ok bool) {
	address := w.addr[l]
	var text []byte
	switch s, start := spaceOf(address); {
	case s == ptx.Parameter && address-start+gpu.TensorMapBytes <= uint64(len(w.block.launch.paramContents.Data)):
		text = w.block.launch.paramContents.Data[address-start:][:gpu.TensorMapBytes]
	case s == ptx.Global:
		if text = w.globalBytes(in, l, address, gpu.TensorMapBytes, false); text == nil {
			return nil, at, false
		}
	}
	if t, ok = copyengine.DecodeTensorMap(text); !ok || t.Rank != len(f.coordinates) {
		w.fail(in, l, gpu.ErrArgument, "no tensor map of %d directions at address %#x: pass a gpu.TensorMap as a __grid_constant__ parameter", len(f.coordinates), address)
		return nil, at, false
	}
	if t.Im2col != f.im2col {
		w.fail(in, l, gpu.ErrArgument, "the tensor map at address %#x is in %s mode, the instruction is not: give gpu.TensorMap an Im2col, or leave it out, as the instruction says", address, map[bool]string{false: "tile", true: "im2col"}[t.Im2col])
		return nil, at, false
	}
	for k, slot := range f.coordinates {
		at[k] = int32(lanes[uint32](w, slot)[l])
	}
	return t, at, true
}

// readTile reads a tile of a tensor. Elements outside of the tensor are zeros.
func (w *warp) readTile(f *bulkForm, in *instr, l int) (data []byte, swizzle int, ok bool) {
	t, at, ok := w.tensorTile(f, in, l)
	if !ok {
		return nil, 0, false
	}
	data = t.Blank()
	w.tileRows(f, in, l, t, at, func(r copyengine.Row) bool {
		from := w.globalBytes(in, l, r.From, r.Bytes, false)
		copy(data[r.At:], from)
		return from != nil
	})
	t.Round(data)
	return data, t.Swizzle, w.block.fault == nil
}

// tileRows calls do for the parts of a tile that lie in one piece in global memory.
func (w *warp) tileRows(f *bulkForm, in *instr, l int, t *copyengine.TensorMap, at [5]int32, do func(r copyengine.Row) bool) {
	var offsets [3]int64
	for i, slot := range f.offsets {
		offsets[i] = int64(lanes[uint32](w, slot)[l] & 0xffff)
	}
	if !t.Rows(at, offsets, do) {
		w.fail(in, l, gpu.ErrArgument, "coordinates %v are not in the bounding box of the tensor map, whose lower corner is %v and whose upper corner is %v of shape %v",
			at[:t.Rank], t.Lower[:t.Rank-2], t.Upper[:t.Rank-2], t.Shape[:t.Rank])
	}
}

// storeBulk runs a copy out of shared memory.
func (w *warp) storeBulk(f *bulkForm, in *instr, l int) {
	f.from(w, 1<<l)
	source := w.addr[l]
	f.to(w, 1<<l)
	if !f.tensor {
		size, address := uint64(w.word(&f.size, l)), w.addr[l]
		if size%16 != 0 || address%16 != 0 || source%16 != 0 {
			w.fail(in, l, gpu.ErrMisaligned, "%d bytes from shared address %#x to address %#x, expected multiples of 16", size, source, address)
			return
		}
		data, ok := w.sharedBulk(in, l, source, size, 0)
		if !ok {
			return
		}
		if f.write(w, in, l, address, data) {
			w.noteBulkRead(in, l, source, size)
		}
		return
	}
	t, at, ok := w.tensorTile(f, in, l)
	if !ok {
		return
	}
	data, ok := w.sharedBulk(in, l, source, uint64(t.Bytes()), t.Swizzle)
	if !ok {
		return
	}
	if f.tensorOp != "" {
		reduced := *f
		if reduced.reduce = copyengine.TensorReduction(f.tensorOp, t.Type); reduced.reduce == nil {
			w.fail(in, l, gpu.ErrArgument, "no reduction .%s of elements of .%s, which the tensor map has", f.tensorOp, t.Type)
			return
		}
		f = &reduced
	}
	w.tileRows(f, in, l, t, at, func(r copyengine.Row) bool {
		return f.write(w, in, l, r.From, data[r.At:][:r.Bytes])
	})
	w.noteBulkRead(in, l, source, uint64(t.Bytes()))
}

// write copies data to global memory, or reduces it into what is there.
func (f *bulkForm) write(w *warp, in *instr, l int, address uint64, data []byte) bool {
	if f.reduce != nil && w.globalBytes(in, l, address, len(data), false) == nil {
		return false
	}
	to := w.globalBytes(in, l, address, len(data), true)
	if to != nil && f.reduce != nil {
		f.reduce.Apply(to, data)
	} else {
		copy(to, data)
	}
	return to != nil
}

// noteBulkRead records the bytes that a copy out of shared memory has read.
func (w *warp) noteBulkRead(in *instr, l int, address, size uint64) {
	b, offset := w.sharedOffset(address)
	w.bulk.Note(copyengine.Read{PC: in.mem.pc, Lane: l, At: offset, Data: bytes.Clone(b.shared.Data[offset:][:size])})
}

// waitBulk waits for all groups of the lanes in m except the last n: their sources must
// be unchanged since they were read.
func (w *warp) waitBulk(m uint32, n uint64) {
	w.bulk.Wait(m, n, func(r copyengine.Read) {
		in := &w.block.prog.code[r.PC]
		if now := w.block.shared.Data[r.At:][:len(r.Data)]; !bytes.Equal(now, r.Data) {
			at := 0
			for now[at] == r.Data[at] {
				at++
			}
			w.fail(in, r.Lane, gpu.ErrRace, "%s was written again before cp.async.bulk.wait_group said that it had been read",
				w.block.launch.sharedPlace(r.At+uint64(at)))
		}
		if w.block.fault == nil && w.alive != 0 {
			w.raceBulk(in, r.Lane, r.At, len(r.Data))
		}
	})
}

// mbarrierWord is the word of an mbarrier.
func (b *block) mbarrierWord(at uint64) *uint64 { return (*uint64)(unsafe.Add(b.shared.Base, at)) }
