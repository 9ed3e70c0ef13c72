package gemm

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// TF32 multiplies float32 matrices on tensor cores, which take 11 bits of
// each factor.
var TF32 = withCases(Tensor(Options{Alpha: 1}, gpu.Float32), tensorCases("tf32"))

// BF16 multiplies bfloat16 matrices on tensor cores.
var BF16 = withCases(Tensor(Options{Alpha: 1}, gpu.BFloat16), tensorCases("bf16"))

// FP16 multiplies float16 matrices on tensor cores.
var FP16 = withCases(Tensor(Options{Alpha: 1}, gpu.Float16), tensorCases("fp16"))

// Tensor is the operator of With on tensor cores: a, b, c and d of
// gpu.Float16 or gpu.BFloat16, or of gpu.Float32, whose factors are rounded to
// TF32; sums are float32.
//
// Shapes: those of With. Types: reference float64 of the rounded inputs.
// Error:  |d - ref| <= (bound(k + 19) + r) * (|alpha| sum|a||b| + |beta c|), where r
// is the rounding of d to 16 bits, 2^-11 or 2^-8, or of two factors to TF32, 2^-10.
// Of gemm_tf32x3 it is bound(k/32 + min(k, 32) + 19) and r = 2^-21, of gemm_bf16x3
// bound(k/64 + min(k, 64) + 19) and r = 2^-24, where all of A and B are 0 or at least
// 2^-115 or 2^-110: of less, 2^-137 or 2^-134 is lost besides. Of gemm_fp16x3 it is
// bound(k/64 + min(k, 64) + 19) and r = 2^-21, but where an element is less than 2^-17
// of the largest of its row of A or its column of B: of that, 2^-39 is lost besides.
// Cost:   2mnk flops, 2 or 4 bytes per element.
func Tensor(o Options, elements gpu.Type) *ladder.Operator {
	operator := With(o)
	kind := tensorKinds[elements]
	operator.Name, operator.Module, operator.Peers = "gemm_"+kind.name, "gemm_tensor", []string{"gemm.py"}
	plain := *operator
	typed := func(tensors []ladder.Tensor) []ladder.Tensor {
		for i := range tensors {
			tensors[i].Type = elements
		}
		return tensors
	}
	operator.Inputs = func(s ladder.Size) []ladder.Tensor { return typed(plain.Inputs(s)) }
	operator.Outputs = func(s ladder.Size) []ladder.Tensor { return typed(plain.Outputs(s)) }
	operator.Work = func(s ladder.Size) ladder.Work {
		work := plain.Work(s)
		work.Bytes *= float64(elements.Bytes()) / 4
		return work
	}
	operator.Remake = remake(func(o Options) *ladder.Operator { return Tensor(o, elements) })
	operator.Variants = o.tensorVariants(kind)
	return operator
}

// tensorKind is a type of factors.
type tensorKind struct {
	name  string
	needs gpu.Compute // for wmma
	size  int         // bytes of an element
	round float64
}

var tensorKinds = map[gpu.Type]tensorKind{
	gpu.Float16:  {name: "fp16", needs: gpu.Compute{Major: 7, Minor: 5}, size: 2, round: 0x1p-11},
	gpu.BFloat16: {name: "bf16", needs: ladder.Ampere, size: 2, round: 0x1p-8},
	gpu.Float32:  {name: "tf32", needs: ladder.Ampere, size: 4, round: 0x1.001p-10},
}

// tensorRoundings are the roundings beyond those of a float32 sum: tensor cores
// truncate products that are too small relative to the largest of a step.
const tensorRoundings = 16

func (o Options) tensorVariants(kind tensorKind) []ladder.Variant {
	depth, vector := 64/kind.size, 16/kind.size
	wmmaBytes := (128*(depth+vector) + depth*(128+vector)) * kind.size
	mmaBytes := 4 * (128*64 + depth*(128*kind.size+32))
	return append([]ladder.Variant{
		{
			Name: "gemm_" + kind.name + "_wmma", Adds: "tensor cores: a warp multiplies matrices of 16 x 16; the compiler decides which thread holds which element",
			Source: "ours", Needs: kind.needs, Plan: kind.rounded(o.staged(128, 128, 256, wmmaBytes)),
		},
		{
			Name: "gemm_" + kind.name + "_mma", Adds: "the code decides which register holds which element: ldmatrix and mma.sync, copies three steps ahead, 64 x 64 per warp",
			Source: "ours", Needs: ladder.Ampere, Plan: kind.rounded(o.staged(128, 128, 128, mmaBytes)),
		},
	}, o.hopperVariants(kind)...)
}

// rounded is a plan with the error of the type.
func (k tensorKind) rounded(plan ladder.Planner) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		p := plan(entry, s, info)
		if len(p.Steps) > 0 {
			p.Round = k.round
			p.Depth += tensorRoundings
		}
		return p
	}
}
