package arith

import (
	"math"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu/ptx"
)

// AtomOp computes the new value of memory that holds old; b and c are the sources.
type AtomOp func(old, b, c uint64) uint64

// Atoms are the operations of atom and red by name and type.
var Atoms = map[string]AtomOp{
	"add.u32": add, "add.s32": add, "add.u64": add, "add.s64": add,
	"inc.u32": func(old, b, _ uint64) uint64 {
		if uint32(old) >= uint32(b) {
			return 0
		}
		return old + 1
	},
	"dec.u32": func(old, b, _ uint64) uint64 {
		if uint32(old) == 0 || uint32(old) > uint32(b) {
			return b
		}
		return old - 1
	},
	"min.u32": least[uint32], "min.s32": least[int32], "min.u64": least[uint64], "min.s64": least[int64],
	"max.u32": most[uint32], "max.s32": most[int32], "max.u64": most[uint64], "max.s64": most[int64],
	"and.b32": and, "and.b64": and, "or.b32": or, "or.b64": or, "xor.b32": xor, "xor.b64": xor,
	"exch.b32": exchange, "exch.b64": exchange,
	"cas.b16": swap[uint16], "cas.b32": swap[uint32], "cas.b64": swap[uint64],
	"add.f32": func(old, b, _ uint64) uint64 { return uint64(bits32(F32(old) + F32(b))) },
	"add.f64": func(old, b, _ uint64) uint64 { return Bits64(F64(old)+F64(b), b, old) },
	"add.f16": func(old, b, _ uint64) uint64 { return addHalf(old, b, "f16") }, "add.bf16": func(old, b, _ uint64) uint64 { return addHalf(old, b, "bf16") },
	"add.f16x2": func(old, b, _ uint64) uint64 { return addHalf2(old, b, "f16") }, "add.bf16x2": func(old, b, _ uint64) uint64 { return addHalf2(old, b, "bf16") },
}

func add(old, b, _ uint64) uint64              { return old + b }
func and(old, b, _ uint64) uint64              { return old & b }
func or(old, b, _ uint64) uint64               { return old | b }
func xor(old, b, _ uint64) uint64              { return old ^ b }
func exchange(_, b, _ uint64) uint64           { return b }
func least[T Integer](old, b, _ uint64) uint64 { return uint64(min(T(old), T(b))) }
func most[T Integer](old, b, _ uint64) uint64  { return uint64(max(T(old), T(b))) }

func swap[T unsigned](old, b, c uint64) uint64 {
	if T(old) == T(b) {
		return c
	}
	return old
}

func addHalf(a, b uint64, t ptx.Type) uint64 {
	return RoundFloat(Decode(a, t)+Decode(b, t), Nearest, FormatOf(t))
}

func addHalf2(a, b uint64, t ptx.Type) uint64 {
	return addHalf(a&0xffff, b&0xffff, t) | addHalf(a>>16&0xffff, b>>16&0xffff, t)<<16
}

// GlobalAtoms are the sums that the units of global memory compute differently: for f32,
// subnormal numbers count as zeros; for f64, a NaN in memory is kept.
var GlobalAtoms = map[string]AtomOp{
	"f32": func(old, b, _ uint64) uint64 {
		return uint64(bits32(Flush(Flush(F32(old)) + Flush(F32(b)))))
	},
	"f64": func(old, b, _ uint64) uint64 {
		switch v := F64(old) + F64(b); {
		case math.IsNaN(F64(b)):
			return b
		case math.IsNaN(F64(old)):
			return old
		default:
			return Bits64(v)
		}
	},
}

// Replace applies an operation to memory and returns the previous value.
func Replace(at unsafe.Pointer, bytes uint64, op AtomOp, b, c uint64) uint64 {
	switch bytes {
	case 8:
		for p := (*uint64)(at); ; {
			old := atomic.LoadUint64(p)
			if atomic.CompareAndSwapUint64(p, old, op(old, b, c)) {
				return old
			}
		}
	case 4:
		for p := (*uint32)(at); ; {
			old := atomic.LoadUint32(p)
			if atomic.CompareAndSwapUint32(p, old, uint32(op(uint64(old), b, c))) {
				return uint64(old)
			}
		}
	}
	shift := uint(uintptr(at)&2) * 8
	p := (*uint32)(unsafe.Pointer(uintptr(at) &^ 2))
	for {
		old := atomic.LoadUint32(p)
		half := uint64(old >> shift & math.MaxUint16)
		now := old&^(math.MaxUint16<<shift) | uint32(op(half, b, c)&math.MaxUint16)<<shift
		if atomic.CompareAndSwapUint32(p, old, now) {
			return half
		}
	}
}
