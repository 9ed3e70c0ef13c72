package engine

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// access describes the memory access of ld, st, atom or red.
type access struct {
	space     ptx.Space
	kind      accessKind
	bytes     uint64          // of a component
	count     int             // components
	size      uint64          // bytes * count
	signed    bool            // a narrow load is sign extended
	strong    bool            // volatile, relaxed, acquire or release: visible to other threads at once
	releases  bool            // it fences before it writes
	wide      bool            // its fence is of the GPU
	plain     bool            // of ld or st
	uncounted bool            // a parameter of a call, which a GPU keeps in registers
	passed    bool            // of a load whose value is only stored in local memory
	field     bool            // the word of a bit field that is about to be written
	copy      int             // of a load and the store of its value: their number, from 1
	wideData  bool            // registers have 64 bits
	wideAddr  bool            // the address register has 64 bits
	variable  *sharedVariable // the variable that the access must stay in, or nil
	origin    int             // of its address, an index in program.origins
	pc        int32           // of the instruction
	keep      uint32          // bits of a narrow load in a 32-bit slot
	offset    uint64
	regs      [4]uint32   // slots of the components
	skip      [4]bool     // components that are not stored in registers
	unset     [4]*tracked // of a store in local memory: components whose register may never be written
	tracks    bool        // unset has any
	atom      arith.AtomOp
	site      int // number of the instruction among those with patterns, or -1
}

// runAccess runs a memory instruction. It computes the address of each lane, then
// counts, checks and performs the access.
func runAccess(w *warp, in *instr, m uint32) {
	if w.fast(in, m) {
		return
	}
	follows := w.follows()
	w.effective(in, m)
	if in.mem.strong {
		w.waits++
		w.polled, w.polledAt = in, w.addr[lowest(m)]
	}
	if in.mem.space == ptx.Generic {
		w.accessGeneric(in, m)
	} else {
		w.accessIn(in, in.mem.space, m)
	}
	if !follows && w.unset != nil && w.block.fault == nil {
		w.turn(in)
	}
}

// effective computes the addresses of the active lanes.
func (w *warp) effective(in *instr, m uint32) {
	offset := in.mem.offset
	if in.mem.wideAddr {
		a := lanes[uint64](w, in.a)
		if m == all {
			for l := range a {
				w.addr[l] = a[l] + offset
			}
			return
		}
		for x := m; x != 0; x &= x - 1 {
			l := bits.TrailingZeros32(x) & 31
			w.addr[l] = a[l] + offset
		}
		return
	}
	a := lanes[uint32](w, in.a)
	for x := m; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x) & 31
		w.addr[l] = uint64(a[l] + uint32(offset))
	}
}

// accessGeneric splits the lanes by the space that their address lies in.
func (w *warp) accessGeneric(in *instr, m uint32) {
	for m != 0 {
		space, base := spaceOf(w.addr[lowest(m)])
		var group uint32
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			if s, _ := spaceOf(w.addr[l]); s == space {
				group |= 1 << l
				w.addr[l] -= base
			}
		}
		w.accessIn(in, space, group)
		m &^= group
	}
}

// spaceOf is the space of a generic address and the start of its window.
func spaceOf(address uint64) (ptx.Space, uint64) {
	switch address >> mem.WindowBits {
	case mem.SharedWindow:
		return ptx.Shared, mem.SharedWindow << mem.WindowBits
	case mem.LocalWindow:
		return ptx.Local, mem.LocalWindow << mem.WindowBits
	case mem.ParamWindow:
		return ptx.Parameter, mem.ParamWindow << mem.WindowBits
	}
	return ptx.Global, 0
}

func (w *warp) accessIn(in *instr, space ptx.Space, m uint32) {
	if w.block.counting && !in.mem.uncounted {
		w.countAccess(in, space, m)
	}
	switch space {
	case ptx.Shared:
		if w.block.cluster != nil {
			w.accessCluster(in, m)
			return
		}
		w.transfer(in, place{space: space, contents: w.block.shared}, m)
	case ptx.Local:
		w.accessLocal(in, m)
	case ptx.Parameter:
		w.transfer(in, place{space: space, contents: w.block.launch.paramContents}, m)
	default:
		w.accessGlobal(in, m)
	}
}

