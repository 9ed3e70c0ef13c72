package engine

import (
	"slices"

	"warpbook/gpu/emu/copyengine"
	"warpbook/gpu/ptx"
)

// This file is the reductions of the copy engine, cp.reduce.async.bulk, and the stores and
// reductions of single values that an mbarrier counts, st.async and red.async.

// bulkReduceForm lowers cp.reduce.async.bulk; w are the modifiers behind .bulk.
func (lo *lowering) bulkReduceForm(w words) error {
	if err := lo.target(90); err != nil {
		return err
	}
	lo.op.in.flow = checked
	f := &bulkForm{tensor: w.has("tensor")}
	rank := 0
	if f.tensor {
		rank = dimensions(&w)
		f.im2col = w.take("tile", "im2col_no_offs") == "im2col_no_offs"
	}
	w.drop()
	lo.op.in.mem = &access{kind: store, space: ptx.Shared, bytes: 8, size: 16, count: 2, uncounted: true}
	op := w.take("and", "or", "xor", "add", "inc", "dec", "min", "max")
	noftz := w.has("noftz")
	if f.tensor {
		if f.tensorOp = op; op == "" || noftz || !w.are("global", "shared::cta", "bulk_group") {
			return lo.unsupported("no such form of cp.reduce.async.bulk.tensor")
		}
		lo.op.in.mem.kind = load
		return lo.bulkStore(f, rank)
	}
	t := w.last()
	name := op + "." + string(t)
	if noftz {
		name = op + ".noftz." + string(t)
	}
	switch {
	case w.are("global", "shared::cta", "bulk_group") && slices.Contains(copyengine.GlobalReductions, name):
		f.reduce = copyengine.NewReduction(op, t, true)
		lo.op.in.mem.kind = load
		return lo.bulkStore(f, 0)
	case w.are("shared::cluster", "shared::cta", "mbarrier::complete_tx::bytes") && slices.Contains(copyengine.SharedReductions, name):
		f.reduce = copyengine.NewReduction(op, t, false)
		return lo.bulkLoad(f, 0)
	}
	return lo.unsupported("no such form of cp.reduce.async.bulk")
}

// asyncOr lowers st.async and red.async, and an instruction of another form by that.
func asyncOr(other form) form {
	return func(lo *lowering) error {
		if w := wordsOf(lo.op.in.src); w.has("async") {
			return lo.asyncValueForm(w)
		}
		return other(lo)
	}
}

// asyncValueForm lowers st.async and red.async: each lane sends a value to the shared
// memory of a block of the cluster, and an mbarrier there counts its bytes.
func (lo *lowering) asyncValueForm(w words) (err error) {
	if err := lo.target(90); err != nil {
		return err
	}
	f := &bulkForm{}
	reduces := lo.op.in.src.Opcode == "red"
	relaxed := w.has("relaxed") && w.has("cluster")
	w.take("weak")
	w.take("shared::cluster")
	counts := w.has("mbarrier::complete_tx::bytes")
	count := 1
	if !reduces {
		count = max(1, slices.Index([]string{"", "", "v2", "", "v4"}, w.take("v2", "v4")))
	}
	op := ""
	if reduces {
		op = w.take("and", "or", "xor", "add", "inc", "dec", "min", "max")
	}
	t := w.last()
	name := op + "." + string(t)
	switch {
	case len(w) > 0 || !counts || reduces != relaxed:
		return lo.unsupported("no such form of %s.async", lo.op.in.src.Opcode)
	case reduces && !slices.Contains(copyengine.SharedReductions, name):
		return lo.unsupported("no such form of red.async")
	case !reduces && !slices.Contains([]ptx.Type{"b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64"}, t):
		return lo.unsupported("no such form of st.async")
	case reduces:
		f.reduce = copyengine.NewReduction(op, t, false)
	}
	in := &lo.op.in
	mem := &access{kind: store, space: ptx.Shared, bytes: uint64(t.Bytes()), count: count, size: uint64(t.Bytes() * count), uncounted: true}
	in.mem, in.flow = mem, checked
	if err := lo.operands(3, 3); err != nil {
		return err
	}
	if f.to, _, err = lo.addressPart(0); err != nil {
		return err
	}
	if f.mbarrier, _, err = lo.addressPart(2); err != nil {
		return err
	}
	in.exec = func(w *warp, in *instr, m uint32) {
		eachLane(m, func(l int) { w.sendValues(f, in, l) })
	}
	return lo.data(mem, 1, t, false)
}

// sendValues starts st.async or red.async of a lane.
func (w *warp) sendValues(f *bulkForm, in *instr, l int) {
	if w.block.fault != nil {
		return
	}
	f.to(w, 1<<l)
	at := w.addr[l]
	f.mbarrier(w, 1<<l)
	var data []byte
	for k := range in.mem.count {
		v := w.data(in.mem, k, l)
		for i := range in.mem.bytes {
			data = append(data, byte(v>>(8*i)))
		}
	}
	w.sendBulk(in, l, at, w.addr[l], data, 0, f.reduce)
}
