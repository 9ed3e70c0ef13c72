package ir

import "strings"

var qualifiers = map[string]Flags{
	"nuw": NoUnsignedWrap, "nsw": NoSignedWrap, "disjoint": Disjoint, "nneg": NonNegative, "contract": Contract, "volatile": Volatile,
	"afn": Approximate, "arcp": Reciprocal, "weak": Weak, "fast": Contract | Approximate | Reciprocal,
	"nnan": 0, "ninf": 0, "nsz": 0, "reassoc": 0, "inbounds": 0, "nusw": 0, "exact": 0, "samesign": 0, "tail": 0, "musttail": 0, "notail": 0, "atomic": 0, "inalloca": 0,
}

// instruction reads one instruction.
func (p *parser) instruction() *Value {
	v := &Value{Kind: Instruction, Line: p.line}
	if strings.HasPrefix(p.word, "%") {
		name := p.take()
		p.expect("=")
		v = p.local(name, nil)
		if v.Op != "" || v.Kind != Instruction {
			p.fail("%s is defined twice", name)
		}
		v.Line = p.line
		p.count(name)
	}
	p.qualifiers(v)
	v.Op = p.take()
	p.qualifiers(v)
	form := forms[v.Op]
	if form == nil {
		p.fail("unknown instruction %q", v.Op)
	}
	form(p, v)
	p.trailer(v)
	return v
}

// qualifiers reads words like nuw and contract.
func (p *parser) qualifiers(v *Value) {
	for {
		f, ok := qualifiers[p.word]
		if !ok {
			return
		}
		v.Flags |= f
		p.next()
	}
}

// trailer reads the alignment and the metadata that end an instruction.
func (p *parser) trailer(v *Value) {
	for p.accept(",") {
		switch word := p.take(); {
		case word == "align":
			v.Align = p.number()
		case word == "addrspace":
			p.parens()
		case word == "!dbg":
			p.placeLater(placed{value: v}, p.take())
		case word == "!invariant.load":
			v.Flags |= Invariant
			p.next()
		case word[0] == '!':
			p.next()
		default:
			p.fail("%q at the end of %s", word, v.Op)
		}
	}
}

// forms read what follows the name of an instruction.
var forms map[string]func(*parser, *Value)

func init() { // the table and its functions refer to each other
	forms = map[string]func(*parser, *Value){
		"fneg": (*parser).unary, "freeze": (*parser).unary,
		"icmp": (*parser).comparison, "fcmp": (*parser).comparison, "select": (*parser).list, "phi": (*parser).phi,
		"br": (*parser).branch, "switch": (*parser).choice, "ret": (*parser).result, "unreachable": func(*parser, *Value) {},
		"load": (*parser).load, "store": (*parser).store, "getelementptr": (*parser).element, "alloca": (*parser).alloca,
		"extractvalue": (*parser).part, "insertvalue": (*parser).part,
		"extractelement": (*parser).list, "insertelement": (*parser).list, "shufflevector": (*parser).list,
		"call": (*parser).call, "atomicrmw": (*parser).update, "cmpxchg": (*parser).exchange, "fence": (*parser).fence,
	}
	for _, op := range strings.Fields("add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem") {
		forms[op] = (*parser).binary
	}
	for _, op := range strings.Fields("trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast addrspacecast ptrtoaddr") {
		forms[op] = (*parser).cast
	}
}

func (p *parser) typed() *Value { return p.operand(p.typ()) }

func (p *parser) unary(v *Value) {
	a := p.typed()
	v.Type, v.Operands = a.Type, []*Value{a}
}

func (p *parser) binary(v *Value) {
	v.Type = p.typ()
	a := p.operand(v.Type)
	p.expect(",")
	v.Operands = []*Value{a, p.operand(v.Type)}
}

func (p *parser) cast(v *Value) {
	v.Operands = []*Value{p.typed()}
	p.expect("to")
	v.Type = p.typ()
}

func (p *parser) comparison(v *Value) {
	v.Cond = p.take()
	t := p.typ()
	a := p.operand(t)
	p.expect(",")
	v.Operands = []*Value{a, p.operand(t)}
	v.Type = IntType(1)
	if t.Kind == Vector {
		v.Type = &Type{Kind: Vector, Len: t.Len, Elem: v.Type}
	}
}

// list reads operands with their types.
func (p *parser) list(v *Value) {
	for {
		v.Operands = append(v.Operands, p.typed())
		if p.word != "," || !p.typeFollows() {
			break
		}
		p.next()
	}
	t := v.Operands[0].Type
	switch v.Op {
	case "select":
		p.arity(v, 3)
		t = v.Operands[1].Type
	case "extractelement":
		p.arity(v, 2)
		t = t.Elem
	case "insertelement":
		p.arity(v, 3)
	case "shufflevector":
		p.arity(v, 3)
		t = &Type{Kind: Vector, Len: v.Operands[2].Type.Len, Elem: t.Elem}
	}
	if t == nil {
		p.fail("%s of no vector", v.Op)
	}
	v.Type = t
}

func (p *parser) arity(v *Value, n int) {
	if len(v.Operands) != n {
		p.fail("%d operands of %s, expected %d", len(v.Operands), v.Op, n)
	}
}

