package ir

import (
	"slices"
	"strconv"
	"strings"
)

// function is the function that is being read.
type function struct {
	of     *Func
	locals map[string]*Value // by name; those that are only used yet have no Op
	blocks map[string]*Block
	next   int // number of the next value without a name
}

// linkage are the words before the result of a function that say nothing of its code.
var linkage = strings.Fields("dso_local dso_preemptable local_unnamed_addr unnamed_addr hidden protected default weak weak_odr linkonce linkonce_odr external available_externally ccc fastcc coldcc private")

// function reads a definition or declaration.
func (p *parser) function() {
	defined := p.take() == "define"
	f := &Func{Attrs: map[string]string{}}
	p.f = &function{of: f, locals: map[string]*Value{}, blocks: map[string]*Block{}}
	for strings.HasPrefix(p.word, "!") {
		p.next()
		p.next()
	}
	for !p.isType() {
		switch word := p.take(); {
		case word == "ptx_kernel":
			f.Kernel = true
		case word == "internal" || word == "private":
			f.Internal = true
		case slices.Contains(linkage, word):
		default:
			p.skipAttribute()
		}
	}
	f.Result = p.typ()
	f.Name = unquote(p.take())
	p.params(f)
	p.functionWords(f, defined)
	p.module.Funcs = append(p.module.Funcs, f)
	p.module.Of[f.Name] = f
	if defined {
		p.expect("{")
		p.body(f)
		p.expect("}")
	}
}

// skipAttribute passes what follows the word of an attribute.
func (p *parser) skipAttribute() {
	if p.word == "(" {
		p.parens()
	} else if p.accept("=") {
		p.next()
	}
}

// params reads the parameters of a function.
func (p *parser) params(f *Func) {
	p.expect("(")
	for p.word != ")" {
		if p.accept("...") {
			f.Dots = true
			break
		}
		v := &Value{Kind: Argument, Type: p.typ(), Line: p.line}
		p.argumentWords(v)
		if strings.HasPrefix(p.word, "%") {
			v.Name = p.take()
		} else {
			v.Name = "%" + strconv.Itoa(p.f.next)
		}
		p.count(v.Name)
		p.f.locals[v.Name] = v
		f.Params = append(f.Params, v)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}

// argumentWords reads the attributes of a parameter or argument.
func (p *parser) argumentWords(v *Value) {
	for {
		word := p.word
		if word == "," || word == ")" || word == "" || word[0] == '%' || word[0] == '@' || !(word[0] >= 'a' && word[0] <= 'z' || word[0] == '"') || !p.isArgumentWord() {
			return
		}
		p.next()
		word = unquote(word)
		switch {
		case word == "align":
			v.Align = p.alignment()
		case (word == "byval" || word == "sret") && p.accept("("):
			v.Elem = p.typ()
			p.expect(")")
		default:
			p.skipAttribute()
		}
		v.Words = append(v.Words, word)
	}
}

// isArgumentWord reports whether the current word is an attribute and not a constant.
func (p *parser) isArgumentWord() bool {
	switch p.word {
	case "true", "false", "null", "undef", "poison", "zeroinitializer", "none", "splat", "asm",
		"getelementptr", "addrspacecast", "bitcast", "inttoptr", "ptrtoint", "ptrtoaddr", "trunc", "add", "sub", "xor", "mul":
		return false
	}
	return !strings.HasPrefix(p.word, `c"`)
}

func (p *parser) alignment() int {
	if p.accept("(") {
		n := p.number()
		p.expect(")")
		return n
	}
	return p.number()
}

// functionWords reads what stands between the parameters and the body.
func (p *parser) functionWords(f *Func, defined bool) {
	for p.word != "{" && p.word != "define" && p.word != "declare" && p.word != "attributes" && p.word != "" {
		switch word := p.word; {
		case word[0] == '#':
			f.Attrs[word] = ""
			p.next()
		case word == "!dbg":
			p.next()
			p.placeLater(placed{fn: f}, p.take())
		case word[0] == '!' || word[0] == '@' || word[0] == '%':
			if !defined {
				return
			}
			p.next()
		case word == "align":
			p.next()
			p.number()
		case word[0] == '"':
			key := unquote(p.take())
			f.Attrs[key] = ""
			if p.accept("=") {
				f.Attrs[key] = unquote(p.take())
			}
		default:
			p.next()
			p.skipAttribute()
		}
	}
}

// placeLater notes the number of the metadata with the place of a value or function.
func (p *parser) placeLater(of placed, reference string) {
	if id, err := strconv.Atoi(strings.TrimPrefix(reference, "!")); err == nil {
		of.id = id
		p.placed = append(p.placed, of)
	}
}

// count takes the number of a value without a name.
func (p *parser) count(name string) {
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "%")); err == nil {
		p.f.next = n + 1
	}
}

// local is the value of a name, which may be defined later.
func (p *parser) local(name string, t *Type) *Value {
	if p.f == nil {
		p.fail("%s stands outside of a function", name)
	}
	v := p.f.locals[name]
	if v == nil {
		v = &Value{Kind: Instruction, Name: name, Type: t, Line: p.line}
		p.f.locals[name] = v
	}
	return v
}

// block is the block of a name, which may come later.
func (p *parser) block(name string) *Block {
	b := p.f.blocks[name]
	if b == nil {
		b = &Block{Name: name}
		p.f.blocks[name] = b
	}
	return b
}

// body reads the blocks of a function.
func (p *parser) body(f *Func) {
	for p.word != "}" {
		name := strconv.Itoa(p.f.next)
		if p.isLabel() {
			name = unquote(p.take())
			p.expect(":")
		}
		p.count(name)
		b := p.block(name)
		if b.filled {
			p.fail("block %s stands here twice", name)
		}
		b.filled, b.Number = true, len(f.Blocks)
		f.Blocks = append(f.Blocks, b)
		for !p.isLabel() && p.word != "}" {
			if strings.HasPrefix(p.word, "#dbg_") {
				p.restOfLine()
				continue
			}
			v := p.instruction()
			v.Block = b
			b.Values = append(b.Values, v)
		}
		if len(b.Values) == 0 || !slices.Contains([]string{"br", "switch", "ret", "unreachable"}, b.Last().Op) {
			p.fail("block %s does not end in a jump", name)
		}
	}
	for name, v := range p.f.locals {
		if v.Kind == Instruction && v.Op == "" {
			p.fail("%s is used and not defined", name)
		}
	}
	for name, b := range p.f.blocks {
		if !b.filled {
			p.fail("block %s is used and not defined", name)
		}
	}
}
