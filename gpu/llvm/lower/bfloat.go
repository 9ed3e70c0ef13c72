package lower

import (
	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// bfloat is the result of an instruction of bfloats: of their own on sm_90, of floats that
// are rounded before it.
func (f *fn) bfloat(v *ir.Value) operand {
	word := map[string]string{"fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div.rn", "fneg": "neg"}[v.Op]
	if word == "" {
		f.fail("%s of bfloat is not supported", v.Op)
	}
	if word == "neg" {
		return f.pure(machine.B16, "xor.b16 $0, $1, -32768", f.register(v.Operands[0]))
	}
	a, b := v.Operands[0], v.Operands[1]
	sign := func(o operand) operand {
		if v.Op == "fsub" {
			return f.pure(machine.B32, "neg.f32 $0, $1", o)
		}
		return o
	}
	if v.Op == "fadd" || v.Op == "fsub" {
		switch pa, pb := f.factor(v); {
		case pa != nil:
			return f.fromFloat(f.pure(machine.B32, "fma.rn.f32 $0, $1, $2, $3", f.asFloat(pa.Operands[0]), f.asFloat(pa.Operands[1]), sign(f.asFloat(b))))
		case pb != nil:
			return f.fromFloat(f.pure(machine.B32, "fma.rn.f32 $0, $1, $2, $3", sign(f.asFloat(pb.Operands[0])), f.asFloat(pb.Operands[1]), f.asFloat(a)))
		}
	}
	if f.options.Arch >= 90 && word != "div.rn" {
		return f.pure(machine.B16, word+".rn.bf16 $0, $1, $2", f.register(a), f.register(b))
	}
	return f.fromFloat(f.pure(machine.B32, word+".f32 $0, $1, $2", f.asFloat(a), f.asFloat(b)))
}

// asFloat is a bfloat as a float.
func (f *fn) asFloat(v *ir.Value) operand { return f.floatOf(f.register(v)) }

func (f *fn) floatOf(o operand) operand {
	return f.pure(machine.B32, "shl.b32 $0, $1, 16", f.pure(machine.B32, "cvt.u32.u16 $0, $1", o))
}

// fromFloat rounds a float to a bfloat, to the nearest and ties to even.
func (f *fn) fromFloat(o operand) operand {
	o = f.inRegister(o, machine.B32)
	if f.options.Arch >= 80 {
		return f.pure(machine.B16, "cvt.rn.bf16.f32 $0, $1", o)
	}
	odd := f.pure(machine.B32, "bfe.u32 $0, $1, 16, 1", o)
	sum := f.pure(machine.B32, "add.s32 $0, $1, 32767", f.pure(machine.B32, "add.s32 $0, $1, $2", odd, o))
	nan := f.pure(machine.Pred, "setp.nan.f32 $0, $1, $2", o, o)
	quiet := f.pure(machine.B32, "or.b32 $0, $1, 4194304", o)
	bits := f.pure(machine.B32, "selp.b32 $0, $1, $2, $3", quiet, sum, nan)
	return f.pure(machine.B16, "cvt.u16.u32 $0, $1", f.pure(machine.B32, "shr.u32 $0, $1, 16", bits))
}
