package ptx

import (
	"slices"
	"strconv"
)

// Section is a debug section: its bytes, and the symbols whose addresses stand in it.
type Section struct {
	Data  []byte
	Words []SectionWord
}

// SectionWord is the place of an address in a section: the symbol's minus that of Minus,
// plus Addend. A symbol is a label of a function, a variable, a function or a section.
type SectionWord struct {
	Offset, Bytes int
	Symbol, Minus string
	Addend        int64
}

// section reads a debug section. A part that has another form ends what is kept of it:
// code runs without its debug information.
func (p *parser) section() {
	p.next()
	name := p.expect(dotToken, "after .section").text
	p.expect('{', "after the section's name")
	s := &Section{}
	for whole := true; p.tok.kind != '}' && p.tok.kind != endToken; {
		if whole = whole && p.sectionLine(s); !whole {
			p.next()
		}
	}
	p.expect('}', "after section ."+name)
	if p.module.Sections == nil {
		p.module.Sections = map[string]*Section{}
	}
	p.module.Sections[name] = s
}

// sectionLine reads one line of a section: .b8 1, 2 or .b64 label+4.
func (p *parser) sectionLine(s *Section) bool {
	bytes := map[string]int{"b8": 1, "b16": 2, "b32": 4, "b64": 8}[p.tok.text]
	if p.tok.kind != dotToken || bytes == 0 {
		return false
	}
	p.next()
	for {
		if !p.sectionWord(s, bytes) {
			return false
		}
		if !p.accept(',') {
			return true
		}
	}
}

func (p *parser) sectionWord(s *Section, bytes int) bool {
	w := SectionWord{Offset: len(s.Data), Bytes: bytes}
	negative := p.accept('-')
	switch t := p.tok; t.kind {
	case numberToken:
		n, err := strconv.ParseUint(t.text, 0, 64)
		if err != nil {
			return false
		}
		if w.Addend = int64(n); negative {
			w.Addend = -w.Addend
		}
		p.next()
	case wordToken, dotToken:
		w.Symbol = t.text
		p.next()
		if p.accept('+') {
			w.Addend, _ = strconv.ParseInt(p.tok.text, 0, 64)
			p.next()
		} else if p.accept('-') {
			w.Minus = p.tok.text
			p.next()
		}
	default:
		return false
	}
	for i, x := 0, uint64(w.Addend); i < bytes; i, x = i+1, x>>8 {
		s.Data = append(s.Data, byte(x))
	}
	if w.Symbol != "" {
		s.Words = append(s.Words, w)
	}
	return true
}

// Resolved are the bytes of a section with the addresses that at gives to symbols.
func (s *Section) Resolved(at func(symbol string) uint64) []byte {
	if s == nil {
		return nil
	}
	data := slices.Clone(s.Data)
	for _, w := range s.Words {
		x := at(w.Symbol) + uint64(w.Addend)
		if w.Minus != "" {
			x -= at(w.Minus)
		}
		for i := range w.Bytes {
			data[w.Offset+i] = byte(x >> (8 * i))
		}
	}
	return data
}
