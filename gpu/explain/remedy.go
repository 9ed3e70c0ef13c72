package explain

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"warpbook/gpu"
)

// Remedy is a change of the code and its cost by the formulas of gpu.Pattern, for
// which every recorded pattern was run again with the change.
type Remedy struct {
	Change   string  // what to write
	Scope    string  // the requests that were run again
	Patterns int     // how many different ones
	Known    float64 // share of the requests whose patterns are known
	Before   uint64  // wavefronts or sectors
	After    uint64
	unit     string
}

func (r Remedy) String() string {
	s := fmt.Sprintf("%s: %s take %s instead of %s %s, verified on %d patterns", r.Change, r.Scope, solid(r.After), solid(r.Before), r.unit, r.Patterns)
	if r.Known < 1 {
		s += fmt.Sprintf(" (%.0f %% of the requests)", 100*r.Known)
	}
	return s
}

// rerun sums what requests cost before and after a change of their addresses.
func (r *Remedy) rerun(requests []gpu.Request, others uint64, change func(p *gpu.Pattern)) {
	var known uint64
	for _, q := range requests {
		r.Before += q.Cost()
		change(&q.Pattern)
		r.After += q.Cost()
		known += q.Count
	}
	r.Patterns, r.Known = len(requests), float64(known)/float64(known+others)
}

// each changes the address of every active lane.
func each(p *gpu.Pattern, change func(a uint64) uint64) {
	for m := p.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		p.Address[l] = change(p.Address[l])
	}
}

// sideBySide gives the distinct addresses of a request consecutive places.
func sideBySide(p *gpu.Pattern) {
	asked := distinct(p)
	each(p, func(a uint64) uint64 {
		i, _ := slices.BinarySearch(asked, a)
		return uint64(i * p.Bytes)
	})
}

// sharedRemedies change the layout of the variable, for which all accesses to
// it are run again, or what the lanes of the one instruction ask for.
func sharedRemedies(profiles []gpu.Profile, f *Finding) (remedies []Remedy) {
	v := variableOf(profiles, f)
	layouts := []*Remedy{v.padding(), v.swizzle()}
	for _, r := range layouts {
		if r != nil {
			remedies = append(remedies, *r)
		}
	}
	r := Remedy{Change: "let neighbouring lanes ask for neighbouring elements", Scope: "the requests of this line", unit: "wavefronts"}
	r.rerun(f.requests, f.others, sideBySide)
	if r.After < r.Before {
		remedies = append(remedies, r)
	}
	slices.SortStableFunc(remedies, func(a, b Remedy) int { return cmp.Compare(a.After*b.Before, b.After*a.Before) })
	return remedies
}

// variable is a shared variable with all requests to it.
type variable struct {
	name     string
	start    uint64
	bytes    int // of the widest access: what may not be torn
	requests []gpu.Request
	others   uint64
	cost     uint64
}

// variableOf is the one that a finding is about.
func variableOf(profiles []gpu.Profile, f *Finding) *variable {
	v := &variable{name: f.Request.Memory, start: f.Request.Start, bytes: 4}
	for _, p := range profiles {
		for i := range p.Instructions {
			if p.Entry == f.entry {
				v.add(&p.Instructions[i])
			}
		}
	}
	if v.name == "" {
		v.name = "shared memory"
	}
	return v
}

func (v *variable) add(in *gpu.InstructionProfile) {
	before := len(v.requests)
	for _, r := range in.Requests {
		if r.Shared && r.Memory == v.name && r.Start == v.start {
			v.requests = append(v.requests, r)
			v.bytes = max(v.bytes, r.Bytes)
			v.cost += r.Cost()
		}
	}
	if len(v.requests) > before {
		v.others += in.Others
	}
}

// with is the cost of all requests when the offset in the variable is changed.
func (v *variable) with(offset func(uint64) uint64) (cost uint64) {
	for _, r := range v.requests {
		each(&r.Pattern, func(a uint64) uint64 { return v.start + offset(a-v.start) })
		cost += r.Cost()
	}
	return cost
}

func (v *variable) remedy(change string, offset func(uint64) uint64) *Remedy {
	r := &Remedy{Change: change, Scope: "all accesses to " + v.name, unit: "wavefronts"}
	r.rerun(v.requests, v.others, func(p *gpu.Pattern) {
		each(p, func(a uint64) uint64 { return v.start + offset(a-v.start) })
	})
	return r
}

