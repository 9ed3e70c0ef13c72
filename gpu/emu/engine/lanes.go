package engine

import (
	"unsafe"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/simd"
)

// This file runs operations on the lanes of a warp: runLanes runs any, one lane at a
// time; map1 and loopOf run those that have a loop of their own.

// runLanes calls the operation's lane function for each active lane.
func runLanes(w *warp, in *instr, m uint32) {
	w.sources(in)
	a, b, c := &w.tmp[0], &w.tmp[1], &w.tmp[2]
	switch width(in.kinds[0]) {
	case predicate:
		var r uint32
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			r |= uint32(in.lane(&in.operation, a[l], b[l], c[l])&1) << l
		}
		w.preds[in.d] = w.preds[in.d]&^m | r
	case double:
		d := lanes[uint64](w, in.d)
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			d[l] = in.lane(&in.operation, a[l], b[l], c[l])
		}
	default:
		d, keep := lanes[uint32](w, in.d), width(in.kinds[0]).mask()
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			d[l] = uint32(in.lane(&in.operation, a[l], b[l], c[l])) & keep
		}
	}
}

// sources gathers the sources of an instruction according to its kinds; missing sources
// are zeros.
func (w *warp) sources(in *instr) {
	slots := [...]uint32{in.a, in.b, in.c}
	for i, k := range in.kinds[1:] {
		w.gather(&w.tmp[i], width(k), slots[i])
	}
	for i := len(in.kinds) - 1; i < len(w.tmp); i++ {
		w.tmp[i] = [32]uint64{}
	}
}

// gather widens the lanes of an operand.
func (w *warp) gather(to *[32]uint64, k width, slot uint32) {
	switch k {
	case predicate:
		p := w.preds[slot]
		for l := range to {
			to[l] = uint64(p >> l & 1)
		}
	case double:
		*to = *lanes[uint64](w, slot)
	default:
		for l, v := range lanes[uint32](w, slot) {
			to[l] = uint64(v)
		}
	}
}

type execFunc func(w *warp, in *instr, m uint32)

// map1 runs a loop over all lanes; idle lanes of a warp keep their old values.
func map1[D, A any](f func(d *[32]D, a *[32]A)) execFunc {
	return func(w *warp, in *instr, m uint32) {
		d, a := lanes[D](w, in.d), lanes[A](w, in.a)
		if m == all {
			f(d, a)
			return
		}
		t := (*[32]D)(unsafe.Pointer(&w.tmp[0]))
		f(t, a)
		simd.Blend(d, t, m)
	}
}

// loopOf runs the loop of a row over all lanes; idle lanes of a warp keep their old
// values.
func loopOf(r *arith.Row) execFunc {
	f, wide := r.Loop, width(r.Kinds[0]) == double
	return func(w *warp, in *instr, m uint32) {
		d, a, b, c := unsafe.Add(w.slots, in.d), unsafe.Add(w.slots, in.a), unsafe.Add(w.slots, in.b), unsafe.Add(w.slots, in.c)
		if m == all {
			f(d, a, b, c)
			return
		}
		t := unsafe.Pointer(&w.tmp[0])
		f(t, a, b, c)
		if wide {
			simd.Blend((*[32]uint64)(d), (*[32]uint64)(t), m)
		} else {
			simd.Blend((*[32]uint32)(d), (*[32]uint32)(t), m)
		}
	}
}

// predicateLoops are the rows that work on all lanes of predicates at once.
var predicateLoops = map[string]execFunc{
	"and.pred": predicates(func(a, b uint32) uint32 { return a & b }),
	"or.pred":  predicates(func(a, b uint32) uint32 { return a | b }),
	"xor.pred": predicates(func(a, b uint32) uint32 { return a ^ b }),
	"not.pred": predicates(func(a, _ uint32) uint32 { return ^a }),
}

func predicates(f func(a, b uint32) uint32) execFunc {
	return func(w *warp, in *instr, m uint32) {
		w.preds[in.d] = w.preds[in.d]&^m | f(w.preds[in.a], w.preds[in.b])&m
	}
}

// setLane sets a lane of the destination.
func (w *warp) setLane(in *instr, l int, v uint64) {
	switch width(in.kinds[0]) {
	case double:
		lanes[uint64](w, in.d)[l] = v
	case predicate:
		w.preds[in.d] = w.preds[in.d]&^(1<<l) | uint32(v&1)<<l
	default:
		lanes[uint32](w, in.d)[l] = uint32(v) & width(in.kinds[0]).mask()
	}
}
