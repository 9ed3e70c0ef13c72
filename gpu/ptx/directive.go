package ptx

import (
	"slices"
	"strconv"
	"strings"
)

// header reads .version, .target and .address_size, which come first.
func (p *parser) header() {
	if !p.acceptDot("version") {
		p.unexpected("'.version' first")
		return
	}
	p.version()
	if !p.acceptDot("target") {
		p.unexpected("'.target' after .version")
		return
	}
	p.target()
	if p.acceptDot("address_size") {
		p.addressSize()
	}
}

func (p *parser) version() {
	t := p.expect(numberToken, "after .version")
	major, minor, ok := strings.Cut(t.text, ".")
	a, err := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if !ok || err != nil || err2 != nil {
		p.fail(t.pos, "version '%s', expected one such as 7.8", t.text)
	}
	p.module.Version = [2]int{a, b}
}

func (p *parser) target() {
	p.module.Target = p.expect(wordToken, "such as sm_75 after .target").text
	for p.accept(',') {
		p.module.Options = append(p.module.Options, p.expect(wordToken, "in .target").text)
	}
}

func (p *parser) addressSize() {
	t := p.expect(numberToken, "after .address_size")
	switch t.text {
	case "32":
		p.module.AddressBytes = 4
	case "64":
		p.module.AddressBytes = 8
	default:
		p.fail(t.pos, "address size '%s', expected 32 or 64", t.text)
	}
}

// moduleDirective reads one directive outside functions.
func (p *parser) moduleDirective() {
	if p.tok.kind != dotToken {
		p.unexpected("a directive such as .entry or .global")
		return
	}
	switch p.tok.text {
	case "file":
		p.file()
	case "loc":
		p.loc()
	case "section":
		p.section()
	case "pragma":
		p.pragma()
	case "alias":
		p.alias()
	default:
		p.linked()
	}
}

// linked reads a variable or a function with the linking directives before it.
func (p *parser) linked() {
	var extern bool
	for p.err == nil {
		d := p.tok
		p.next()
		switch d.text {
		case "visible", "weak", "common":
		case "extern":
			extern = true
		case "entry", "func":
			p.parseFunction(d.text == "entry")
			return
		case "global", "const", "shared", "local", "param":
			p.moduleVariables(spaces[d.text], extern)
			return
		case "version", "target", "address_size":
			p.fail(d.pos, "'.%s' again, expected once at the start", d.text)
		default:
			p.fail(d.pos, "unknown directive '.%s', expected one such as .entry or .global", d.text)
		}
		if p.tok.kind != dotToken {
			p.unexpected("a state space, .entry or .func after '." + d.text + "'")
		}
	}
}

// file reads: .file 1 "reduce.cu", 1700000000, 512
func (p *parser) file() {
	p.next()
	index := p.number("after .file")
	name := p.expect(stringToken, "after .file's index").text
	for p.accept(',') {
		p.number("in .file")
	}
	if unquoted, err := strconv.Unquote(`"` + name + `"`); err == nil {
		name = unquoted
	}
	p.module.Files[index] = name
}

// loc reads: .loc 1 41 7, function_name label+12, inlined_at 1 50 3
func (p *parser) loc() {
	p.next()
	file := p.number("after .loc")
	line := p.number("after .loc's file")
	here := place{Source{file, line}, p.number("after .loc's line")}
	delete(p.calls, here)
	if p.source, p.inlined = (Source{file, line}), (Source{}); line == 0 { // code of no line
		p.source = Source{}
	}
	for p.accept(',') {
		switch t := p.expect(wordToken, "in .loc"); t.text {
		case "function_name":
			p.functionName()
		case "inlined_at":
			at := place{Source{p.number("after inlined_at"), p.number("after inlined_at")}, p.number("after inlined_at")}
			p.inlined = p.callOf(at)
			if p.calls == nil {
				p.calls = map[place]place{}
			}
			p.calls[here] = at
		default:
			p.fail(t.pos, "unknown attribute '%s' of .loc, expected function_name or inlined_at", t.text)
		}
	}
}

// place is a position in a source.
type place struct {
	Source
	column int
}

// callOf is the line of the call that code inlined at a place belongs to. If that place was
// inlined itself, as in headers that call each other, it is the innermost one in the file of
// the outermost, which is that of the function.
func (p *parser) callOf(at place) Source {
	chain := []Source{at.Source}
	for len(chain) < mostCalls {
		outer, inlined := p.calls[at]
		if !inlined {
			break
		}
		at, chain = outer, append(chain, outer.Source)
	}
	file := chain[len(chain)-1].File
	return chain[slices.IndexFunc(chain, func(s Source) bool { return s.File == file })]
}

// mostCalls bounds the calls of a chain, which malformed PTX may close to a ring.
const mostCalls = 64

// functionName reads a place in a debug section, which is not kept.
func (p *parser) functionName() {
	if p.tok.kind == dotToken {
		p.next()
	} else {
		p.expect(wordToken, "after function_name")
	}
	if p.accept('+') {
		p.number("after '+'")
	}
}

func (p *parser) pragma() {
	p.next()
	p.expect(stringToken, "after .pragma")
	for p.accept(',') {
		p.expect(stringToken, "in .pragma")
	}
	p.expect(';', "after .pragma")
}

// alias is one .alias directive: name stands for target.
type alias struct {
	name, target string
	pos          Pos
}

func (p *parser) alias() {
	p.next()
	name := p.expect(wordToken, "after .alias")
	p.expect(',', "after the alias")
	target := p.expect(wordToken, "after ','")
	p.expect(';', "after .alias")
	p.aliases = append(p.aliases, alias{name.text, target.text, target.pos})
}

// defineAliases gives each alias, which the text has declared, the body of its
// target.
func (p *parser) defineAliases() {
	for _, a := range p.aliases {
		from, to := p.symbols[a.target].function, p.symbols[a.name].function
		switch {
		case to == nil || !to.Extern:
			p.fail(a.pos, "alias '%s', expected a .func declared without a body", a.name)
		case from == nil || from.Extern:
			p.fail(a.pos, "alias '%s' of '%s', expected a .func with a body", a.name, a.target)
		default:
			*to = *from
			to.Name = a.name
		}
	}
}

// requireBodies reports an entry that is only declared: unlike a function, no
// other module can have its body.
func (p *parser) requireBodies() {
	for _, f := range p.module.Functions {
		if f.Entry && f.Extern {
			p.fail(f.Pos, "entry '%s' without a body", f.Name)
		}
	}
}

// number reads a plain integer that fits an int32, such as a line number.
func (p *parser) number(context string) int {
	t := p.expect(numberToken, context)
	n, err := strconv.ParseInt(t.text, 0, 32)
	if err != nil {
		p.fail(t.pos, "number '%s', expected an integer below 2^31", t.text)
	}
	return int(n)
}
