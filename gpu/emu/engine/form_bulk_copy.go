package engine

import (
	"slices"
	"strings"

	"warpbook/gpu/emu/copyengine"
	"warpbook/gpu/ptx"
)

// bulkForm holds the operands of a bulk copy.
type bulkForm struct {
	to, from    func(w *warp, m uint32) // addresses; for a tensor, the address of its map
	mbarrier    func(w *warp, m uint32)
	coordinates []uint32 // slots
	size        uint32   // slot of the bytes of a plain copy
	mask        uint32   // slot of the blocks of a multicast
	multicast   bool
	tensor      bool
	reduce      *copyengine.Reduction // nil for a plain copy
	tensorOp    string                // of a reduction into a tensor, whose map names the type
	im2col      bool
	offsets     []uint32 // slots of the im2col offsets
}

// bulkCopyForm lowers cp.async.bulk; w are the modifiers after .bulk.
func (lo *lowering) bulkCopyForm(w words) error {
	if err := lo.target(90); err != nil {
		return err
	}
	lo.op.in.flow = checked
	switch op := w.take("commit_group", "wait_group", "prefetch"); {
	case op == "commit_group" && len(w) == 0:
		lo.op.in.exec = func(w *warp, _ *instr, m uint32) {
			eachLane(m, w.bulk.Commit)
		}
		return lo.operands(0, 0)
	case op == "wait_group":
		return lo.bulkWait(w)
	case op == "prefetch":
		return nothingForm(lo)
	}
	f := &bulkForm{tensor: w.has("tensor"), multicast: w.has("multicast::cluster")}
	rank := 0
	if f.tensor {
		rank = dimensions(&w)
		mode := w.take("tile", "im2col", "im2col_no_offs")
		loads := mode == "im2col"
		f.im2col = loads || mode == "im2col_no_offs"
		if f.im2col && (rank < 3 || loads == slices.Contains(w, "bulk_group")) {
			return lo.unsupported("no such form of cp.async.bulk.tensor")
		}
	}
	w.drop()
	lo.op.in.mem = &access{kind: store, space: ptx.Shared, bytes: 8, size: 16, count: 2, uncounted: true}
	switch form := strings.Join(w, "."); {
	case form == "shared::cluster.global.mbarrier::complete_tx::bytes", form == "shared::cta.global.mbarrier::complete_tx::bytes":
		return lo.bulkLoad(f, rank)
	case form == "shared::cluster.shared::cta.mbarrier::complete_tx::bytes" && !f.tensor && !f.multicast:
		return lo.bulkLoad(f, 0)
	case form == "global.shared::cta.bulk_group" && !f.multicast:
		lo.op.in.mem.kind = load
		return lo.bulkStore(f, rank)
	}
	return lo.unsupported("no such form of cp.async.bulk")
}

// dimensions removes and returns the rank of a tensor.
func dimensions(w *words) int {
	return strings.Index("0123456", strings.TrimSuffix(w.take("1d", "2d", "3d", "4d", "5d"), "d"))
}

// bulkLoad binds the operands of a copy into shared memory.
func (lo *lowering) bulkLoad(f *bulkForm, rank int) (err error) {
	hints, barrier := lo.hinted(), 2
	if !f.tensor {
		barrier = 3
	}
	n := barrier + 1 + hints
	if f.im2col {
		n++
	}
	if f.multicast {
		n++
	}
	if err := lo.operands(n, n); err != nil {
		return err
	}
	if f.to, _, err = lo.addressPart(0); err != nil {
		return err
	}
	if f.from, _, err = lo.addressPart(1); err != nil {
		return err
	}
	if f.mbarrier, _, err = lo.addressPart(barrier); err != nil {
		return err
	}
	if !f.tensor {
		if err := lo.use(&f.size, 2, "b32"); err != nil {
			return err
		}
	} else if err := lo.tensorCoordinates(f, 1, rank); err != nil {
		return err
	}
	if f.im2col {
		barrier++
		if err := lo.im2colOffsets(f, barrier, rank-2); err != nil {
			return err
		}
	}
	if f.multicast {
		if err := lo.use(&f.mask, barrier+1, "b16"); err != nil {
			return err
		}
	}
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		eachLane(m, func(l int) { w.startBulk(f, in, l) })
	}
	return nil
}

// bulkStore binds the operands of a copy out of shared memory.
func (lo *lowering) bulkStore(f *bulkForm, rank int) (err error) {
	n := 2 + lo.hinted()
	if !f.tensor {
		n++
	}
	if err := lo.operands(n, n); err != nil {
		return err
	}
	if f.to, _, err = lo.addressPart(0); err != nil {
		return err
	}
	if f.from, _, err = lo.addressPart(1); err != nil {
		return err
	}
	if !f.tensor {
		err = lo.use(&f.size, 2, "b32")
	} else {
		err = lo.tensorCoordinates(f, 0, rank)
	}
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		eachLane(m, func(l int) { w.storeBulk(f, in, l) })
	}
	return err
}

// tensorCoordinates binds {x, y, ...} after the map at operand i.
func (lo *lowering) tensorCoordinates(f *bulkForm, i, rank int) error {
	var elems []ptx.Operand
	if o := lo.operand(i); len(o.Elems) == 1 {
		elems = o.Elems[0].Elems
	}
	if rank < 1 || len(elems) != rank {
		return lo.malformed("%d coordinates, expected %d", len(elems), rank)
	}
	f.coordinates = make([]uint32, rank)
	for k, e := range elems {
		if err := lo.useOperand(&f.coordinates[k], e, "a coordinate", "s32"); err != nil {
			return err
		}
	}
	return nil
}

// im2colOffsets binds operand i, the offsets of a load in im2col mode.
func (lo *lowering) im2colOffsets(f *bulkForm, i, count int) error {
	elems := lo.operand(i).Elems
	if len(elems) != count {
		return lo.malformed("operand %d has %d im2col offsets, expected %d", i+1, len(elems), count)
	}
	f.offsets = make([]uint32, count)
	for k, e := range elems {
		if err := lo.useOperand(&f.offsets[k], e, "an im2col offset", "b16"); err != nil {
			return err
		}
	}
	return nil
}

// bulkWait lowers the wait for all groups of a thread except the last few.
func (lo *lowering) bulkWait(w words) error {
	w.take("read")
	if err := lo.operands(1, 1); err != nil {
		return err
	}
	n := lo.operand(0)
	if len(w) > 0 || n.Kind != ptx.ImmediateOperand {
		return lo.unsupported("no such form of cp.async.bulk")
	}
	lo.op.in.exec = func(w *warp, _ *instr, m uint32) { w.waitBulk(m, n.Bits) }
	return nil
}