// typeFollows reports whether a type stands after the comma, and not metadata or a word.
func (p *parser) typeFollows() bool {
	ahead := p.lexer
	ahead.next()
	return ahead.word != "align" && ahead.word != "addrspace" && !strings.HasPrefix(ahead.word, "!")
}

func (p *parser) phi(v *Value) {
	v.Type = p.typ()
	for {
		p.expect("[")
		v.Operands = append(v.Operands, p.operand(v.Type))
		p.expect(",")
		v.Blocks = append(v.Blocks, p.block(unquote(p.take())))
		p.expect("]")
		if p.word != "," || !p.typeFollows() {
			return
		}
		p.next()
	}
}

func (p *parser) label() *Block {
	p.expect("label")
	return p.block(unquote(p.take()))
}

func (p *parser) branch(v *Value) {
	if p.word == "label" {
		v.Blocks = []*Block{p.label()}
		return
	}
	v.Operands = []*Value{p.typed()}
	p.expect(",")
	yes := p.label()
	p.expect(",")
	v.Blocks = []*Block{yes, p.label()}
}

func (p *parser) choice(v *Value) {
	v.Operands = []*Value{p.typed()}
	p.expect(",")
	v.Blocks = []*Block{p.label()}
	p.expect("[")
	for p.word != "]" {
		v.Operands = append(v.Operands, p.typed())
		p.expect(",")
		v.Blocks = append(v.Blocks, p.label())
	}
	p.next()
}

func (p *parser) result(v *Value) {
	if p.accept("void") {
		return
	}
	v.Operands = []*Value{p.typed()}
}

// order reads the scope and the order of an atomic instruction, if they stand here.
func (p *parser) order(v *Value) {
	if p.accept("syncscope") {
		p.expect("(")
		v.Scope = unquote(p.take())
		p.expect(")")
	}
	for {
		switch p.word {
		case "unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst":
			if v.Order == "" {
				v.Order = p.word
			}
			p.next()
		default:
			return
		}
	}
}

func (p *parser) load(v *Value) {
	v.Type = p.typ()
	p.expect(",")
	v.Operands = []*Value{p.typed()}
	p.order(v)
}

func (p *parser) store(v *Value) {
	of := p.typed()
	p.expect(",")
	v.Operands = []*Value{of, p.typed()}
	p.order(v)
}

func (p *parser) element(v *Value) {
	for p.word == "inrange" {
		p.next()
		p.parens()
	}
	v.Elem = p.typ()
	p.expect(",")
	p.list(v)
}

func (p *parser) alloca(v *Value) {
	v.Elem = p.typ()
	v.Type = &Type{Kind: Pointer}
	if p.word == "," && p.typeFollows() {
		p.next()
		v.Operands = []*Value{p.typed()}
	}
}

// part reads extractvalue and insertvalue.
func (p *parser) part(v *Value) {
	v.Operands = []*Value{p.typed()}
	v.Type = v.Operands[0].Type
	p.expect(",")
	if v.Op == "insertvalue" {
		v.Operands = append(v.Operands, p.typed())
		p.expect(",")
	}
	t := v.Type
	for {
		i := p.number()
		if !t.IsAggregate() || i < 0 || i >= t.Parts() {
			p.fail("%v has no part %d", t, i)
		}
		t = t.Part(i)
		v.Indices = append(v.Indices, i)
		if p.word != "," || !p.typeFollows() {
			break
		}
		p.next()
	}
	if v.Op == "extractvalue" {
		v.Type = t
	}
}

// call reads a call. Words before the result's type are attributes.
func (p *parser) call(v *Value) {
	for !p.isType() {
		p.take()
		p.skipAttribute()
	}
	v.Type = p.typ()
	if v.Type.Kind == Function {
		v.Type = v.Type.Elem
	}
	v.Operands = []*Value{p.operand(&Type{Kind: Pointer})}
	p.expect("(")
	for p.word != ")" {
		t := p.typ()
		var words Value
		p.argumentWords(&words)
		v.Indices = append(v.Indices, words.Align)
		a := p.operand(t)
		if words.Elem != nil {
			a = &Value{Kind: Expression, Op: "byval", Type: t, Elem: words.Elem, Align: words.Align, Operands: []*Value{a}, Line: p.line}
		}
		v.Operands = append(v.Operands, a)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	for p.word != "" && p.word != "," && p.word != "}" && !strings.HasPrefix(p.word, "%") && !p.isLabel() {
		if f := forms[p.word]; f != nil || p.word == "tail" || strings.HasPrefix(p.word, "#dbg_") {
			break
		}
		p.take()
		if p.word == "(" || p.word == "[" {
			p.parens()
		}
	}
}

func (p *parser) update(v *Value) {
	v.Cond = p.take()
	address := p.typed()
	p.expect(",")
	v.Operands = []*Value{address, p.typed()}
	v.Type = v.Operands[1].Type
	p.order(v)
}

func (p *parser) exchange(v *Value) {
	p.list(v)
	p.arity(v, 3)
	t := v.Operands[1].Type
	v.Type = &Type{Kind: Struct, Fields: []*Type{t, IntType(1)}}
	p.order(v)
}

func (p *parser) fence(v *Value) { p.order(v) }
