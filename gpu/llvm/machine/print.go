package machine

import (
	"fmt"
	"strings"
)

// printer writes a function.
type printer struct {
	f     *Func
	b     strings.Builder
	place Place
	names []string
	count [classes]int
	late  []*Block // blocks of edges, after all others
}

// String is the body of the function without its braces. It may be called once: it
// removes what is unused.
func (f *Func) String() string {
	f.removeDead()
	f.mergeEqualPhis()
	f.coalesce()
	p := &printer{f: f}
	targets := map[*Block]bool{}
	for i, b := range f.Blocks {
		b.index = i
		b.label = fmt.Sprintf("$L__%s_%d", f.label, i)
		f.order(b, i)
		for k, e := range b.Exits {
			if k < len(b.Exits)-1 || i+1 >= len(f.Blocks) || e.To != f.Blocks[i+1] {
				targets[e.To] = true
			}
		}
	}
	for i := 0; i < len(f.Blocks); i++ {
		b := f.Blocks[i]
		if targets[b] {
			p.b.WriteString(b.label + ":\n")
		}
		var next *Block
		if i+1 < len(f.Blocks) {
			next = f.Blocks[i+1]
		}
		p.block(b, next)
	}
	for i := 0; i < len(p.late); i++ {
		p.b.WriteString(p.late[i].label + ":\n")
		p.block(p.late[i], nil)
	}
	return p.declarations() + p.b.String()
}

// order turns a branch of two ways so that the way with moves, or else the one to the next
// block, comes last.
func (f *Func) order(b *Block, i int) {
	if len(b.Exits) != 2 || b.Exits[0].When == 0 {
		return
	}
	first, last := &b.Exits[0], &b.Exits[1]
	next := i+1 < len(f.Blocks) && first.To == f.Blocks[i+1]
	if len(first.Moves) > 0 && len(last.Moves) == 0 || next && (len(last.Moves) == 0 || len(first.Moves) > 0) {
		first.To, last.To = last.To, first.To
		first.Moves, last.Moves = last.Moves, first.Moves
		first.Not = !first.Not
	}
}

// block writes a block; next is printed after it.
func (p *printer) block(b, next *Block) {
	for _, in := range b.Instrs {
		p.instr(in)
	}
	for k, e := range b.Exits {
		if k == len(b.Exits)-1 {
			p.moves(e.Moves)
			if e.To != next {
				p.line("bra.uni " + e.To.label)
			}
			return
		}
		to := e.To
		if len(e.Moves) > 0 {
			to = &Block{Exits: []Exit{{To: e.To, Moves: e.Moves}}, label: fmt.Sprintf("$L__%s_e%d", p.f.label, len(p.late))}
			p.late = append(p.late, to)
		}
		not := ""
		if e.Not {
			not = "!"
		}
		p.line("@" + not + p.name(e.When) + " bra " + to.label)
	}
}

func (p *printer) moves(moves []Move) {
	for _, m := range p.f.sequence(moves) {
		p.line("mov." + p.f.classes[m.To].String() + " " + p.name(m.To) + ", " + p.operand(m.From))
	}
}

func (p *printer) line(text string) { p.b.WriteString("\t" + text + ";\n") }

// instr writes an instruction after its place in the source.
func (p *printer) instr(in Instr) {
	if in.Place.Line != 0 && in.Place != p.place {
		fmt.Fprintf(&p.b, "\t.loc %d %d %d\n", in.Place.File, in.Place.Line, in.Place.Col)
		p.place = in.Place
	}
	p.b.WriteByte('\t')
	text := in.Format
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i+1 >= len(text) {
			break
		}
		p.b.WriteString(text[:i])
		if text[i+1] == '$' {
			p.b.WriteByte('$')
			text = text[i+2:]
			continue
		}
		n, digits := 0, i+1
		for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
			n = n*10 + int(text[digits]-'0')
			digits++
		}
		p.b.WriteString(p.operand(in.Args[n]))
		text = text[digits:]
	}
	p.b.WriteString(text)
	if !in.Raw {
		p.b.WriteByte(';')
	}
	p.b.WriteByte('\n')
}

func (p *printer) operand(o Operand) string {
	if o.Reg == 0 {
		return o.Text
	}
	return p.name(o.Reg)
}

// name is the name of a register, numbered by its first use.
func (p *printer) name(r Reg) string {
	for int(r) >= len(p.names) {
		p.names = append(p.names, "")
	}
	if p.names[r] == "" {
		c := p.f.classes[r]
		p.count[c]++
		p.names[r] = fmt.Sprintf("%s%d", prefixes[c], p.count[c])
	}
	return p.names[r]
}

func (p *printer) declarations() string {
	var b strings.Builder
	for c, n := range p.count {
		if n > 0 {
			fmt.Fprintf(&b, "\t.reg .%s \t%s<%d>;\n", widths[c], prefixes[c], n+1)
		}
	}
	return b.String()
}
