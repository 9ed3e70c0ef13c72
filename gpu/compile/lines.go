package compile

import (
	"path"
	"slices"
	"strings"

	"warpbook/gpu/ptx"
	"warpbook/kernel/leaf/lazyregexp"
)

// CodeLines are the lines of a source that may have code, in order, as its text shows
// before it is compiled: lines in the bodies of functions, and instructions of PTX. The
// compiler's line table has most of them. firstLine is the number of the first line.
func CodeLines(text string, isPTX bool, firstLine int) (list []int) {
	if isPTX {
		m, err := ptx.Parse("", text)
		if err != nil {
			return nil
		}
		for n := range linesOf(m, "") {
			list = append(list, n+firstLine-1)
		}
		slices.Sort(list)
		return list
	}
	s := scan(text)
	line := 1
	for start := range lineStarts(s.code) {
		end := start + strings.IndexByte(s.code[start:]+"\n", '\n')
		for _, f := range s.functions {
			part := s.code[max(start, min(f.from, end)):min(end, max(f.to, start))]
			if last := strings.LastIndexByte(s.code[:f.to], '}'); !uncoded().MatchString(part) || f.from < start && start <= last && last < end {
				list = append(list, line+firstLine-1)
				break
			}
		}
		line++
	}
	return list
}

// uncoded matches lines that have no code: a brace or an else alone, and declarations of
// shared memory.
var uncoded = lazyregexp.New(`^[\s{}]*(?:else[\s{]*)?$|^\s*(?:extern\s+)?__shared__\b`)

// lineStarts are the offsets of the lines of a text.
func lineStarts(text string) func(func(int) bool) {
	return func(yield func(int) bool) {
		for at := 0; at <= len(text); {
			if !yield(at) {
				return
			}
			n := strings.IndexByte(text[at:], '\n')
			if n < 0 {
				return
			}
			at += n + 1
		}
	}
}

// linesOf are the lines of a file with code, or those of the PTX itself if it has no lines
// of a source.
func linesOf(m *ptx.Module, file string) map[int]bool {
	has := map[int]bool{}
	for _, f := range m.Functions {
		for _, in := range f.Code {
			if len(m.Files) == 0 && path.Base(m.Name) == path.Base(file) {
				has[in.Pos.Line] = true
			} else if in.Source.Line > 0 && path.Base(m.Files[in.Source.File]) == file {
				has[in.Source.Line] = true
			}
		}
	}
	return has
}

// LinesOf are the lines of a file that have code in a module, in order.
func LinesOf(m *ptx.Module, file string) (list []int) {
	for n := range linesOf(m, file) {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}