// accessGlobal finds the allocation of each lane's address.
func (w *warp) accessGlobal(in *instr, m uint32) {
	table := w.block.launch.engine.memory.Allocations()
	for m != 0 {
		id := w.addr[lowest(m)&31] >> mem.WindowBits
		var group uint32
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			if w.addr[l]>>mem.WindowBits == id {
				group |= 1 << l
				w.addr[l] &= mem.OffsetMask
			}
		}
		m &^= group
		if from := w.block.origins[in.mem.origin]; from != nil && id != uint64(from.ID) && w.block.checks.Has(gpu.CheckBounds) {
			w.strayed(in, from, id, lowest(group)&31)
			return
		}
		p := place{space: ptx.Global}
		if id < uint64(len(table)) && table[id] != nil {
			p.allocation = table[id]
			p.contents = p.allocation.Contents.Load()
		}
		if p.contents == nil {
			w.noContents(in, p, id, group)
		} else {
			w.transfer(in, p, group)
		}
		if w.block.fault != nil {
			return
		}
	}
}

// accessLocal moves each lane's address to the lane's own frame.
func (w *warp) accessLocal(in *instr, m uint32) {
	frame, used := uint64(w.block.prog.localBytes), uint64(w.block.prog.localUsed)
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		if a := w.addr[l]; a > used || a+in.mem.size > used {
			if !w.dropUnless(gpu.CheckBounds, in, 1<<l) {
				w.fail(in, l, gpu.ErrOutOfBounds, "local address %#x is past the %d bytes of the thread's local arrays", a, used)
				return
			}
			m &^= 1 << l
		}
		w.addr[l] += uint64(l) * frame
	}
	w.transfer(in, place{space: ptx.Local, contents: w.local}, m)
}

// place is the memory that some lanes access.
type place struct {
	space      ptx.Space
	contents   *mem.Contents
	allocation *mem.Allocation // of global memory
	remote     bool            // shared memory of another block of the cluster
}

// transfer checks the offsets in w.addr and moves the data.
func (w *warp) transfer(in *instr, p place, m uint32) {
	if bad := w.misplaced(in, p, m); bad != 0 {
		if m = w.tolerate(in, p, m, bad); m == 0 {
			return
		}
	}
	mem, c := in.mem, p.contents
	if mem.kind != load && mem.space == ptx.Generic && p.allocation != nil && p.allocation.Constant && w.constantWritten(in, p, m) {
		return
	}
	if (mem.copy > 0 || !c.Whole.Load()) && !w.checkWritten(in, p, m) || !w.checkRace(in, p, m) {
		return
	}
	switch mem.kind {
	case load:
		w.load(mem, c, m)
	case store:
		if w.block.watch.On {
			w.changing(in, p, m)
		}
		if w.store(mem, c, m); w.unset != nil || mem.tracks {
			w.storeUnset(in, p, m)
		}
	default:
		if w.block.watch.On {
			w.atomWatched(in, p, m)
			return
		}
		w.atom(in, p, m)
	}
}

// checkRace looks for races on shared memory, and between blocks if the launch asks for
// it. It reports whether it found none.
func (w *warp) checkRace(in *instr, p place, m uint32) bool {
	if in.mem.strong && p.space == ptx.Shared && w.block.global != nil { // a lock or a flag
		eachLane(m, func(l int) { w.party.Synchronise(w.addr[l], in.mem.kind != load) })
	}
	switch {
	case p.space == ptx.Global && w.block.global != nil:
		return w.block.launch.races.global(w, in, p, m)
	case p.space != ptx.Shared || w.block.races == nil || p.remote:
		return true
	case !w.block.launch.races.visited(w, in, m):
		return false
	case in.mem.kind == update:
		return w.block.launch.races.atomic(w, in, m)
	}
	return w.block.launch.races.shared(w, in, m)
}

