package ptx

import (
	"math"
	"strconv"
	"strings"
)

// constant is the value of a constant expression: an integer of 64 bits, or a float
// of the given width.
type constant struct {
	bits     uint64
	unsigned bool
	float    byte // 0, 32 or 64
}

func (c constant) value() float64 {
	switch {
	case c.float == 32:
		return float64(math.Float32frombits(uint32(c.bits)))
	case c.float == 64:
		return math.Float64frombits(c.bits)
	case c.unsigned:
		return float64(c.bits)
	}
	return float64(int64(c.bits))
}

func (c constant) isTrue() bool {
	if c.float != 0 {
		return c.value() != 0
	}
	return c.bits != 0
}

func signed(v int64) constant { return constant{bits: uint64(v)} }

func truth(b bool) constant {
	if b {
		return signed(1)
	}
	return signed(0)
}

func double(v float64) constant { return constant{bits: math.Float64bits(v), float: 64} }

// integer reads a constant expression that must not be a float.
func (p *parser) integer() constant {
	pos := p.tok.pos
	c := p.expression()
	if c.float != 0 {
		p.fail(pos, "a float, expected an integer")
		return constant{}
	}
	return c
}

// expression reads a constant expression: C's operators and precedences on
// 64-bit integers.
func (p *parser) expression() constant {
	if !p.enter() {
		return constant{}
	}
	defer p.leave()
	c := p.binary(1)
	if !p.accept('?') {
		return c
	}
	yes := p.expression()
	p.expect(':', "in the conditional expression")
	no := p.expression()
	if c.isTrue() {
		return yes
	}
	return no
}

func precedence(k kind) int {
	switch k {
	case orToken:
		return 1
	case andToken:
		return 2
	case '|':
		return 3
	case '^':
		return 4
	case '&':
		return 5
	case equalToken, notEqualToken:
		return 6
	case '<', '>', lessEqualToken, greaterEqualToken:
		return 7
	case shiftLeftToken, shiftRightToken:
		return 8
	case '+', '-':
		return 9
	case '*', '/', '%':
		return 10
	}
	return 0
}

// binary reads operators of at least the level given.
func (p *parser) binary(level int) constant {
	x := p.unary()
	for {
		op := p.tok
		n := precedence(op.kind)
		if n < level {
			return x
		}
		p.next()
		y := p.binary(n + 1)
		x = p.apply(op, x, y)
	}
}

func (p *parser) unary() constant {
	if !p.enter() {
		return constant{}
	}
	defer p.leave()
	op := p.tok
	switch op.kind {
	case '+':
		p.next()
		return p.unary()
	case '-':
		p.next()
		return negative(p.unary())
	case '!':
		p.next()
		return truth(!p.unary().isTrue())
	case '~':
		p.next()
		c := p.unary()
		if c.float != 0 {
			p.fail(op.pos, "operator '~' of a float, expected an integer")
		}
		c.bits = ^c.bits
		return c
	}
	return p.primary()
}

func negative(c constant) constant {
	switch c.float {
	case 32:
		c.bits ^= 1 << 31
	case 64:
		c.bits ^= 1 << 63
	default:
		c.bits = -c.bits
	}
	return c
}

func (p *parser) primary() constant {
	t := p.tok
	switch {
	case t.kind == numberToken:
		p.next()
		return p.literal(t)
	case t.kind == wordToken && t.text == "WARP_SZ":
		p.next()
		return signed(32)
	case t.kind != '(':
		p.unexpected("a constant")
		return constant{}
	}
	p.next()
	if p.tok.kind == dotToken {
		return p.cast()
	}
	c := p.expression()
	p.expect(')', "in the expression")
	return c
}

// cast reads the rest of (.s64)x or (.u64)x.
func (p *parser) cast() constant {
	t := p.expect(dotToken, "")
	p.expect(')', "after the cast")
	c := p.unary()
	if t.text != "s64" && t.text != "u64" || c.float != 0 {
		p.fail(t.pos, "cast to '.%s', expected .s64 or .u64 of an integer", t.text)
	}
	c.unsigned = t.text == "u64"
	return c
}

