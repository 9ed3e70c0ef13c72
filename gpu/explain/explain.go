// Package explain explains the cost of a launch. Launch runs it on the emulator with
// a profile of every instruction and returns a Report: the costs by line of the CUDA
// source. It explains bank conflicts and uncoalesced accesses by the addresses of a
// warp's lanes, and names the padding or the index change that removes them, tested
// on every recorded pattern. Benches and %%cuda cells call it.
//
// It draws nothing and must never import kernel/display: reports and findings have
// the methods (Table, Cells, Title, Notes, Parts) from which that package makes
// tables and plots.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu"
)

// Source is the text of a CUDA source file under the name that the PTX has for
// it, such as "reduce.cu".
type Source struct{ Name, Text string }

// Launch runs a launch and explains it. A device that does not count, as a GPU,
// returns an error that wraps gpu.ErrUnsupported. The text of source lines
// stands in the report where their files are among the sources; the PTX may be
// one of them, for code without line information.
func Launch(device gpu.Stream, l gpu.Launch, sources ...Source) (*Report, error) {
	var p gpu.Profile
	l.Profile = &p
	if err := device.Launch(l); err != nil {
		return nil, err
	}
	return Profiles([]gpu.Profile{p}, sources...), nil
}

// Report holds the costs of launches, by line of the CUDA source.
type Report struct {
	Lines    []Line     // in the order of the source
	Findings []*Finding // the most expensive first: of shared memory by wavefronts, of global memory by sectors
	title    string
	notes    []string
	profiles []gpu.Profile // of Access
	texts    map[string][]string
}

// Line is a line of the CUDA source with all PTX instructions that were made
// of it; or, without line information, a line of PTX.
type Line struct {
	File string
	Line int    // 0 for all PTX instructions that belong to no line
	Text string // "" where the source is not known
	PTX  []int  // lines of the PTX, ascending

	Warps     uint64 // PTX instructions, one per warp
	Threads   uint64 // times active lanes
	Divergent uint64 // branches taken by some, not all, active lanes
	Global    gpu.GlobalAccess
	Local     gpu.GlobalAccess
	Shared    gpu.SharedAccess
}

// Idle is the share of lanes that were idle while warps ran the line's
// instructions.
func (l *Line) Idle() float64 { return 1 - float64(l.Threads)/(32*float64(l.Warps)) }

// Profiles makes one report of launches that belong together.
func Profiles(profiles []gpu.Profile, sources ...Source) *Report {
	texts := map[string][]string{}
	r := &Report{profiles: profiles, texts: texts}
	for _, s := range sources {
		texts[s.Name] = strings.Split(s.Text, "\n")
	}
	type place struct {
		file string
		line int
	}
	lines := map[place]*Line{}
	for _, p := range profiles {
		for i := range p.Instructions {
			in := &p.Instructions[i]
			at := place{p.File, in.Line}
			if file, line, ok := splitPlace(in.Source); ok {
				at = place{file, line}
			} else if informed(&p) {
				at.line = 0
			}
			if lines[at] == nil {
				lines[at] = &Line{File: at.file, Line: at.line, Text: textOf(texts, at.file, at.line)}
			}
			lines[at].add(in)
		}
	}
	for _, l := range lines {
		slices.Sort(l.PTX)
		l.PTX = slices.Compact(l.PTX)
		r.Lines = append(r.Lines, *l)
	}
	slices.SortFunc(r.Lines, func(a, b Line) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	r.title = titleOf(profiles, r.file())
	r.Findings = findings(profiles, texts)
	return r
}

// file is the one that all lines are of, "" if they are of several.
func (r *Report) file() (file string) {
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Line == 0 {
			continue
		}
		if file != "" && file != l.File {
			return ""
		}
		file = l.File
	}
	return file
}

func (l *Line) add(in *gpu.InstructionProfile) {
	l.PTX = append(l.PTX, in.Line)
	l.Warps += in.Warps
	l.Threads += in.Threads
	l.Divergent += in.Divergent
	l.Global.Add(in.Global)
	l.Local.Add(in.Local)
	l.Shared.Add(in.Shared)
}

// informed reports whether the PTX has line information. Instructions without it
// share one row.
func informed(p *gpu.Profile) bool {
	return slices.ContainsFunc(p.Instructions, func(in gpu.InstructionProfile) bool { return in.Source != "" })
}

// splitPlace takes "reduce.cu:41" apart.
func splitPlace(place string) (file string, line int, ok bool) {
	at := strings.LastIndexByte(place, ':')
	if at < 0 {
		return "", 0, false
	}
	_, err := fmt.Sscan(place[at+1:], &line)
	return place[:at], line, err == nil
}

func textOf(texts map[string][]string, file string, line int) string {
	if text := texts[file]; line >= 1 && line <= len(text) {
		return strings.TrimSpace(text[line-1])
	}
	return ""
}

// titleOf names the entries that were launched, and the file that all of their
// lines are of, if it is one.
func titleOf(profiles []gpu.Profile, file string) string {
	var names []string
	for _, p := range profiles {
		if !slices.Contains(names, p.Entry) {
			names = append(names, p.Entry)
		}
	}
	title := strings.Join(names, ", ") + ", by source line"
	if file != "" {
		title = strings.Join(names, ", ") + ", by line of " + file
	}
	if len(profiles) > 1 {
		title += fmt.Sprintf(", %d launches", len(profiles))
	}
	return title
}

// Note adds a line below the table.
func (r *Report) Note(line string) { r.notes = append(r.notes, line) }
