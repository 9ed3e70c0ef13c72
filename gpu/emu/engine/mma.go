package engine

import (
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/matrix"
	"warpbook/gpu/ptx"
)

// mmaShapes are the shapes of mma.sync for each type of a and b.
var mmaShapes = map[ptx.Type][]string{
	"f16": {"m16n8k8", "m16n8k16"}, "bf16": {"m16n8k8", "m16n8k16"}, "tf32": {"m16n8k4", "m16n8k8"},
	"s8": {"m8n8k16", "m16n8k16", "m16n8k32"}, "u8": {"m8n8k16", "m16n8k16", "m16n8k32"},
	"e4m3": {"m16n8k16", "m16n8k32"}, "e5m2": {"m16n8k16", "m16n8k32"},
	"f64": {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"},
}

// sparseShapes are those of mma.sp.
var sparseShapes = map[ptx.Type][]string{
	"f16": {"m16n8k16", "m16n8k32"}, "bf16": {"m16n8k16", "m16n8k32"}, "tf32": {"m16n8k8", "m16n8k16"},
	"s8": {"m16n8k32", "m16n8k64"}, "u8": {"m16n8k32", "m16n8k64"}, "e4m3": {"m16n8k64"}, "e5m2": {"m16n8k64"},
}

// mmaForm lowers mma.sync and mma.sp.
func mmaForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	whole := w.has("sync") && w.has("aligned")
	p := &matrix.Product{Saturated: w.has("satfinite"), Compute: lo.compute, Core: arith.TensorCoreOf(lo.compute)}
	layout := w.has("row") && w.has("col")
	shapes := mmaShapes
	if sparse := w.take("sp", "sp::ordered_metadata"); sparse != "" {
		p.Sparse, shapes = &matrix.Sparsity{Ordered: sparse != "sp"}, sparseShapes
	}
	w.drop("rn")
	if len(w) != 5 || !whole || !layout {
		return lo.unsupported("no such form of mma")
	}
	shape := w[0]
	p.To, p.Of, p.OfB = ptx.Type(w[1]), ptx.Type(w[2]), ptx.Type(w[3])
	if !slices.Contains(shapes[p.Of], shape) || string(p.To) != w[4] || !p.Typed() {
		return lo.unsupported("no such form of mma")
	}
	if _, err := fmt.Sscanf(shape, "m%dn%dk%d", &p.M, &p.N, &p.K); err != nil {
		return lo.malformed("shape %s", shape)
	}
	if err := lo.target(p.Target(false)); err != nil {
		return err
	}
	operands := 4
	var metadata error
	if p.Sparse != nil {
		p.Sparse.Of, p.Sparse.K = p.Of, p.K
		operands, metadata = 6, first(lo.operands(6, 6), lo.sparseOperands(p.Sparse, 4))
	}
	x := matrix.NewMMA(p)
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		if w.together32(in, m) && w.keepStored(in, p.Sparse) {
			w.block.matrices.MMA(w.slots, x)
		}
	}
	return first(metadata, lo.operands(operands, operands), lo.wholeWarp(), lo.tile(x.D, 0, true), lo.tile(x.A, 1, false), lo.tile(x.B, 2, false), lo.tile(x.C, 3, false))
}

// sparseOperands binds the metadata at operand i and the selector behind it.
func (lo *lowering) sparseOperands(s *matrix.Sparsity, i int) error {
	o, most := lo.operand(i+1), s.MostSelector()
	if o.Kind != ptx.ImmediateOperand || o.Bits > most {
		return lo.malformed("operand %d, expected a constant from 0 to %d: the sparsity selector", i+2, most)
	}
	s.Select(o.Bits)
	return lo.use(&s.Slot, i, "b32")
}

// keepStored reads the metadata of a sparse product, and reports whether it is defined.
func (w *warp) keepStored(in *instr, s *matrix.Sparsity) bool {
	if s == nil {
		return true
	}
	err := w.block.matrices.Keep(w.slots, s)
	if err != nil {
		w.fail(in, err.Lane, gpu.ErrArgument, "%s", err)
	}
	return err == nil
}

// together32 reports whether all 32 lanes of a warp run an instruction. If not, it is a
// fault.
func (w *warp) together32(in *instr, m uint32) bool {
	if m == all {
		return true
	}
	w.fail(in, lowest(m), gpu.ErrMask, "%d lanes of the warp run it, expected all 32", popcount(m))
	return false
}

// wholeWarp makes an instruction wait for all lanes of the warp.
func (lo *lowering) wholeWarp() error {
	lo.op.in.flow = warpSync
	lo.bind(&lo.extra().e, value{kind: constantValue, bits: all, width: word}, false)
	return nil
}
