package ir

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// constant reads a constant of a type.
func (p *parser) constant(t *Type) *Value {
	v := p.operand(t)
	if !v.IsConstant() {
		p.fail("a value of a function, expected a constant")
	}
	return v
}

// operand reads a value of type t, which the caller has read.
func (p *parser) operand(t *Type) *Value {
	word := p.take()
	v := &Value{Type: t, Line: p.line}
	switch {
	case word[0] == '%':
		return p.local(word, t)
	case word[0] == '@':
		v.Kind, v.Name = Symbol, unquote(word)
	case word[0] == '!':
		v.Kind = Meta
		if p.word == "(" || p.word == "{" {
			p.parens()
		}
	case word == "true" || word == "false":
		if word == "true" {
			v.Bits = 1
		}
	case word == "null" || word == "zeroinitializer" || word == "none":
		v.Kind = Zero
	case word == "undef" || word == "poison":
		v.Kind = Undef
	case strings.HasPrefix(word, `c"`):
		v.Kind = Aggregate
		for _, c := range []byte(unquote(word)) {
			v.Operands = append(v.Operands, &Value{Type: t.Elem, Bits: uint64(c)})
		}
	case word == "splat":
		p.expect("(")
		of := p.typ()
		one := p.operand(of)
		p.expect(")")
		v.Kind = Aggregate
		for range t.Len {
			v.Operands = append(v.Operands, one)
		}
	case word == "[" || word == "{" || word == "<":
		if packed := word == "<" && p.accept("{"); packed {
			v = p.elements(v, "}")
			p.expect(">")
			return v
		}
		return p.elements(v, map[string]string{"[": "]", "{": "}", "<": ">"}[word])
	case word == "asm":
		return p.assembly(v)
	case word[0] >= 'a' && word[0] <= 'z':
		return p.expression(v, word)
	case t.IsFloat():
		v.Bits = p.float(word, t)
	case t.Kind == Int:
		v.Bits, v.High = p.integer(word, t)
	default:
		p.fail("%q is no %v", word, t)
	}
	return v
}

func (p *parser) elements(v *Value, end string) *Value {
	v.Kind = Aggregate
	for p.word != end {
		v.Operands = append(v.Operands, p.operand(p.typ()))
		if !p.accept(",") {
			break
		}
	}
	p.expect(end)
	return v
}

// integer returns the halves of a number of at most 128 bits.
func (p *parser) integer(word string, t *Type) (low, high uint64) {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return uint64(n), uint64(n >> 63)
	}
	n, ok := new(big.Int).SetString(word, 10)
	if !ok || n.BitLen() > 128 {
		p.fail("%q is no %v, or one of more than 128 bits", word, t)
	}
	if n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64(), new(big.Int).Rsh(n, 64).Uint64()
}

// float returns the pattern of a number in its own width.
func (p *parser) float(word string, t *Type) uint64 {
	digits, hex := strings.CutPrefix(word, "0x")
	if hex {
		digits = strings.TrimLeft(digits, "HR")
		bits, err := strconv.ParseUint(digits, 16, 64)
		if err != nil || strings.HasPrefix(word, "0xK") || strings.HasPrefix(word, "0xL") {
			p.fail("%q is no %v", word, t)
		}
		if t.Kind == Float {
			return uint64(math.Float32bits(float32(math.Float64frombits(bits)))) | nanBits(bits)
		}
		return bits
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		p.fail("%q is no %v", word, t)
	}
	switch t.Kind {
	case Float:
		return uint64(math.Float32bits(float32(f)))
	case Double:
		return math.Float64bits(f)
	}
	p.fail("%q is no %v, expected its bits in hexadecimal", word, t)
	return 0
}

// nanBits are the upper bits of the payload of a NaN, which a conversion of floats may
// change.
func nanBits(bits uint64) uint64 {
	if math.IsNaN(math.Float64frombits(bits)) {
		return bits >> 29 & (1<<23 - 1)
	}
	return 0
}

// assembly reads inline assembly after its first word.
func (p *parser) assembly(v *Value) *Value {
	v.Kind, v.Asm = Assembly, &Asm{}
	for p.word == "sideeffect" || p.word == "alignstack" || p.word == "inteldialect" || p.word == "unwind" {
		v.Asm.Effects = v.Asm.Effects || p.word == "sideeffect"
		p.next()
	}
	v.Asm.Text = unquote(p.take())
	p.expect(",")
	v.Asm.Constraints = unquote(p.take())
	return v
}

// expression reads a constant expression after its first word.
func (p *parser) expression(v *Value, op string) *Value {
	v.Kind, v.Op, v.Bits = Expression, op, 0
	switch op {
	case "getelementptr":
		for p.word == "inbounds" || p.word == "nuw" || p.word == "nusw" || p.word == "inrange" {
			if p.next(); p.word == "(" {
				if p.text[p.at-1] == ' ' { // the list of getelementptr
					break
				}
				p.parens()
			}
		}
		p.expect("(")
		v.Elem = p.typ()
		p.expect(",")
		for {
			v.Operands = append(v.Operands, p.operand(p.typ()))
			if !p.accept(",") {
				break
			}
		}
	case "addrspacecast", "bitcast", "inttoptr", "ptrtoint", "trunc", "ptrtoaddr":
		p.expect("(")
		v.Operands = []*Value{p.operand(p.typ())}
		p.expect("to")
		v.Type = p.typ()
	case "add", "sub", "xor", "mul":
		for p.word == "nuw" || p.word == "nsw" {
			p.next()
		}
		p.expect("(")
		a := p.operand(p.typ())
		p.expect(",")
		v.Operands = []*Value{a, p.operand(p.typ())}
	default:
		p.fail("unknown constant expression %q", op)
	}
	p.expect(")")
	return v
}