// misplaced are the lanes whose offsets in w.addr do not fit the place.
func (w *warp) misplaced(in *instr, p place, m uint32) (bad uint32) {
	start, end := p.room(in.mem)
	size, align := in.mem.size, in.mem.size-1
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		if o := w.addr[l]; o < start || o > end || o+size > end || o&align != 0 {
			bad |= 1 << l
		}
	}
	return bad
}

// inside reports whether the offsets in w.addr fit the place. If not, that is a fault,
// whatever checks the launch asks for.
func (w *warp) inside(in *instr, p place, m uint32) bool {
	bad := w.misplaced(in, p, m)
	if bad != 0 {
		w.badOffset(in, p, lowest(bad)&31)
	}
	return bad == 0
}

// checkWritten rejects loads of bytes that were never written, and marks the bytes of a
// store as written. A load from local memory is a fault only if none of its bytes was
// written: copies of structs include their padding. A load for the writing of a bit
// field is no fault.
func (w *warp) checkWritten(in *instr, p place, m uint32) bool {
	if in.mem.copy > 0 {
		return w.copyWritten(in, p, m)
	}
	mask := uint32(1<<in.mem.size - 1)
	written := p.contents.Written
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		o := int(w.addr[l])
		switch {
		case in.mem.kind == store:
			written.Set(o, mask)
		case !w.block.checks.Has(gpu.CheckUninitialized) || written.Has(o, mask):
		case p.space == ptx.Local && (in.mem.field || in.mem.count == 1 && written[o>>5]>>(o&31)&mask != 0):
		case w.travels(in, p, l):
			w.loadUnset(in, p, l)
		default:
			if w.unwritten(in, p, l); w.block.fault != nil {
				return false
			}
		}
	}
	return true
}

func (w *warp) load(mem *access, c *mem.Contents, m uint32) {
	for k := range mem.count {
		if mem.skip[k] {
			continue
		}
		base := unsafe.Add(c.Base, k*int(mem.bytes))
		switch {
		case mem.strong && mem.bytes >= 4:
			w.loadStrong(mem, k, base, m)
		case mem.bytes == 4 && !mem.wideData:
			loadLanes[uint32](w, mem.regs[k], base, m)
		case mem.bytes == 8:
			loadLanes[uint64](w, mem.regs[k], base, m)
		case mem.wideData:
			d := lanes[uint64](w, mem.regs[k])
			for x := m; x != 0; x &= x - 1 {
				l := lowest(x) & 31
				d[l] = narrow(unsafe.Add(base, w.addr[l]), mem)
			}
		default:
			d := lanes[uint32](w, mem.regs[k])
			for x := m; x != 0; x &= x - 1 {
				l := lowest(x) & 31
				d[l] = uint32(narrow(unsafe.Add(base, w.addr[l]), mem)) & mem.keep
			}
		}
	}
}

func loadLanes[T any](w *warp, slot uint32, base unsafe.Pointer, m uint32) {
	d := lanes[T](w, slot)
	if m == all {
		for l := range d {
			d[l] = *(*T)(unsafe.Add(base, w.addr[l]))
		}
		return
	}
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		d[l] = *(*T)(unsafe.Add(base, w.addr[l]))
	}
}

func (w *warp) loadStrong(mem *access, k int, base unsafe.Pointer, m uint32) {
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		at := unsafe.Add(base, w.addr[l])
		var v uint64
		if mem.bytes == 8 {
			v = atomic.LoadUint64((*uint64)(at))
		} else if v = uint64(atomic.LoadUint32((*uint32)(at))); mem.signed {
			v = uint64(int64(int32(v)))
		}
		w.setData(mem, k, l, v)
	}
}