// padding finds the row length and the padding after each row with which all
// accesses to the variable cost least; among equals, the smallest padding.
func (v *variable) padding() *Remedy {
	type layout struct{ row, pad uint64 }
	pads := func(l layout) func(uint64) uint64 {
		return func(a uint64) uint64 { return a + a/l.row*l.pad }
	}
	least, best := v.cost, layout{}
	for row := uint64(4096); row >= max(32, uint64(v.bytes)); row /= 2 {
		for pad := uint64(v.bytes); pad <= 32; pad *= 2 {
			l := layout{row, pad}
			cost := v.with(pads(l))
			if cost < least || cost == least && best.row > 0 && cmp.Or(cmp.Compare(pad*best.row, best.pad*row), cmp.Compare(pad, best.pad)) < 0 {
				least, best = cost, l
			}
		}
	}
	if best.row == 0 {
		return nil
	}
	row, pad := best.row/4, best.pad/4
	return v.remedy(fmt.Sprintf("give %s %s behind every %d, so that a row of %d has %d (index i becomes i + i / %d%s)",
		v.name, words(pad), row, row, row+pad, row, times(pad)), pads(best))
}

func words(n uint64) string {
	if n == 1 {
		return "1 word"
	}
	return fmt.Sprintf("%d words", n)
}

func times(n uint64) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" * %d", n)
}

// swizzle looks for the length of rows with which exchanging the elements of a
// row, by the number of the row, makes all accesses cost least.
func (v *variable) swizzle() *Remedy {
	var best func(uint64) uint64
	var row uint64
	unit, least := uint64(v.bytes), v.cost
	for r := uint64(128); r <= 4096; r *= 2 {
		offset := func(a uint64) uint64 { return a ^ a/r*unit%min(r, 128) }
		if cost := v.with(offset); cost < least {
			least, best, row = cost, offset, r
		}
	}
	if best == nil {
		return nil
	}
	return v.remedy(fmt.Sprintf("exchange the %s of %s in each row of %d by an exclusive or of the column with the row, modulo %d",
		plural(unit/4, "word"), v.name, row/4, min(row, 128)/unit), best)
}

func plural(n uint64, what string) string {
	if n == 1 {
		return what + "s"
	}
	return fmt.Sprintf("groups of %d %ss", n, what)
}

// globalRemedies change which elements the lanes of the instruction ask for.
func globalRemedies(profiles []gpu.Profile, f *Finding) (remedies []Remedy) {
	add := func(change string, to func(p *gpu.Pattern)) {
		r := Remedy{Change: change, Scope: "its requests", unit: "sectors"}
		r.rerun(f.requests, f.others, to)
		if r.After < r.Before {
			remedies = append(remedies, r)
		}
	}
	asked := distinct(&f.Request.Pattern)
	if span := asked[len(asked)-1] - asked[0] + uint64(f.Request.Bytes); span == uint64(len(asked)*f.Request.Bytes) {
		add("let the first lane start at a multiple of 32 bytes", func(p *gpu.Pattern) {
			first := distinct(p)[0] % 32
			each(p, func(a uint64) uint64 { return a - first })
		})
		return remedies
	}
	change := "let neighbouring lanes ask for neighbouring elements"
	stride, ok := strideOf(&f.Request.Pattern)
	switch {
	case ok && membersOf(profiles, f, stride) > 1:
		change = fmt.Sprintf("keep each member of the records of %d bytes in an array of its own (a structure of arrays), or copy whole records through shared memory", stride)
	case ok:
		change += fmt.Sprintf(" (they are %d bytes apart: let threadIdx.x run along the dimension that lies side by side, or go through shared memory)", stride)
	}
	add(change, sideBySide)
	return remedies
}

// mostRecord is the largest record, in bytes: lanes that are further apart have a row each.
const mostRecord = 64

// membersOf is how many members of records, of which each lane has one, the kernel asks for:
// accesses of the same warp to the same buffer, less than a record apart.
func membersOf(profiles []gpu.Profile, f *Finding, record uint64) int {
	first := func(r *gpu.Request) uint64 { return distinct(&r.Pattern)[0] }
	at := first(&f.Request)
	var members []uint64
	for _, p := range profiles {
		for i := range p.Instructions {
			for _, r := range p.Instructions[i].Requests {
				if p.Entry != f.entry || r.Shared || r.Memory != f.Request.Memory || r.Block != f.Request.Block || r.Warp != f.Request.Warp || record > mostRecord {
					continue
				}
				far, same := first(&r)-at, false
				if stride, ok := strideOf(&r.Pattern); ok {
					same = stride == record
				}
				if same && (far < record || -far < record) && !slices.Contains(members, far) {
					members = append(members, far)
				}
			}
		}
	}
	return len(members)
}

// strideOf is the distance of the lanes' addresses if it is always the same.
func strideOf(p *gpu.Pattern) (stride uint64, ok bool) {
	asked := distinct(p)
	if len(asked) < 2 {
		return 0, false
	}
	stride = asked[1] - asked[0]
	for i := 2; i < len(asked); i++ {
		if asked[i]-asked[i-1] != stride {
			return 0, false
		}
	}
	return stride, true
}
