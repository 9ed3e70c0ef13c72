package explain

import (
	"fmt"
	"math/bits"
	"slices"

	"warpbook/gpu"
)

// Divergence is the kind of a finding of a branch whose lanes of a warp go both ways: the
// warp runs both, one after the other.
const Divergence = "divergent branch"

// mostBranches is how many patterns of a branch are drawn.
const mostBranches = 16

// divergences are the branches that cost passes which other lanes together would not.
func divergences(profiles []gpu.Profile) (found []*Finding) {
	type key struct{ entry, at string }
	known := map[key]*Finding{}
	for _, p := range profiles {
		for i := range p.Instructions {
			in := &p.Instructions[i]
			if len(in.Branches) == 0 {
				continue
			}
			k := key{p.Entry, placeOf(&p, in)}
			f := known[k]
			if f == nil {
				f = &Finding{Kind: Divergence, At: k.at, entry: p.Entry}
				known[k] = f
				found = append(found, f)
			}
			f.addBranches(in)
		}
	}
	return slices.DeleteFunc(found, func(f *Finding) bool {
		f.weigh()
		return f.Cost <= f.Best
	})
}

func (f *Finding) addBranches(in *gpu.InstructionProfile) {
	if !slices.Contains(f.Instructions, in.Name) {
		f.Instructions = append(f.Instructions, in.Name)
	}
	if !slices.Contains(f.PTX, in.Line) {
		f.PTX = append(f.PTX, in.Line)
	}
	f.others += in.Divergent
	for _, b := range in.Branches {
		if changes(b) > 1 {
			f.Branches = append(f.Branches, b)
		} else {
			f.others -= b.Count
		}
	}
}

// changes is how often the way changes from one active lane to the next. One change is the
// edge of a comparison of the thread's number with a bound, as of the last warp of the data
// or the last steps of a tree: no other choice of lanes does better.
func changes(b gpu.Branch) (n int) {
	for m := b.Active & (b.Active - 1); m != 0; m &= m - 1 { // from the second lane on
		lane := bits.TrailingZeros32(m)
		before := 31 - bits.LeadingZeros32(b.Active&(1<<lane-1))
		if b.Taken>>lane&1 != b.Taken>>before&1 {
			n++
		}
	}
	return n
}

// weigh counts passes: a divergent warp takes two. Best is how many warps the lanes of each
// way would fill, with the rest in one warp more.
func (f *Finding) weigh() {
	slices.SortStableFunc(f.Branches, func(a, b gpu.Branch) int { return int(b.Count) - int(a.Count) })
	var taken, others, known uint64
	for _, b := range f.Branches {
		taken += b.Count * uint64(bits.OnesCount32(b.Taken))
		others += b.Count * uint64(bits.OnesCount32(b.Active&^b.Taken))
		known += b.Count
	}
	f.Cost, f.Best = 2*known, (taken+31)/32+(others+31)/32
	f.others -= known
}

// divergenceRemedies is that whole warps agree.
func divergenceRemedies(f *Finding) []Remedy {
	known := f.Cost / 2
	return []Remedy{{
		Change: "let neighbouring lanes go the same way: make the condition a comparison of the thread's number with a bound, and compute the element from the number",
		Scope:  "its warps", Patterns: len(f.Branches), Known: float64(known) / float64(known+f.others),
		Before: f.Cost, After: f.Best, unit: "passes",
	}}
}

// branchNotes say which lanes go which way.
func (f *Finding) branchNotes() []string {
	b := f.Branches[0]
	return []string{fmt.Sprintf("Shown: which lanes jump, for each pattern how often; of warp %d in block %v, %s jump and %s go on, %s times.",
		b.Warp, b.Block, lanes(b.Taken), lanes(b.Active&^b.Taken), solid(b.Count))}
}

// branchCells is a row a pattern and a column a lane.
func (f *Finding) branchCells() (columns, rows []string, text [][]string, level [][]int) {
	shown := f.Branches[:min(len(f.Branches), mostBranches)]
	text, level = blank(len(shown), 32)
	for i, b := range shown {
		rows = append(rows, solid(b.Count)+" times")
		for lane := range 32 {
			switch {
			case b.Taken>>lane&1 == 1:
				text[i][lane], level[i][lane] = "j", 2
			case b.Active>>lane&1 == 1:
				level[i][lane] = 1
			}
		}
	}
	return numbers(32), rows, text, level
}
