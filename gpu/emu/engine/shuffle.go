package engine

import (
	"unsafe"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/ptx"
)

var shuffleModes = map[string]uint8{"down": simd.ShuffleDown, "up": simd.ShuffleUp, "bfly": simd.ShuffleButterfly, "idx": simd.ShuffleIndex}

// shuffleForm lowers shfl.sync d|p, a, b, c, mask.
func shuffleForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	if !w.has("sync") {
		return lo.unsupported("shfl without .sync, which sm_70 and later do not have")
	}
	mode, ok := shuffleModes[w.take("down", "up", "bfly", "idx")]
	if t := w.last(); !ok || t != "b32" || len(w) > 0 {
		return lo.unsupported("no such form of shfl")
	}
	in, x := &lo.op.in, lo.extra()
	in.flow, in.exec, in.sub, in.vector.op = warpSync, shuffle, mode, simd.StepDown+simd.Op(mode)
	lo.op.pass = true
	return first(lo.operands(5, 5), lo.pair(word), lo.use(&in.a, 1, "b32"), lo.use(&in.b, 2, "b32"),
		lo.use(&in.c, 3, "b32"), lo.use(&x.e, 4, "b32"))
}

// shuffle gives each lane the value of another one. A lane that reads outside of its
// segment keeps its own value, one that reads from an inactive lane gets all ones: the
// manual leaves that open.
func shuffle(w *warp, in *instr, m uint32) {
	w.block.cnt.Shuffles++
	if m != all || w.undefined != nil {
		w.undefinedLanes(in, m) // before the sources change, one of which the destination may be
	}
	d := (*[32]uint32)(unsafe.Pointer(&w.tmp[0]))
	if in.x.hasD {
		d = lanes[uint32](w, in.d)
	}
	valid := w.block.vectors.Shuffle(d, lanes[uint32](w, in.a), lanes[uint32](w, in.b), lanes[uint32](w, in.c), m, in.sub)
	if in.x.hasD2 {
		w.preds[in.x.d2] = w.preds[in.x.d2]&^m | valid&m
	}
}

// syncForm sets up a .sync operation whose last operand is its mask.
func (lo *lowering) syncForm(n int, exec execFunc) error {
	lo.op.in.flow, lo.op.in.exec = warpSync, exec
	x := lo.extra()
	return first(lo.operands(n, n), lo.use(&x.e, n-1, "b32"))
}

// voteForm lowers vote.sync.
func voteForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	if !w.has("sync") {
		return lo.unsupported("vote without .sync, which sm_70 and later do not have")
	}
	mode, t := w.take("all", "any", "uni", "ballot"), w.last()
	if len(w) > 0 || mode == "" || (mode == "ballot") != (t == "b32") {
		return lo.unsupported("no such form of vote")
	}
	in := &lo.op.in
	x := lo.extra()
	in.kinds = string(rune(widthOf(t)))
	return first(lo.syncForm(3, func(w *warp, in *instr, m uint32) {
		named := lanes[uint32](w, in.x.e)
		votes := w.preds[in.x.p] ^ in.x.pflip
		for y := m; y != 0; y &= y - 1 {
			l := lowest(y) & 31
			group := m & named[l]
			yes := votes & group
			v := uint64(yes)
			switch mode {
			case "all":
				v = uint64(arith.Bit(yes == group))
			case "any":
				v = uint64(arith.Bit(yes != 0))
			case "uni":
				v = uint64(arith.Bit(yes == group || yes == 0))
			}
			w.setLane(in, l, v)
		}
	}), lo.def(&in.d, 0, widthOf(t)), lo.predicateUse(&x.p, &x.pflip, 1))
}

// matchForm lowers match.sync.
func matchForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	w.drop("sync")
	everyone := w.take("all", "any") == "all"
	t := w.last()
	if len(w) > 0 || t != "b32" && t != "b64" {
		return lo.unsupported("no such form of match")
	}
	in := &lo.op.in
	in.kinds = "w" + string(rune(widthOf(t)))
	return first(lo.syncForm(3, func(w *warp, in *instr, m uint32) {
		w.gather(&w.tmp[0], width(in.kinds[1]), in.a)
		named := *lanes[uint32](w, in.x.e)
		for y := m; y != 0; y &= y - 1 {
			l := lowest(y) & 31
			w.setMatch(in, l, m&named[l], everyone)
		}
	}), lo.pair(word), lo.use(&in.a, 1, t))
}

// setMatch gives a lane the lanes of its group that have its value.
func (w *warp) setMatch(in *instr, l int, group uint32, everyone bool) {
	var same uint32
	for x := group; x != 0; x &= x - 1 {
		if k := lowest(x) & 31; w.tmp[0][k] == w.tmp[0][l] {
			same |= 1 << k
		}
	}
	ok := same == group
	if everyone && !ok {
		same = 0
	}
	if in.x.hasD {
		lanes[uint32](w, in.d)[l] = same
	}
	if in.x.hasD2 {
		w.setPred(in.x.d2, 1<<l, ok)
	}
}

var reductions = map[string]func(a, b uint32) uint32{
	"add.u32": func(a, b uint32) uint32 { return a + b }, "add.s32": func(a, b uint32) uint32 { return a + b },
	"min.u32": func(a, b uint32) uint32 { return min(a, b) }, "max.u32": func(a, b uint32) uint32 { return max(a, b) },
	"min.s32": func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) },
	"max.s32": func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) },
	"and.b32": func(a, b uint32) uint32 { return a & b }, "or.b32": func(a, b uint32) uint32 { return a | b },
	"xor.b32": func(a, b uint32) uint32 { return a ^ b },
}

// reduxForm lowers redux.sync.
func reduxForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	w.drop("sync")
	t := w.last()
	if len(w) != 1 || reductions[w[0]+"."+string(t)] == nil {
		return lo.unsupported("no such form of redux")
	}
	op := reductions[w[0]+"."+string(t)]
	in := &lo.op.in
	return first(lo.syncForm(3, func(w *warp, in *instr, m uint32) {
		d, a, named := lanes[uint32](w, in.d), *lanes[uint32](w, in.a), *lanes[uint32](w, in.x.e)
		for y := m; y != 0; y &= y - 1 {
			l := lowest(y) & 31
			group := m & named[l]
			v := a[lowest(group)]
			for x := group & (group - 1); x != 0; x &= x - 1 {
				v = op(v, a[lowest(x)&31])
			}
			d[l] = v
		}
	}), lo.def(&in.d, 0, word), lo.use(&in.a, 1, t))
}

// electForm lowers elect.sync: the lowest lane is elected.
func electForm(lo *lowering) error {
	return first(lo.syncForm(2, func(w *warp, in *instr, m uint32) {
		named := *lanes[uint32](w, in.x.e)
		for y := m; y != 0; y &= y - 1 {
			l := lowest(y) & 31
			leader := lowest(m & named[l])
			if in.x.hasD {
				lanes[uint32](w, in.d)[l] = uint32(leader)
			}
			if in.x.hasD2 {
				w.setPred(in.x.d2, 1<<l, l == leader)
			}
		}
	}), lo.pair(word))
}

func activemaskForm(lo *lowering) error {
	in := &lo.op.in
	in.exec = func(w *warp, in *instr, m uint32) {
		d := lanes[uint32](w, in.d)
		for x := m; x != 0; x &= x - 1 {
			d[lowest(x)&31] = m
		}
	}
	if t := ptx.Type(lo.op.in.src.Modifiers[0]); t != "b32" {
		return lo.unsupported("no such form of activemask")
	}
	return first(lo.operands(1, 1), lo.def(&in.d, 0, word))
}
