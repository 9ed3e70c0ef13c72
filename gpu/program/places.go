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
	rows []row // sorted by address
}

type row struct {
	address uint64
	file    string
	line    int // 0 ends a sequence
}

// newPlaces reads the line tables of a program's file.
func newPlaces(path string, sources []Source) *places {
	p := &places{}
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
	name, _ := unit.Val(dwarf.AttrName).(string)
	if !slices.ContainsFunc(sources, func(s Source) bool {
		return name == s.Name || filepath.Base(name) == filepath.Base(s.Name) || name == "-" || name == "<stdin>"
	}) {
		return
	}
	var e dwarf.LineEntry
	for {
		if lines.Next(&e) != nil { // the end, or a table that cannot be read
			return
		}
		r := row{address: e.Address, line: e.Line}
		if e.EndSequence {
			r.line = 0
		} else if e.File != nil {
			r.file = shortName(e.File.Name, sources)
		}
		p.rows = append(p.rows, r)
	}
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
	i := sort.Search(len(p.rows), func(i int) bool { return p.rows[i].address >= address })
	if i--; i >= 0 && p.rows[i].line > 0 {
		return fmt.Sprintf("%s:%d", p.rows[i].file, p.rows[i].line)
	}
	return ""
}
