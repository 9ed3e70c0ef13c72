package engine

import (
	"math/bits"
)

// origin describes the parts of a value: a bit for each variable and parameter. A part
// in once is added to the rest. A part in other contributes in another way, or
// contributes to only some of the values that a register may hold.
type origin struct {
	known       bool // whether anything is known about the register yet
	once, other uint64
}

// or is the origin of a register that may be written in two ways.
func (o origin) or(p origin) origin {
	switch {
	case !o.known:
		return p
	case !p.known:
		return o
	}
	return origin{true, o.once & p.once, o.other | p.other | (o.once ^ p.once)}
}

// plus is the origin of a sum.
func (o origin) plus(p origin) origin {
	if !o.known || !p.known {
		return origin{}
	}
	other := o.other | p.other | o.once&p.once
	return origin{true, (o.once | p.once) &^ other, other}
}

// scaled is the origin of a value that is computed from it in another way.
func (o origin) scaled() origin { return origin{o.known, 0, o.once | o.other} }

// alone is the single bit of some that a value starts from, or -1.
func (o origin) alone(of uint64) int {
	if once := o.once & of; bits.OnesCount64(once) == 1 && o.other&of == 0 {
		return bits.TrailingZeros64(once)
	}
	return -1
}

// start is the origin of an address among the parameters of 64 bits.
type start struct{ once, other uint64 }
