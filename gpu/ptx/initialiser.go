package ptx

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// initialiser fills a variable with the values after '='.
type initialiser struct {
	*parser
	v declared
}

func (p *parser) initialise(v declared, name token) {
	if v.Space != Global && v.Space != Const || v.Extern {
		p.fail(name.pos, "initial value of '%s', expected only for .global and .const", name.text)
		return
	}
	switch v.Type {
	case "f16", "f16x2", "bf16", "bf16x2", "tf32", "b128", "e4m3", "e5m2":
		p.fail(name.pos, "initial value of type .%s, expected a type such as .b16 or .b32", v.Type)
		return
	}
	in := initialiser{p, v}
	dims := v.dims
	if v.Vector > 1 {
		dims = append(dims[:len(dims):len(dims)], v.Vector)
	}
	v.Init = []byte{}
	if len(dims) == 0 {
		in.element()
		return
	}
	n := in.list(dims, false)
	if v.Count > 0 {
		return
	}
	v.Count = n // x[] has the size of its initial value
	for _, d := range v.dims[1:] {
		v.Count *= d
	}
}

// list reads { a, b, ... }: dims[0] values, each a list itself where more
// dimensions follow, and returns how many there are. A first dimension of 0 is
// open. Only the outermost list of an array may be short: where an inner one
// is, the language's manual pads the row and its assembler does not.
func (in *initialiser) list(dims []int, inner bool) int {
	in.expect('{', "before the initial values")
	n := 0
	for in.tok.kind != '}' && in.err == nil {
		if n == dims[0] && n > 0 {
			in.fail(in.tok.pos, "more initial values of '%s' than %d", in.v.Name, n)
			return n
		}
		if len(dims) > 1 {
			in.list(dims[1:], true)
		} else {
			in.element()
		}
		n++
		if in.tok.kind != '}' {
			in.separator('}')
		}
	}
	whole := inner || len(in.v.dims) == 0
	if whole && n < dims[0] {
		in.fail(in.tok.pos, "%d initial values of a row or vector, expected %d", n, dims[0])
	}
	in.expect('}', "after the initial values")
	return n
}

// element reads one value and appends it.
func (in *initialiser) element() {
	size := in.v.Type.Bytes()
	offset := len(in.v.Init)
	in.v.Init = append(in.v.Init, make([]byte, size)...)
	if in.tok.kind == wordToken && in.tok.text != "WARP_SZ" {
		if size != 4 && size != 8 {
			in.fail(in.tok.pos, "address in an element of %d bytes, expected 4 or 8", size)
		}
		in.address(Reloc{Offset: offset, Bytes: size})
		return
	}
	pos := in.tok.pos
	c := in.expression()
	if in.accept('(') {
		in.masked(c, pos, Reloc{Offset: offset})
		in.expect(')', "after the masked address")
		return
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], in.convert(c, pos))
	copy(in.v.Init[offset:], word[:size])
}

// convert is the bit pattern of a constant as an element.
func (in *initialiser) convert(c constant, pos Pos) uint64 {
	typ := in.v.Type
	switch {
	case c.float == 0 && (typ == "f32" || typ == "f64"):
		in.fail(pos, "an integer as initial value of type .%s, expected a float", typ)
	case c.float == 0:
	case (typ == "f32" || typ == "b32") && c.float == 64: // of 32 bits it may be a NaN: keep its payload
		return uint64(math.Float32bits(float32(c.value())))
	case (typ == "f64" || typ == "b64") && c.float == 32:
		return math.Float64bits(c.value())
	case typ != "f32" && typ != "b32" && typ != "f64" && typ != "b64":
		in.fail(pos, "a float as initial value of type .%s, expected an integer", typ)
	}
	return c.bits
}

// masked reads the symbol of 0xff00(symbol): one byte of its address.
func (in *initialiser) masked(mask constant, pos Pos, r Reloc) {
	r.Shift = bits.TrailingZeros64(mask.bits)
	if r.Shift%8 != 0 || mask.bits>>(r.Shift&63) != 0xff || in.v.Type != "u8" {
		in.fail(pos, "mask %#x of an address in type .%s, expected 0xff, 0xff00 and so on in type .u8", mask.bits, in.v.Type)
	}
	r.Bytes = 1
	in.address(r)
}

// address reads symbol, generic(symbol) and an offset after either.
func (in *initialiser) address(r Reloc) {
	t := in.expect(wordToken, "of a variable or function")
	if t.text == "generic" && in.accept('(') {
		r.Generic = true
		t = in.expect(wordToken, "of a variable")
		in.expect(')', "after the variable")
	}
	itself := in.scope == nil && t.text == in.v.Name
	if _, ok := in.symbols[t.text]; !ok && !itself {
		in.fail(t.pos, "undefined name '%s', expected a variable or function declared before", t.text)
		return
	}
	r.Symbol, r.Addend = t.text, in.offset()
	in.v.Relocs = append(in.v.Relocs, r)
}
