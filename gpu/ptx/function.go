package ptx

import "slices"

// parseFunction reads an entry or a function after .entry or .func.
func (p *parser) parseFunction(entry bool) {
	f := &Function{Entry: entry, Labels: map[string]int{}, Tables: map[string][]string{}, Prototypes: map[string]*Function{}}
	p.function, p.scopes, p.source, p.inlined, p.calls = f, 0, Source{}, Source{}, nil
	p.openScope(p.tok.pos)
	if !entry && p.tok.kind == '(' {
		f.Returns = p.parameters(true)
	}
	name := p.expect(wordToken, "of the function")
	f.Name, f.Pos = name.text, name.pos
	if p.tok.kind == '(' {
		f.Params = p.parameters(true)
	}
	p.performance(f)
	if p.err != nil {
		return
	}
	f.Extern = p.tok.kind != '{'
	f = p.declare(name, f)
	if f.Extern || p.tok.kind != '{' {
		p.expect(';', "or a body after the declaration of '"+name.text+"'")
	} else {
		p.body(name)
	}
	p.closeScope()
}

// declare adds the function to the module, or completes what an earlier
// declaration added.
func (p *parser) declare(name token, f *Function) *Function {
	old, ok := p.symbols[name.text]
	switch {
	case !ok:
		p.symbols[name.text] = symbol{kind: functionSymbol, name: name.text, pos: name.pos, function: f}
		p.module.Functions = append(p.module.Functions, f)
		return f
	case old.kind != functionSymbol || old.function.Entry != f.Entry || !old.function.Extern && !f.Extern:
		p.duplicate(name, old.pos)
		return f
	case !sameShape(old.function.Params, f.Params) || !sameShape(old.function.Returns, f.Returns):
		p.fail(name.pos, "function '%s' with other parameters than declared at line %d", name.text, old.function.Pos.Line)
		return f
	case old.function.Extern:
		*old.function = *f
	}
	p.function = old.function
	return old.function
}

// sameShape reports whether two lists of parameters have the same types.
func sameShape(a, b []*Variable) bool {
	return slices.EqualFunc(a, b, func(x, y *Variable) bool {
		return x.Type == y.Type && x.Vector == y.Vector && x.Count == y.Count
	})
}

// parameters reads a list in parentheses, and adds its names to the scope
// unless it is a prototype's.
func (p *parser) parameters(add bool) []*Variable {
	var list []*Variable
	p.expect('(', "before the parameters")
	for p.tok.kind != ')' && p.err == nil {
		list = append(list, p.parameter(add))
		if p.tok.kind != ')' {
			p.separator(')')
		}
	}
	p.expect(')', "")
	return list
}

func (p *parser) parameter(add bool) *Variable {
	t := p.expect(dotToken, "such as .param")
	space, ok := spaces[t.text]
	if !ok || space != Parameter && space != Register {
		p.fail(t.pos, "'.%s', expected .param or .reg", t.text)
		return nil
	}
	base := p.declaration(space)
	name := p.tok
	v := p.declarator(base).Variable
	switch {
	case p.err != nil || !add:
	case space == Register:
		p.defineRegister(name, v.Type, v.Vector)
	default:
		p.define(name, symbol{kind: variableSymbol, variable: v})
	}
	return v
}

// performance reads the directives between the parameters and the body. The module
// has no fields for those that change no result.
func (p *parser) performance(f *Function) {
	for p.tok.kind == dotToken {
		t := p.tok
		if t.text == "pragma" {
			p.pragma()
			continue
		}
		p.next()
		switch t.text {
		case "maxntid":
			f.MaxThread = p.shape()
		case "reqntid":
			f.ReqThread = p.shape()
		case "reqnctapercluster":
			f.Cluster = p.shape()
		case "minnctapersm", "maxnctapersm", "maxnreg", "maxclusterrank", "abi_preserve", "abi_preserve_control":
			p.number("after ." + t.text)
		case "explicitcluster", "blocksareclusters":
			f.Clusters = append(f.Clusters, t.text)
		case "noreturn":
		case "attribute":
			p.attribute()
		default:
			p.fail(t.pos, "unknown directive '.%s' of a function, expected one such as .maxntid, or a body", t.text)
		}
	}
}

// shape reads one to three sizes; those left out are 1.
func (p *parser) shape() [3]int {
	d := [3]int{1, 1, 1}
	for i := range d {
		if i > 0 && !p.accept(',') {
			break
		}
		d[i] = p.number("of threads or blocks")
	}
	return d
}

