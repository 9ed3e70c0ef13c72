package reduce

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu"
)

// Tree is the tree of additions of a rung, for a small block: which thread adds which element
// in which step. Package display draws it: rows are steps, columns threads.
type Tree struct {
	rung  string
	to    string // the element to which a thread adds
	steps []step
}

// step is one row: additions that run at once, and what ends the step.
type step struct {
	ends string // the format of its name; "load" is for additions while loading
	adds []addition
}

// addition is s[to] += s[from], by a thread.
type addition struct{ thread, to, from int }

// The block that is drawn: warps of 8 lanes, so that idle warps can be seen.
const (
	treeThreads = 32
	treeWarp    = 8
)

// trees are the rungs that are drawn.
var trees = map[string]struct {
	to    string
	steps func() []step
}{
	"reduce_v0_interleaved": {"s[thread]", func() (all []step) {
		for distance := 1; distance < treeThreads; distance *= 2 {
			s := step{ends: "%d, barrier"}
			for t := 0; t < treeThreads; t += 2 * distance {
				s.adds = append(s.adds, addition{t, t, t + distance})
			}
			all = append(all, s)
		}
		return all
	}},
	"reduce_v1_strided_index": {"s[2 * distance * thread]", func() (all []step) {
		for distance := 1; distance < treeThreads; distance *= 2 {
			s := step{ends: "%d, barrier"}
			for t := 0; 2*distance*t < treeThreads; t++ {
				s.adds = append(s.adds, addition{t, 2 * distance * t, 2*distance*t + distance})
			}
			all = append(all, s)
		}
		return all
	}},
	"reduce_v2_sequential": {"s[thread]", func() []step { return halving(treeThreads/2, 0) }},
	"reduce_v3_first_add":  {"element [thread]", func() []step { return append(whileLoading(), halving(treeThreads/2, 0)...) }},
	"reduce_v4_last_warp":  {"element [thread]", func() []step { return append(whileLoading(), halving(treeThreads/2, treeWarp)...) }},
	"reduce_warp_shuffle": {"its own sum; after the barrier thread w has the sum of warp w, element 8 w", func() (all []step) {
		for distance := treeWarp / 2; distance > 0; distance /= 2 {
			s := step{ends: "%d, shuffle"}
			for t := range treeThreads {
				if t%treeWarp < distance {
					s.adds = append(s.adds, addition{t, t, t + distance})
				}
			}
			all = append(all, s)
		}
		all[len(all)-1].ends = "%d, barrier"
		for distance := treeThreads / treeWarp / 2; distance > 0; distance /= 2 {
			s := step{ends: "%d, shuffle"}
			for t := range distance {
				s.adds = append(s.adds, addition{t, t * treeWarp, (t + distance) * treeWarp})
			}
			all = append(all, s)
		}
		return all
	}},
}

// whileLoading is the step in which each thread adds two elements while it loads them.
func whileLoading() []step {
	s := step{ends: "%d, load"}
	for t := range treeThreads {
		s.adds = append(s.adds, addition{t, t, t + treeThreads})
	}
	return []step{s}
}

// halving are steps in which the threads below a distance add the elements that far away. From
// a distance of warp on one warp is left, and synchronises itself.
func halving(distance, warp int) (all []step) {
	for ; distance > 0; distance /= 2 {
		s := step{ends: "%d, barrier"}
		if distance <= warp {
			s.ends = "%d, warp sync"
		}
		for t := range distance {
			s.adds = append(s.adds, addition{t, t, t + distance})
		}
		all = append(all, s)
	}
	return all
}

// TreeOf is the tree of a rung of v0 to v4, or of the one with shuffles.
func TreeOf(rung string) (*Tree, error) {
	kind, ok := trees[rung]
	if !ok {
		return nil, fmt.Errorf("ops: reduce: tree of %q: %w, expected one of %s", rung, gpu.ErrNotFound, strings.Join(slices.Sorted(maps.Keys(trees)), ", "))
	}
	return &Tree{rung: rung, to: kind.to, steps: kind.steps()}, nil
}

// MustTreeOf is TreeOf for notebooks, where an error ends the cell.
func MustTreeOf(rung string) *Tree {
	t, err := TreeOf(rung)
	if err != nil {
		panic(err)
	}
	return t
}

// Title names the rung and the block.
func (t *Tree) Title() string {
	return fmt.Sprintf("%s: who adds which element, in a block of %d threads in warps of %d", t.rung, treeThreads, treeWarp)
}

// Axes names both axes.
func (t *Tree) Axes() (columns, rows string) { return "thread", "step" }

// Legend names the colours. A warp without colour has finished.
func (t *Tree) Legend() []string {
	return []string{"adds element [number]", "another lane of a working warp"}
}

// Notes say what the picture shows.
func (t *Tree) Notes() []string {
	return []string{
		"a number: the element that the thread adds to " + t.to + "; without colour: no lane of the warp works",
		"beside the number of a step: what ends it",
	}
}

// Cells are the picture.
func (t *Tree) Cells() (columns, rows []string, text [][]string, level [][]int) {
	for i := range treeThreads {
		columns = append(columns, strconv.Itoa(i))
	}
	for i, s := range t.steps {
		rows = append(rows, fmt.Sprintf(s.ends, i+1))
		words, levels := make([]string, treeThreads), make([]int, treeThreads)
		for _, a := range s.adds {
			warp := a.thread / treeWarp * treeWarp
			for lane := warp; lane < warp+treeWarp; lane++ {
				levels[lane] = max(levels[lane], 1)
			}
		}
		for lane, l := range levels {
			levels[lane] = 2 * l // idle, unless it adds
		}
		for _, a := range s.adds {
			words[a.thread], levels[a.thread] = strconv.Itoa(a.from), 1
		}
		text, level = append(text, words), append(level, levels)
	}
	return columns, rows, text, level
}
