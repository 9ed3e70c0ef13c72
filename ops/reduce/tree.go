package reduce

import (
	"fmt"
	"strconv"

	"warpbook/gpu"
)

// Tree is the tree of additions of a rung in shared memory, for a small block: which thread
// adds which element in which step. Package display draws it: rows are steps, columns
// threads.
type Tree struct {
	rung  string
	to    string // the element to which a thread adds
	steps [][]addition
}

// addition is s[to] += s[from], by a thread.
type addition struct{ thread, to, from int }

// The block that is drawn: warps of 8 lanes, so that idle warps can be seen.
const (
	treeThreads = 32
	treeWarp    = 8
)

// trees are the rungs that are drawn, and their additions in a step that joins sums at a
// distance. Of an ascending one the distance grows from step to step.
var trees = map[string]struct {
	ascending bool
	to        string
	adds      func(distance int) []addition
}{
	"reduce_v0_interleaved": {true, "s[thread]", func(distance int) (all []addition) {
		for t := 0; t < treeThreads; t += 2 * distance {
			all = append(all, addition{t, t, t + distance})
		}
		return all
	}},
	"reduce_v1_strided_index": {true, "s[2 * distance * thread]", func(distance int) (all []addition) {
		for t := 0; 2*distance*t < treeThreads; t++ {
			all = append(all, addition{t, 2 * distance * t, 2*distance*t + distance})
		}
		return all
	}},
	"reduce_v2_sequential": {false, "s[thread]", func(distance int) (all []addition) {
		for t := range distance {
			all = append(all, addition{t, t, t + distance})
		}
		return all
	}},
}

// TreeOf is the tree of a rung of v0 to v2.
func TreeOf(rung string) (*Tree, error) {
	kind, ok := trees[rung]
	if !ok {
		return nil, fmt.Errorf("ops: reduce: tree of %q: %w, expected reduce_v0_interleaved, reduce_v1_strided_index or reduce_v2_sequential", rung, gpu.ErrNotFound)
	}
	t := &Tree{rung: rung, to: kind.to}
	for distance := 1; distance < treeThreads; distance *= 2 {
		d := distance
		if !kind.ascending {
			d = treeThreads / 2 / distance
		}
		t.steps = append(t.steps, kind.adds(d))
	}
	return t, nil
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
func (t *Tree) Legend() []string { return []string{"adds s[number]", "idle lane of a working warp"} }

// Notes say what the picture shows.
func (t *Tree) Notes() []string {
	return []string{"a number: the element that the thread adds to " + t.to + "; without colour: no lane of the warp works"}
}

// Cells are the picture.
func (t *Tree) Cells() (columns, rows []string, text [][]string, level [][]int) {
	for i := range treeThreads {
		columns = append(columns, strconv.Itoa(i))
	}
	for i, adds := range t.steps {
		rows = append(rows, strconv.Itoa(i+1))
		words, levels := make([]string, treeThreads), make([]int, treeThreads)
		for _, a := range adds {
			warp := a.thread / treeWarp * treeWarp
			for lane := warp; lane < warp+treeWarp; lane++ {
				levels[lane] = max(levels[lane], 1)
			}
		}
		for lane, l := range levels {
			levels[lane] = 2 * l // idle, unless it adds
		}
		for _, a := range adds {
			words[a.thread], levels[a.thread] = strconv.Itoa(a.from), 1
		}
		text, level = append(text, words), append(level, levels)
	}
	return columns, rows, text, level
}
