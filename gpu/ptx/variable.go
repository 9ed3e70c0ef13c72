package ptx

import "math/bits"

var spaces = map[string]Space{
	"reg":    Register,
	"global": Global,
	"shared": Shared,
	"local":  Local,
	"const":  Const,
	"param":  Parameter,
}

// moduleVariables reads the rest of a .global, .const or .shared directive.
func (p *parser) moduleVariables(space Space, extern bool) {
	if space == Local || space == Parameter {
		p.fail(p.tok.pos, "a .local or .param variable outside a function")
		return
	}
	p.variables(space, extern, func(name token, v *Variable) {
		old, ok := p.symbols[name.text]
		switch {
		case !ok:
			p.symbols[name.text] = symbol{kind: variableSymbol, name: v.Name, pos: v.Pos, variable: v}
			p.module.Variables = append(p.module.Variables, v)
		case old.kind != variableSymbol || !old.variable.Extern && !v.Extern:
			p.duplicate(name, old.pos)
		case old.variable.Extern: // the definition of what was declared
			*old.variable = *v
		}
	})
}

// functionVariables reads a variable directive of a body. A .global or .const
// variable goes to the module, under the function's name and its own.
func (p *parser) functionVariables(space Space) {
	static := space == Global || space == Const
	p.variables(space, false, func(name token, v *Variable) {
		v.Name += p.scope.suffix
		if static {
			v.Name = p.function.Name + "." + v.Name
			p.module.Variables = append(p.module.Variables, v)
		} else {
			p.function.Variables = append(p.function.Variables, v)
		}
		p.define(name, symbol{kind: variableSymbol, name: v.Name, variable: v})
	})
}

// variables reads: .align 4 .b32 a[4] = {1, 2}, b;
func (p *parser) variables(space Space, extern bool, add func(token, *Variable)) {
	base := p.declaration(space)
	base.Extern = extern
	for p.err == nil {
		name := p.tok
		v := p.declarator(base)
		if p.accept('=') {
			p.initialise(v, name)
		}
		if v.Count == 0 && !extern && p.err == nil {
			p.fail(name.pos, "array '%s' without a size, expected a size, an initial value or .extern", name.text)
		}
		if p.err == nil {
			add(name, v.Variable)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(';', "after the declaration")
}

// declaration reads the attributes before the name of a variable or parameter.
func (p *parser) declaration(space Space) Variable {
	v := Variable{Space: space, Vector: 1}
	for p.tok.kind == dotToken {
		t := p.tok
		p.next()
		switch t.text {
		case "align":
			v.Align = p.alignment()
		case "v2":
			v.Vector = 2
		case "v4":
			v.Vector = 4
		case "ptr":
			v.Ptr = p.pointer()
		case "attribute":
			p.attribute()
		default:
			p.setType(&v, t)
		}
	}
	if v.Type == "" {
		p.unexpected("a type such as .b32")
	}
	if v.Align == 0 {
		v.Align = max(1, v.Type.Bytes()*v.Vector)
	}
	return v
}

func (p *parser) setType(v *Variable, t token) {
	typ := Type(t.text)
	if typ.Bytes() == 0 && !typ.Opaque() || typ == "pred" && v.Space != Register {
		p.fail(t.pos, "unknown type '.%s' of a variable, expected one such as .b32", t.text)
		return
	}
	if v.Type != "" {
		p.fail(t.pos, "second type '.%s', expected a name after '.%s'", t.text, v.Type)
		return
	}
	v.Type = typ
}

func (p *parser) alignment() int {
	pos := p.tok.pos
	n := p.number("after .align")
	if bits.OnesCount(uint(n)) != 1 {
		p.fail(pos, "alignment %d, expected a power of 2", n)
	}
	return n
}

// pointer reads the attributes after .ptr: .global .align 16
func (p *parser) pointer() *Pointer {
	ptr := &Pointer{Align: 4}
	for p.tok.kind == dotToken {
		space, ok := spaces[p.tok.text]
		switch {
		case ok:
			ptr.Space = space
			p.next()
		case p.acceptDot("align"):
			ptr.Align = p.alignment()
		default:
			return ptr
		}
	}
	return ptr
}

// attribute skips the parenthesised list after .attribute.
func (p *parser) attribute() {
	p.expect('(', "after .attribute")
	for depth := 1; depth > 0 && p.tok.kind != endToken; p.next() {
		switch p.tok.kind {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
}

// declared is a variable with the dimensions of its array, outermost first.
type declared struct {
	*Variable
	dims []int
}

// declarator reads a name and its dimensions. Count is 0 when the first is
// open: x[].
func (p *parser) declarator(base Variable) declared {
	t := p.expect(wordToken, "of the variable")
	v := declared{Variable: &base}
	v.Name, v.Pos, v.Count = t.text, t.pos, 1
	for p.accept('[') {
		if len(v.dims) == maxDepth {
			p.fail(p.tok.pos, "array of more than %d dimensions", maxDepth)
		}
		n := 0
		if p.tok.kind != ']' || len(v.dims) > 0 {
			n = p.dimension(v)
		}
		v.dims = append(v.dims, n)
		v.Count *= n
		p.expect(']', "after the dimension")
	}
	return v
}

// count reads how many of something there are.
func (p *parser) count(what string) uint64 {
	t := p.expect(numberToken, "of "+what)
	n := p.literal(t)
	if n.float != 0 {
		p.fail(t.pos, "expected a whole number of %s, found '%s'", what, t.text)
	}
	return n.bits
}

// MostLocal is the most local memory in bytes that a thread can have on any GPU.
const MostLocal = 512 << 10

func (p *parser) dimension(v declared) int {
	t := p.tok
	n := p.count("elements")
	room := uint64(maxArrayBytes)
	for _, d := range v.dims {
		room /= uint64(max(1, d))
	}
	if n == 0 || n > room/uint64(max(1, v.Type.Bytes()*v.Vector)) {
		p.fail(t.pos, "array of %s elements, expected 1 or more and at most 2^40 bytes", t.text)
		return 1
	}
	return int(n)
}
