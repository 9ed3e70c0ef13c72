package ir

import (
	"strconv"
	"strings"
)

// parser reads a module.
type parser struct {
	lexer
	module *Module
	types  map[string]*Type // of named types; filled when they are defined
	groups map[string]map[string]string
	meta   map[int]string // text of numbered metadata
	places map[int]Place
	placed []placed // values and functions whose place is set at the end
	f      *function
}

// placed is a value or function and the number of its metadata.
type placed struct {
	value *Value
	fn    *Func
	id    int
}

// Parse reads a module. The error is an *Error.
func Parse(text string) (m *Module, err error) {
	p := &parser{lexer: lexer{text: text, line: 1}, module: &Module{Vars: map[string]*Global{}, Of: map[string]*Func{}, Used: map[string]bool{}, Flags: map[string]uint64{}},
		types: map[string]*Type{}, groups: map[string]map[string]string{}, meta: map[int]string{}, places: map[int]Place{}}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			m, err = nil, e
		}
	}()
	p.next()
	for p.word != "" {
		p.top()
	}
	for _, f := range p.module.Funcs {
		for group, words := range f.Attrs {
			if strings.HasPrefix(group, "#") {
				delete(f.Attrs, group)
				for k, v := range p.groups[group+words] {
					f.Attrs[k] = v
				}
			}
		}
	}
	p.setPlaces()
	return p.module, nil
}

// top reads one definition.
func (p *parser) top() {
	switch word := p.word; {
	case word == "source_filename" || word == "target" || word[0] == '$':
		p.restOfLine()
	case word == "define" || word == "declare":
		p.function()
	case word == "attributes":
		p.attributes()
	case word[0] == '%':
		p.typeDefinition()
	case word[0] == '@':
		p.global()
	case word[0] == '!':
		p.metadata()
	default:
		p.fail("%q, expected a definition", word)
	}
}

func (p *parser) typeDefinition() {
	t := p.named(p.take())
	p.expect("=")
	p.expect("type")
	if p.accept("opaque") {
		return
	}
	*t = *p.typ()
}

func (p *parser) named(word string) *Type {
	if p.types[word] == nil {
		p.types[word] = &Type{Kind: Struct}
	}
	return p.types[word]
}

// isType reports whether the current word begins a type.
func (p *parser) isType() bool {
	word := p.word
	if word == "[" || word == "{" || word == "<" || word == "ptr" || floats[word] != nil {
		return true
	}
	if strings.HasPrefix(word, "i") {
		_, err := strconv.Atoi(word[1:])
		return err == nil
	}
	return strings.HasPrefix(word, "%")
}

// typ reads a type.
func (p *parser) typ() *Type {
	word := p.take()
	var t *Type
	switch {
	case floats[word] != nil:
		t = floats[word]
	case word == "ptr":
		t = &Type{Kind: Pointer, Space: p.space()}
	case word == "[":
		t = p.sequence(Array, "]")
	case word == "<" && p.word == "{":
		t = p.typ()
		t.Packed = true
		p.expect(">")
	case word == "<":
		t = p.sequence(Vector, ">")
	case word == "{":
		t = &Type{Kind: Struct}
		for p.word != "}" {
			t.Fields = append(t.Fields, p.typ())
			if !p.accept(",") {
				break
			}
		}
		p.expect("}")
	case word[0] == '%':
		t = p.named(word)
	case word[0] == 'i':
		bits, err := strconv.Atoi(word[1:])
		if err != nil || bits < 1 {
			p.fail("%q is no type", word)
		}
		t = IntType(bits)
	default:
		p.fail("%q is no type", word)
	}
	if p.word == "(" { // of functions
		t = p.signature(t)
	}
	return t
}

func (p *parser) signature(result *Type) *Type {
	t := &Type{Kind: Function, Elem: result}
	p.expect("(")
	for p.word != ")" {
		if p.accept("...") {
			t.Dots = true
			break
		}
		t.Fields = append(t.Fields, p.typ())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return t
}

func (p *parser) sequence(kind Kind, end string) *Type {
	n := p.number()
	p.expect("x")
	t := &Type{Kind: kind, Len: n, Elem: p.typ()}
	p.expect(end)
	return t
}

// space reads the address space of a pointer or variable, if one stands here.
func (p *parser) space() int {
	if !p.accept("addrspace") {
		return 0
	}
	p.expect("(")
	n := p.number()
	p.expect(")")
	return n
}

// number reads a number that fits an int.
func (p *parser) number() int {
	word := p.take()
	n, err := strconv.Atoi(word)
	if err != nil {
		p.fail("%q, expected a number", word)
	}
	return n
}

// global reads a variable.
func (p *parser) global() {
	name := unquote(p.take())
	p.expect("=")
	g := &Global{Name: name}
	external := false
	for p.word != "global" && p.word != "constant" {
		switch p.word {
		case "external", "extern_weak":
			external = true
		case "internal", "private":
			g.Internal = true
		case "addrspace":
			g.Space = p.space()
			continue
		case "alias", "ifunc", "":
			p.fail("%s of %s is not supported", p.word, name)
		}
		if p.take(); p.word == "(" {
			p.parens()
		}
	}
	p.next()
	g.Type = p.typ()
	if !external {
		g.Init = p.constant(g.Type)
	}
	for p.accept(",") {
		if p.accept("align") {
			g.Align = p.number()
		} else {
			for p.word != "," && p.word != "" && p.word[0] != '@' && p.word[0] != '!' && p.word != "define" && p.word != "declare" && p.word != "attributes" {
				p.next()
			}
		}
	}
	for strings.HasPrefix(p.word, "#") || p.word == "!dbg" {
		p.next()
	}
	if strings.HasPrefix(name, "llvm.") {
		p.use(g.Init)
		return
	}
	p.module.Globals = append(p.module.Globals, g)
	p.module.Vars[name] = g
}

// use notes the symbols of a list that must stay.
func (p *parser) use(v *Value) {
	if v == nil {
		return
	}
	if v.Kind == Symbol {
		p.module.Used[v.Name] = true
	}
	for _, o := range v.Operands {
		p.use(o)
	}
}

// attributes reads a group: words, and pairs of strings.
func (p *parser) attributes() {
	p.next()
	name := p.take()
	p.expect("=")
	p.expect("{")
	group := map[string]string{}
	for p.word != "}" {
		key := unquote(p.take())
		group[key] = ""
		if p.accept("=") {
			group[key] = unquote(p.take())
		} else if p.word == "(" {
			p.parens()
		}
	}
	p.next()
	p.groups[name] = group
}
