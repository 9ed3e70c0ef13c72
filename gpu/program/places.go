//go:build linux

package program

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// places finds lines of the sources for addresses in a program.
type places struct {
	rows    []row // sorted by address
	path    string
	sources []Source
	inlined []inlined // calls in the sources, innermost first; nil before a line of a library asks
}

const noLine = -1

// inlined is the code of a function in the place of its call.
type inlined struct {
	from, to uint64
	file     string
	line     int
}

type row struct {
	address uint64
	file    string
	line    int  // 0 ends a sequence
	header  bool // it is of a header of a library
}

// newPlaces reads the line tables of a program's file.
func newPlaces(path string, sources []Source) *places {
	p := &places{path: path, sources: sources}
	f, err := elf.Open(path)
	if err != nil {
		return p
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		return p
	}
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == dwarf.TagCompileUnit {
			p.read(data, e, sources)
		}
		r.SkipChildren()
	}
	slices.SortStableFunc(p.rows, func(a, b row) int { return cmp.Compare(a.address, b.address) })
	return p
}

// read adds the rows of a unit. Units of libraries have other names than the sources.
func (p *places) read(data *dwarf.Data, unit *dwarf.Entry, sources []Source) {
	lines, err := data.LineReader(unit)
	if err != nil || lines == nil {
		return
	}
	if !p.ours(unit) {
		return
	}
	var e dwarf.LineEntry
	for {
		if lines.Next(&e) != nil { // the end, or a table that cannot be read
			return
		}
		r := row{address: e.Address, line: cmp.Or(e.Line, noLine)}
		if e.EndSequence {
			r.line = 0
		} else if e.File != nil {
			r.file, r.header = shortName(e.File.Name, sources), isLibrary(e.File.Name)
		}
		p.rows = append(p.rows, r)
	}
}

// ours reports whether a unit is one of the sources.
func (p *places) ours(unit *dwarf.Entry) bool {
	name, _ := unit.Val(dwarf.AttrName).(string)
	return name == "-" || name == "<stdin>" || slices.ContainsFunc(p.sources, func(s Source) bool {
		return name == s.Name || filepath.Base(name) == filepath.Base(s.Name)
	})
}

// libraryFolders are parts of the paths of headers that are no user's.
var libraryFolders = []string{"/libcxx/include/", "/libc/include/", "/lib/include/", "/cuda-headers-"}

func isLibrary(file string) bool {
	return slices.ContainsFunc(libraryFolders, func(f string) bool { return strings.Contains(file, f) })
}

// shortName is a file as the user named it.
func shortName(file string, sources []Source) string {
	for _, s := range sources {
		if file == s.Name || strings.HasSuffix(file, "/"+s.Name) {
			return s.Name
		}
	}
	return filepath.Base(file)
}

// at is the line of the call that returns to an address, "" if it is in no source.
func (p *places) at(address uint64) string {
	if address == 0 {
		return ""
	}
	return p.line(p.row(address-1), address-1)
}

// of is the line of an instruction, "" if it is in no source. Code that the compiler has moved
// is most often used by what follows.
func (p *places) of(address uint64) string {
	i := p.row(address)
	for ; i >= 0 && i < len(p.rows) && p.rows[i].line == noLine; i++ {
		address = p.rows[i].address
	}
	return p.line(i, address)
}

// row is the number of the row that an address lies in, -1 for none.
func (p *places) row(address uint64) int {
	return sort.Search(len(p.rows), func(i int) bool { return p.rows[i].address > address }) - 1
}

// line is the line of an address in a row, "" for none.
func (p *places) line(i int, address uint64) string {
	if i < 0 || i >= len(p.rows) || p.rows[i].line <= 0 {
		return ""
	}
	r := p.rows[i]
	if r.header {
		if call := p.caller(max(address, r.address)); call != "" {
			return call
		}
	}
	return fmt.Sprintf("%s:%d", r.file, r.line)
}

// caller is the line of the sources whose call the code of a library's header stands for.
func (p *places) caller(address uint64) string {
	if p.inlined == nil {
		p.inlined = []inlined{}
		p.readInlined() // without it the header is named
		slices.SortStableFunc(p.inlined, func(a, b inlined) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	}
	for _, c := range p.inlined {
		if address >= c.from && address < c.to {
			return fmt.Sprintf("%s:%d", c.file, c.line)
		}
	}
	return ""
}

func (p *places) readInlined() {
	f, err := elf.Open(p.path)
	if err != nil {
		return
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		return
	}
	var files []*dwarf.LineFile
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			files = nil
			if lines, err := data.LineReader(e); err == nil && lines != nil && p.ours(e) {
				files = lines.Files()
			} else {
				r.SkipChildren()
			}
		case dwarf.TagInlinedSubroutine:
			p.addInlined(data, e, files)
		}
	}
}

// addInlined adds a call whose line is in the sources.
func (p *places) addInlined(data *dwarf.Data, e *dwarf.Entry, files []*dwarf.LineFile) {
	number, _ := e.Val(dwarf.AttrCallFile).(int64)
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	if number < 0 || number >= int64(len(files)) || files[number] == nil || isLibrary(files[number].Name) {
		return
	}
	ranges, err := data.Ranges(e)
	if err != nil {
		return
	}
	for _, r := range ranges {
		p.inlined = append(p.inlined, inlined{r[0], r[1], shortName(files[number].Name, p.sources), int(line)})
	}
}
