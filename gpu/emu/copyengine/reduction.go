package copyengine

import (
	"slices"
	"unsafe"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// Reduction combines the elements of a copy with those of its destination.
type Reduction struct {
	op    arith.AtomOp
	bytes int // of an element
}

// Apply combines data with what is there.
func (r *Reduction) Apply(to, data []byte) {
	for n := 0; n < len(data); n += r.bytes {
		var v uint64
		for i := range r.bytes {
			v |= uint64(data[n+i]) << (8 * i)
		}
		arith.Replace(unsafe.Pointer(&to[n]), uint64(r.bytes), r.op, v, 0)
	}
}

// The reductions by the memory that they reach, as the PTX manual lists them.
var (
	SharedReductions = []string{"and.b32", "or.b32", "xor.b32", "add.u32", "add.s32", "add.u64", "inc.u32", "dec.u32", "min.u32", "min.s32", "max.u32", "max.s32"}
	GlobalReductions = append(slices.Clone(SharedReductions), "and.b64", "or.b64", "xor.b64", "min.u64", "min.s64", "max.u64", "max.s64",
		"add.f32", "add.f64", "add.noftz.f16", "add.noftz.bf16", "min.f16", "max.f16", "min.bf16", "max.bf16")
)

// NewReduction is a reduction by its words, such as add.noftz.f16, of global memory or of
// shared memory.
func NewReduction(op string, t ptx.Type, global bool) *Reduction {
	r := &Reduction{op: arith.Atoms[op+"."+string(t)], bytes: t.Bytes()}
	if row := arith.Rows[op+"."+string(t)]; r.op == nil && row != nil {
		r.op = func(old, b, _ uint64) uint64 { return row.Lane(&arith.Operation{}, old, b, 0) }
	}
	if op == "add" && global && arith.GlobalAtoms[string(t)] != nil {
		r.op = arith.GlobalAtoms[string(t)]
	}
	return r
}

// TensorReduction is a reduction of a tensor by the type of its elements; nil if there is none.
func TensorReduction(op string, t ptx.Type) *Reduction {
	bits := map[int]ptx.Type{4: "b32", 8: "b64"}[t.Bytes()]
	switch name := op + "." + string(t); {
	case t == "f16" || t == "bf16":
		if op == "add" {
			name = "add.noftz." + string(t)
		}
		if !slices.Contains(GlobalReductions, name) {
			return nil
		}
	case t == "s64" && op == "add":
		t = "u64"
	case (op == "and" || op == "or" || op == "xor") && bits != "" && !arith.IsFloat(t):
		t = bits
	case !slices.Contains(GlobalReductions, name):
		return nil
	}
	return NewReduction(op, t, true)
}
