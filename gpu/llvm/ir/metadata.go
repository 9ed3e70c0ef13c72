package ir

import (
	"path"
	"strconv"
	"strings"
)

// metadata reads a definition of metadata, whose text is read only where a place needs it.
func (p *parser) metadata() {
	name := p.take()
	p.expect("=")
	text := p.restOfLine()
	if id, err := strconv.Atoi(name[1:]); err == nil {
		p.meta[id] = text
	}
}

// field is the text of a field of metadata, "" where it has none.
func field(text, name string) string {
	for from := 0; ; {
		i := strings.Index(text[from:], name+": ")
		if i < 0 {
			return ""
		}
		i += from
		from = i + len(name) + 2
		if i > 0 && text[i-1] != ' ' && text[i-1] != '(' {
			continue
		}
		rest := text[from:]
		if strings.HasPrefix(rest, `"`) {
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				return ""
			}
			return unquote(rest[:end+2])
		}
		return rest[:strings.IndexAny(rest+",", ",)")]
	}
}

// reference is the number of the metadata in a field, -1 where it has none.
func reference(text, name string) int {
	id, err := strconv.Atoi(strings.TrimPrefix(field(text, name), "!"))
	if err != nil {
		return -1
	}
	return id
}

// setPlaces gives instructions and functions their place in the source.
func (p *parser) setPlaces() {
	for _, of := range p.placed {
		place := p.place(of.id)
		if of.fn != nil {
			of.fn.Place = place
		} else {
			of.value.Place = place
		}
	}
	for _, text := range p.meta {
		if rest, ok := strings.CutPrefix(text, `!{i32 4, !"`); ok {
			name, number, _ := strings.Cut(rest, `", i32 `)
			n, _ := strconv.ParseUint(strings.TrimSuffix(number, "}"), 10, 64) // or a flag of another form
			p.module.Flags[name] = n
		}
	}
}

// place is the position that metadata names: a location or a function.
func (p *parser) place(id int) Place {
	if place, ok := p.places[id]; ok {
		return place
	}
	text := p.meta[id]
	line, _ := strconv.Atoi(field(text, "line")) // 0 is unknown
	column, _ := strconv.Atoi(field(text, "column"))
	place := Place{Line: line, Col: column, File: p.file(id, 0)}
	p.places[id] = place
	return place
}

// file is the file of the scope of metadata. Scopes nest no deeper than the limit.
func (p *parser) file(id, depth int) string {
	const limit = 1000
	text := p.meta[id]
	if file := reference(text, "file"); file >= 0 {
		name := field(p.meta[file], "filename")
		return path.Base(strings.ReplaceAll(name, `\`, "/"))
	}
	if scope := reference(text, "scope"); scope >= 0 && depth < limit {
		return p.file(scope, depth+1)
	}
	return ""
}