func (p *parser) body(name token) {
	open := p.expect('{', "")
	p.statements()
	if p.tok.kind == endToken {
		p.fail(p.tok.pos, "expected '}' to close the body of '%s' opened at line %d, found end of text", name.text, open.pos.Line)
	}
	p.expect('}', "")
}

func (p *parser) statements() {
	for p.tok.kind != '}' && p.tok.kind != endToken {
		p.statement()
	}
}

func (p *parser) statement() {
	switch p.tok.kind {
	case wordToken:
		if t := p.tok; p.peek().kind == ':' {
			p.next()
			p.next()
			p.label(t)
			return
		}
		p.instruction()
	case '@':
		p.instruction()
	case '{':
		p.block()
	case dotToken:
		p.bodyDirective()
	default:
		p.unexpected("an instruction, a label, a directive or '}'")
	}
}

// block reads a nested scope.
func (p *parser) block() {
	if !p.enter() {
		return
	}
	defer p.leave()
	open := p.expect('{', "")
	p.openScope(open.pos)
	p.statements()
	if p.tok.kind == endToken {
		p.fail(p.tok.pos, "expected '}' to close the scope opened at line %d, found end of text", open.pos.Line)
	}
	p.closeScope()
	p.expect('}', "")
}

func (p *parser) bodyDirective() {
	t := p.tok
	switch t.text {
	case "loc":
		p.loc()
	case "pragma":
		p.pragma()
	case "file":
		p.file()
	case "reg":
		p.next()
		p.registers()
	case "shared", "local", "param", "global", "const":
		p.next()
		p.functionVariables(spaces[t.text])
	default:
		p.fail(t.pos, "unknown directive '.%s' in a body, expected one such as .reg or .shared", t.text)
	}
}

// registers reads the rest of: .reg .b32 %r<12>, %tmp;
func (p *parser) registers() {
	base := p.declaration(Register)
	for p.err == nil {
		t := p.expect(wordToken, "of the register")
		if p.accept('<') {
			n := p.count("registers")
			p.expect('>', "after the number of registers")
			p.defineRange(t, registerRange{typ: base.Type, width: base.Vector, count: n})
		} else {
			p.defineRegister(t, base.Type, base.Vector)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(';', "after the registers")
}

func (p *parser) defineRegister(t token, typ Type, width int) {
	p.define(t, symbol{kind: registerSymbol, typ: typ, width: width, register: -1})
	p.scope.order = append(p.scope.order, t)
}

// label reads the statement after a label and its colon.
func (p *parser) label(t token) {
	if p.tok.kind == dotToken {
		switch p.tok.text {
		case "branchtargets", "calltargets":
			p.next()
			p.table(t)
			return
		case "callprototype":
			p.next()
			p.prototype(t)
			return
		}
	}
	p.define(t, symbol{kind: labelSymbol})
	p.function.Labels[t.text+p.scope.suffix] = len(p.function.Code)
}

// table reads the names after .branchtargets or .calltargets.
func (p *parser) table(t token) {
	p.define(t, symbol{kind: tableSymbol})
	var names []token
	for p.err == nil {
		names = append(names, p.expect(wordToken, "of a label"))
		if !p.accept(',') {
			break
		}
	}
	p.expect(';', "after the labels")
	list := make([]string, len(names))
	for i, n := range names {
		p.scope.pending = append(p.scope.pending, reference{name: n.text, pos: n.pos, symbol: &list[i]})
	}
	p.function.Tables[t.text+p.scope.suffix] = list
}

// prototype reads: .callprototype (.param .b32 _) _ (.param .b64 _);
func (p *parser) prototype(t token) {
	p.define(t, symbol{kind: tableSymbol})
	f := &Function{Name: t.text + p.scope.suffix, Pos: t.pos}
	if p.tok.kind == '(' {
		f.Returns = p.parameters(false)
	}
	if name := p.expect(wordToken, "'_' of the prototype"); name.text != "_" {
		p.fail(name.pos, "name '%s' of a prototype, expected '_'", name.text)
	}
	if p.tok.kind == '(' {
		f.Params = p.parameters(false)
	}
	p.performance(f)
	p.expect(';', "after the prototype")
	p.function.Prototypes[f.Name] = f
}