// literal is the value of a number.
func (p *parser) literal(t token) constant {
	text := t.text
	if len(text) > 2 && text[0] == '0' {
		switch text[1] {
		case 'f', 'F':
			return p.floatBits(t, 32)
		case 'd', 'D':
			return p.floatBits(t, 64)
		}
	}
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	if !hex && strings.ContainsAny(text, ".eE") {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.Contains(text, "_") {
			p.fail(t.pos, "malformed number '%s'", text)
		}
		return double(v)
	}
	digits := strings.TrimSuffix(text, "U")
	v, err := strconv.ParseUint(digits, 0, 64)
	if err != nil || strings.ContainsAny(digits, "_oO") {
		p.fail(t.pos, "malformed number '%s', or beyond 64 bits", text)
	}
	return constant{bits: v, unsigned: len(digits) < len(text) || v > math.MaxInt64}
}

// floatBits reads 0f or 0d and the digits of an IEEE bit pattern.
func (p *parser) floatBits(t token, width byte) constant {
	v, err := strconv.ParseUint(t.text[2:], 16, int(width))
	if err != nil || len(t.text) != 2+int(width)/4 {
		p.fail(t.pos, "malformed float '%s', expected %s and %d hexadecimal digits", t.text, t.text[:2], width/4)
	}
	return constant{bits: v, float: width}
}

func (p *parser) apply(op token, x, y constant) constant {
	if x.float != 0 || y.float != 0 {
		return p.applyFloat(op, x.value(), y.value())
	}
	unsigned := x.unsigned || y.unsigned
	a, b := x.bits, y.bits
	switch op.kind {
	case '/', '%':
		return p.divide(op, a, b, unsigned)
	case shiftLeftToken:
		return constant{bits: a << b, unsigned: x.unsigned}
	case shiftRightToken:
		if x.unsigned {
			return constant{bits: a >> b, unsigned: true}
		}
		return signed(int64(a) >> b)
	case '<', '>', lessEqualToken, greaterEqualToken:
		return compare(op.kind, a, b, unsigned)
	case equalToken:
		return truth(a == b)
	case notEqualToken:
		return truth(a != b)
	case andToken:
		return truth(a != 0 && b != 0)
	case orToken:
		return truth(a != 0 || b != 0)
	}
	return constant{bits: arithmetic(op.kind, a, b), unsigned: unsigned}
}

func arithmetic(op kind, a, b uint64) uint64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '&':
		return a & b
	case '|':
		return a | b
	}
	return a ^ b
}

func (p *parser) divide(op token, a, b uint64, unsigned bool) constant {
	switch {
	case b == 0:
		p.fail(op.pos, "division by 0")
		return constant{}
	case op.kind == '/' && unsigned:
		return constant{bits: a / b, unsigned: true}
	case op.kind == '/':
		return signed(int64(a) / int64(b))
	case unsigned:
		return constant{bits: a % b, unsigned: true}
	}
	return signed(int64(a) % int64(b))
}

func compare(op kind, a, b uint64, unsigned bool) constant {
	if !unsigned { // order signed numbers as unsigned ones
		a ^= 1 << 63
		b ^= 1 << 63
	}
	switch op {
	case '<':
		return truth(a < b)
	case '>':
		return truth(a > b)
	case lessEqualToken:
		return truth(a <= b)
	}
	return truth(a >= b)
}

func (p *parser) applyFloat(op token, a, b float64) constant {
	switch op.kind {
	case '+':
		return double(a + b)
	case '-':
		return double(a - b)
	case '*':
		return double(a * b)
	case '/':
		return double(a / b)
	case '<':
		return truth(a < b)
	case '>':
		return truth(a > b)
	case lessEqualToken:
		return truth(a <= b)
	case greaterEqualToken:
		return truth(a >= b)
	case equalToken:
		return truth(a == b)
	case notEqualToken:
		return truth(a != b)
	}
	p.fail(op.pos, "operator '%s' of floats, expected integers", op.text)
	return constant{}
}
