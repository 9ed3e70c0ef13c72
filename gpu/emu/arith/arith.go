package arith

import (
	"unsafe"

	"warpbook/gpu/ptx"
)

// Operation holds the modifiers of an instruction that affect its arithmetic.
type Operation struct {
	Mode     rounding // of floats
	FTZ, Sat bool
	Table    uint8 // of lop3
}

// Lane computes an instruction in one lane. Narrow operands are zero extended, and the
// result is truncated to the destination's width.
type Lane func(o *Operation, a, b, c uint64) uint64

// loop is a Lane over all lanes: 32 results at d of the sources at a, b and c.
type loop func(d, a, b, c unsafe.Pointer)

func loop2[D, A, B any](f func(d *[32]D, a *[32]A, b *[32]B)) loop {
	return func(d, a, b, _ unsafe.Pointer) { f((*[32]D)(d), (*[32]A)(a), (*[32]B)(b)) }
}

func loop3[D, A, B, C any](f func(d *[32]D, a *[32]A, b *[32]B, c *[32]C)) loop {
	return func(d, a, b, c unsafe.Pointer) { f((*[32]D)(d), (*[32]A)(a), (*[32]B)(b), (*[32]C)(c)) }
}

// Row is an instruction that computes its result from its operands, lane by lane. A new
// instruction of this kind is a new row.
type Row struct {
	Name    string // without options: "add.f32"
	Kinds   string // width letter of each operand, the destination first
	Options string // allowed options
	Lane    Lane
	Loop    loop // the same over all lanes, without options; nil if a loop saves no time
}

// FloatOptions are modifiers that change how a float instruction rounds.
var FloatOptions = []string{"rn", "rz", "rm", "rp", "ftz", "sat"}

const (
	rounds = "rn rz rm rp"
	round1 = rounds + " ftz sat" // f32
)

// IsFloat reports whether a type is one of floats.
func IsFloat(t ptx.Type) bool {
	return t[0] == 'f' || t == "bf16" || t == "bf16x2" || t == "tf32"
}