// setData sets a lane of a data register.
func (w *warp) setData(mem *access, k, l int, v uint64) {
	if mem.wideData {
		lanes[uint64](w, mem.regs[k])[l] = v
	} else {
		lanes[uint32](w, mem.regs[k])[l] = uint32(v) & mem.keep
	}
}

// data is a lane of a data register.
func (w *warp) data(mem *access, k, l int) uint64 {
	if mem.wideData {
		return lanes[uint64](w, mem.regs[k])[l]
	}
	return uint64(lanes[uint32](w, mem.regs[k])[l])
}

// narrow loads a value and extends it.
func narrow(at unsafe.Pointer, mem *access) uint64 {
	switch {
	case mem.bytes == 8:
		return *(*uint64)(at)
	case mem.bytes == 1 && mem.signed:
		return uint64(int64(*(*int8)(at)))
	case mem.bytes == 1:
		return uint64(*(*uint8)(at))
	case mem.bytes == 2 && mem.signed:
		return uint64(int64(*(*int16)(at)))
	case mem.bytes == 2:
		return uint64(*(*uint16)(at))
	case mem.signed:
		return uint64(int64(*(*int32)(at)))
	}
	return uint64(*(*uint32)(at))
}

func (w *warp) store(mem *access, c *mem.Contents, m uint32) {
	for k := range mem.count {
		base := unsafe.Add(c.Base, k*int(mem.bytes))
		if mem.bytes == 4 && !mem.wideData && !mem.strong {
			s := lanes[uint32](w, mem.regs[k])
			for x := m; x != 0; x &= x - 1 {
				l := lowest(x) & 31
				*(*uint32)(unsafe.Add(base, w.addr[l])) = s[l]
			}
			continue
		}
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			storeOne(unsafe.Add(base, w.addr[l]), mem, w.data(mem, k, l))
		}
	}
}

func storeOne(at unsafe.Pointer, mem *access, v uint64) {
	switch {
	case mem.bytes == 1:
		*(*uint8)(at) = uint8(v)
	case mem.bytes == 2:
		*(*uint16)(at) = uint16(v)
	case mem.bytes == 4 && mem.strong:
		atomic.StoreUint32((*uint32)(at), uint32(v))
	case mem.bytes == 4:
		*(*uint32)(at) = uint32(v)
	case mem.strong:
		atomic.StoreUint64((*uint64)(at), v)
	default:
		*(*uint64)(at) = v
	}
}

// countAccess counts a request: a memory instruction of a warp with at least
// one active lane.
func (w *warp) countAccess(in *instr, space ptx.Space, m uint32) {
	p := gpu.Pattern{Mask: m, Bytes: int(in.mem.size), Write: in.mem.kind != load, Address: w.addr}
	w.countPattern(in, space, &p)
}

func (w *warp) countPattern(in *instr, space ptx.Space, p *gpu.Pattern) {
	countRequest(&w.block.cnt, in.mem.kind, space, p)
	if t := w.block.tracer; t != nil {
		t.request(w, in, space, p)
	}
}

// reaches reports whether a lane accesses the cell at an offset.
func (w *warp) reaches(in *instr, lane int, offset uint64) bool {
	return w.addr[lane] <= offset && offset < w.addr[lane]+in.mem.size
}

// stored is the byte that a lane stores at an offset.
func (w *warp) stored(in *instr, lane int, offset uint64) byte {
	at := offset - w.addr[lane]
	return byte(w.data(in.mem, int(at/in.mem.bytes), lane) >> (8 * (at % in.mem.bytes)))
}

// judge decides about the accesses of an instruction of a warp that no barrier orders.
type judge struct {
	*warp
	in *instr
	at place // of global memory
}

// elementAt names the element of a buffer at an offset by the width of an access.
func (a *access) elementAt(offset int) string {
	if bytes := int(a.bytes); bytes > 1 {
		return fmt.Sprintf("element %d (byte %d)", offset/bytes, offset)
	}
	return fmt.Sprintf("byte %d", offset)
}
