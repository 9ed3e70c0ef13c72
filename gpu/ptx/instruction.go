package ptx

import "slices"

// opcode is the words of an instruction's name. Instructions of the same name
// share them.
type opcode struct {
	name      string
	modifiers []string
}

// instruction reads: @!%p1 ld.global.f32 %f1, [%rd1+4];
func (p *parser) instruction() {
	in := Instruction{Pos: p.tok.pos, Source: p.source, Inlined: p.inlined, Guard: -1}
	if p.accept('@') {
		in.Negated = p.accept('!')
		in.Guard = p.guard()
		in.Pos = p.tok.pos
	}
	op := p.opcode()
	in.Opcode, in.Modifiers = op.name, op.modifiers
	p.operands = p.operands[:0]
	for p.tok.kind != ';' && p.tok.kind != '}' && p.tok.kind != endToken && p.err == nil {
		p.operands = append(p.operands, p.operand(op.name == "call"))
		if !p.accept(',') {
			break
		}
		if p.tok.kind == ';' || p.tok.kind == '}' {
			p.unexpected("an operand after ','")
		}
	}
	p.expect(';', "after instruction")
	in.Operands = slices.Clone(p.operands)
	p.await(in.Operands)
	p.function.Code = append(p.function.Code, in)
}

func (p *parser) guard() int {
	t := p.expect(wordToken, "of a predicate after '@'")
	sym := p.lookup(t.text)
	if sym.kind != registerSymbol {
		p.fail(t.pos, "undefined register '%s'", t.text)
		return -1
	}
	if sym.typ != "pred" {
		p.fail(t.pos, "guard '%s' of type .%s, expected .pred", t.text, sym.typ)
	}
	return sym.register
}

func (p *parser) opcode() opcode {
	start := p.tok.offset
	name := p.expect(wordToken, "of an instruction").text
	end := start + len(name)
	p.words = p.words[:0]
	for p.tok.kind == dotToken {
		p.words = append(p.words, p.tok.text)
		end = p.tok.offset + 1 + len(p.tok.text)
		p.next()
	}
	text := p.text[start:min(end, len(p.text))]
	op, ok := p.opcodes[text]
	if !ok {
		op = opcode{name, slices.Clip(slices.Clone(p.words))}
		p.opcodes[text] = op
	}
	return op
}

// await defers the operands with names that are not known yet to the end of the
// scope.
func (p *parser) await(operands []Operand) {
	for i := range operands {
		o := &operands[i]
		if o.Kind == LabelOperand {
			p.scope.pending = append(p.scope.pending, reference{o.Symbol, o.Pos, &o.Symbol, o})
		}
		p.await(o.Elems)
	}
}
