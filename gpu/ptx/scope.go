package ptx

import "strconv"

type symbolKind byte

const (
	noSymbol symbolKind = iota
	registerSymbol
	variableSymbol
	labelSymbol
	functionSymbol
	tableSymbol // .branchtargets, .calltargets, .callprototype
)

// symbol is the meaning of a name.
type symbol struct {
	kind     symbolKind
	name     string // unique in the function
	pos      Pos
	typ      Type // of a register
	width    int  // components of a register: 1, 2 or 4
	register int  // index of its first component; -1 until it is used
	variable *Variable
	function *Function
}

// scope holds the names between '{' and '}'.
type scope struct {
	outer   *scope
	suffix  string // makes names of nested scopes unique; "" in a function's own
	pos     Pos
	names   map[string]symbol
	ranges  map[string]registerRange // by prefix: %r of %r<12>
	order   []token                  // register names and prefixes, as declared
	pending []reference
}

// registerRange is .reg .b32 %r<12>: %r0 to %r11.
type registerRange struct {
	typ   Type
	width int
	count uint64
}

// reference is a name that is resolved at the end of its scope, because a label may
// follow its use.
type reference struct {
	name    string
	pos     Pos
	symbol  *string  // receives the unique name
	operand *Operand // a label until resolved; nil in a list of labels
}

func (p *parser) openScope(pos Pos) {
	s := &scope{outer: p.scope, pos: pos, names: map[string]symbol{}, ranges: map[string]registerRange{}}
	if p.scopes > 0 {
		// No name of the text holds a dot.
		s.suffix = "." + strconv.Itoa(p.scopes)
	}
	p.scopes++
	p.scope = s
}

// closeScope resolves the names that wait for labels. It passes names without a label
// in this scope to the outer one.
func (p *parser) closeScope() {
	s := p.scope
	p.checkRanges(s)
	p.scope = s.outer
	for _, r := range s.pending {
		sym, ok := s.names[r.name]
		switch {
		case ok:
			p.resolve(r, sym)
		case s.outer != nil:
			s.outer.pending = append(s.outer.pending, r)
		default:
			p.resolve(r, p.symbols[r.name])
		}
	}
}

func (p *parser) resolve(r reference, sym symbol) {
	*r.symbol = sym.name
	if r.operand == nil { // in the list of a table
		if sym.kind != labelSymbol && sym.kind != functionSymbol {
			p.fail(r.pos, "undefined label '%s'", r.name)
		}
		return
	}
	switch sym.kind {
	case labelSymbol, tableSymbol:
		if r.operand.Offset != 0 {
			p.fail(r.pos, "label '%s' with an offset, expected a variable", r.name)
		}
	case variableSymbol, functionSymbol:
		r.operand.Kind = SymbolOperand
	default:
		if r.name[0] == '%' {
			p.fail(r.pos, "undefined register '%s'", r.name)
			return
		}
		p.fail(r.pos, "undefined name '%s', expected a label, variable or function", r.name)
	}
}

// define adds a name to the current scope.
func (p *parser) define(t token, sym symbol) {
	if old, ok := p.scope.names[t.text]; ok {
		p.duplicate(t, old.pos)
		return
	}
	if t.text == "_" {
		p.fail(t.pos, "'_' declared, expected another name")
		return
	}
	sym.pos = t.pos
	if sym.name == "" {
		sym.name = t.text + p.scope.suffix
	}
	p.scope.names[t.text] = sym
}

func (p *parser) duplicate(t token, first Pos) {
	p.fail(t.pos, "duplicate name '%s', declared before at line %d", t.text, first.Line)
}

// defineRange adds the registers of %r<count>. They cost nothing until used.
func (p *parser) defineRange(t token, r registerRange) {
	if _, ok := p.scope.ranges[t.text]; ok {
		p.fail(t.pos, "duplicate name '%s<%d>'", t.text, r.count)
		return
	}
	p.scope.ranges[t.text] = r
	p.scope.order = append(p.scope.order, t)
}

// checkRanges reports names that are declared alone and by a range, or by two
// ranges.
func (p *parser) checkRanges(s *scope) {
	if len(s.ranges) == 0 {
		return
	}
	for _, t := range s.order {
		name := t.text
		if _, ok := s.ranges[name]; ok {
			name += "0" // the first that a range of a shorter prefix can hold too
		}
		if prefix, _, ok := s.inRange(name, len(t.text)); ok {
			p.fail(t.pos, "duplicate name '%s', also declared by the range of '%s'", name, prefix)
			return
		}
	}
}

// inRange finds the range that declares the name; its prefix has less than
// limit bytes.
func (s *scope) inRange(name string, limit int) (string, registerRange, bool) {
	for i := len(name) - 1; i > 0 && len(s.ranges) > 0; i-- {
		if name[i] < '0' || name[i] > '9' || len(name)-i > 10 {
			break
		}
		if i >= limit || name[i] == '0' && i < len(name)-1 {
			continue // %r01 is not %r1
		}
		r, ok := s.ranges[name[:i]]
		if !ok {
			continue
		}
		if n, err := strconv.ParseUint(name[i:], 10, 64); err == nil && n < r.count {
			return name[:i], r, true
		}
	}
	return "", registerRange{}, false
}

// lookup finds a name of the function; registers get their index at first use.
func (p *parser) lookup(name string) symbol {
	for s := p.scope; s != nil; s = s.outer {
		sym, ok := s.names[name]
		if !ok {
			_, r, found := s.inRange(name, len(name))
			if !found {
				continue
			}
			sym = symbol{kind: registerSymbol, name: name + s.suffix, typ: r.typ, width: r.width, register: -1}
		}
		if sym.kind == registerSymbol && sym.register < 0 {
			sym.register = p.addRegister(sym)
			s.names[name] = sym
		}
		return sym
	}
	return symbol{}
}

func (p *parser) addRegister(sym symbol) int {
	f := p.function
	first := len(f.Registers)
	if sym.width == 1 {
		f.Registers = append(f.Registers, Reg{sym.name, sym.typ})
		return first
	}
	for _, c := range []string{".x", ".y", ".z", ".w"}[:sym.width] {
		f.Registers = append(f.Registers, Reg{sym.name + c, sym.typ})
	}
	return first
}
