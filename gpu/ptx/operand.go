package ptx

import "strings"

// operand reads one operand; only calls have lists in parentheses.
func (p *parser) operand(call bool) Operand {
	o := Operand{Pos: p.tok.pos, Reg: -1, Second: -1}
	if !p.enter() {
		return o
	}
	defer p.leave()
	switch {
	case p.tok.kind == '{':
		o.Kind, o.Elems = VectorOperand, p.elements('}', call)
	case p.tok.kind == '(' && call:
		o.Kind, o.Elems = ListOperand, p.elements(')', call)
	case p.tok.kind == '[':
		p.address(&o)
	case p.tok.kind == '!' && p.peek().kind == wordToken:
		p.next()
		p.named(&o)
		if o.Kind != RegisterOperand {
			p.fail(o.Pos, "'!' before something else than a register")
		}
		o.Negated = true
	case p.tok.kind == wordToken && p.tok.text != "WARP_SZ":
		p.named(&o)
	default:
		p.immediate(&o)
	}
	return o
}

func (p *parser) immediate(o *Operand) {
	if p.tok.kind == ',' || p.tok.kind == ';' || p.tok.kind == dotToken {
		p.unexpected("an operand")
		return
	}
	c := p.expression()
	o.Kind, o.Bits, o.Float = ImmediateOperand, c.bits, c.float
}

// elements reads operands between brackets, of which the first is current.
func (p *parser) elements(closing kind, call bool) []Operand {
	p.next()
	var list []Operand
	for p.tok.kind != closing && p.err == nil {
		list = append(list, p.operand(call))
		if p.tok.kind != closing {
			p.separator(closing)
		}
	}
	p.expect(closing, "")
	return list
}

// separator reads the ',' before another part of a list.
func (p *parser) separator(closing kind) {
	p.expect(',', "or "+closing.String())
	if p.tok.kind == closing {
		p.unexpected("more after ','")
	}
}

// named reads an operand that starts with a name.
func (p *parser) named(o *Operand) {
	t := p.expect(wordToken, "")
	if t.text == "_" {
		o.Kind = IgnoreOperand
		p.pair(o)
		return
	}
	switch sym := p.lookup(t.text); sym.kind {
	case registerSymbol:
		p.register(o, t, sym)
		p.pair(o)
	case variableSymbol:
		o.Kind, o.Symbol = SymbolOperand, sym.name
		o.Offset = p.offset()
	default:
		if known, vector := special(t.text); known {
			o.Kind, o.Symbol = SpecialOperand, t.text
			p.specialComponent(o, vector)
			return
		}
		// A label, or a name of the module: known at the end of the scope.
		o.Kind, o.Symbol = LabelOperand, t.text
		o.Offset = p.offset()
	}
}

// register makes o the register, a component of it, or all its components.
func (p *parser) register(o *Operand, t token, sym symbol) {
	o.Kind, o.Reg = RegisterOperand, sym.register
	dot := p.tok
	component := strings.Index("xyzw", dot.text)
	if rgba := strings.Index("rgba", dot.text); component < 0 {
		component = rgba
	}
	switch {
	case dot.kind != dotToken && sym.width > 1:
		o.Kind, o.Reg = VectorOperand, -1
		for i := range sym.width {
			o.Elems = append(o.Elems, Operand{Pos: o.Pos, Reg: sym.register + i, Second: -1})
		}
		return
	case dot.kind != dotToken:
		return
	case len(dot.text) == 1 && component >= 0 && component < sym.width && sym.width > 1:
		o.Reg += component
	case sym.width == 1 && isSelector(dot.text):
		o.Symbol = dot.text
	default:
		p.fail(dot.pos, "register '%s' has no component '.%s'", t.text, dot.text)
	}
	p.next()
}

// isSelector reports whether the text selects parts of a video instruction's operand, as
// b0, h10 and b7654 do.
func isSelector(text string) bool {
	return len(text) >= 2 && len(text) <= 5 && (text[0] == 'b' || text[0] == 'h') && strings.Trim(text[1:], "01234567") == ""
}

// pair reads the second part of d|p, if there is one.
func (p *parser) pair(o *Operand) {
	if o.Kind != RegisterOperand && o.Kind != IgnoreOperand || !p.accept('|') {
		return
	}
	t := p.expect(wordToken, "of a register after '|'")
	o.Kind = PairOperand
	if t.text == "_" {
		return
	}
	sym := p.lookup(t.text)
	if sym.kind != registerSymbol || sym.width > 1 {
		p.fail(t.pos, "undefined register '%s'", t.text)
		return
	}
	o.Second = sym.register
}

func (p *parser) specialComponent(o *Operand, vector bool) {
	if p.tok.kind != dotToken {
		return
	}
	if !vector || len(p.tok.text) != 1 || !strings.Contains("xyzw", p.tok.text) {
		p.fail(p.tok.pos, "special register '%s' has no component '.%s'", o.Symbol, p.tok.text)
		return
	}
	o.Symbol += "." + p.tok.text
	p.next()
}

// offset reads +4 or +-4 after a name; 0 if there is none.
func (p *parser) offset() int64 {
	if p.tok.kind == '-' {
		p.unexpected("'+-' and an offset")
	}
	if p.tok.kind != '+' {
		return 0
	}
	return int64(p.integer().bits)
}

// address reads [base+offset] and the parts that textures and tensors add.
func (p *parser) address(o *Operand) {
	o.Kind = AddressOperand
	p.expect('[', "")
	if t := p.tok; t.kind == wordToken && t.text != "WARP_SZ" {
		p.next()
		p.base(o, t)
		o.Offset = p.offset()
	} else {
		o.Offset = int64(p.integer().bits)
	}
	for p.accept(',') {
		o.Elems = append(o.Elems, p.operand(false))
	}
	p.expect(']', "after the address")
}

// base sets the register or variable at which an address starts.
func (p *parser) base(o *Operand, t token) {
	sym := p.lookup(t.text)
	if sym.kind == noSymbol {
		sym = p.symbols[t.text]
	}
	switch sym.kind {
	case registerSymbol:
		if p.register(o, t, sym); o.Kind != RegisterOperand || o.Symbol != "" {
			p.fail(t.pos, "part or vector '%s' as an address, expected a whole register", t.text)
		}
		o.Kind = AddressOperand
	case variableSymbol, functionSymbol:
		o.Symbol = sym.name
	default:
		p.fail(t.pos, "undefined name '%s' in an address, expected a register or variable", t.text)
	}
}
