package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"warpbook/gpu"
)

// Touch is an access of a thread to an element of a tensor.
type Touch struct{ Block, Thread, Element int }

// Touches are the accesses of a rung's first launch to one tensor, as its PTX made them on
// a device: loads of an input, or stores of an output.
type Touches struct {
	Rung, Tensor, Device string
	Stores               bool
	Of                   []Touch
}

// TilePicture draws the tile of a matrix that the first block stores: whose elements are
// those of one thread, of its warp, and of the other warps.
type TilePicture struct {
	touches                 *Touches
	rows, columns           int // of the tile
	rowsACell, columnsACell int
	owner                   [][]int // the thread that stores a cell of the picture
}

// tileCells is the most cells of a picture in either direction.
const tileCells = 32

// Tile is the picture of the tile of the first block, in a matrix with rows of so many
// elements. A tile that is not a rectangle, or has an element of two threads or a cell of
// the picture with elements of two threads, is an error.
func (t *Touches) Tile(rowLength int) (*TilePicture, error) {
	if !t.Stores {
		return nil, fmt.Errorf("ops: %s: tile of %s: %w: it is an input, expected an output", t.Rung, t.Tensor, gpu.ErrArgument)
	}
	owner := map[[2]int]int{}
	rows, columns := 0, 0
	for _, x := range t.Of {
		if x.Block != 0 {
			continue
		}
		at := [2]int{x.Element / rowLength, x.Element % rowLength}
		if before, stored := owner[at]; stored && before != x.Thread {
			return nil, fmt.Errorf("ops: %s: tile of %s: element %v is stored by threads %d and %d, expected one", t.Rung, t.Tensor, at, before, x.Thread)
		}
		owner[at] = x.Thread
		rows, columns = max(rows, at[0]+1), max(columns, at[1]+1)
	}
	if len(owner) == 0 || len(owner) != rows*columns {
		return nil, fmt.Errorf("ops: %s: tile of %s: %w: the first block stores %d elements, expected a rectangle", t.Rung, t.Tensor, gpu.ErrUnsupported, len(owner))
	}
	p := &TilePicture{touches: t, rows: rows, columns: columns,
		rowsACell: (rows + tileCells - 1) / tileCells, columnsACell: (columns + tileCells - 1) / tileCells}
	for row := range rows {
		for column := range columns {
			i, j, thread := row/p.rowsACell, column/p.columnsACell, owner[[2]int{row, column}]
			if i == len(p.owner) {
				p.owner = append(p.owner, nil)
			}
			if j == len(p.owner[i]) {
				p.owner[i] = append(p.owner[i], thread)
			}
			if p.owner[i][j] != thread {
				return nil, fmt.Errorf("ops: %s: tile of %s: %w: threads %d and %d share a cell of %d x %d elements", t.Rung, t.Tensor, gpu.ErrUnsupported, p.owner[i][j], thread, p.rowsACell, p.columnsACell)
			}
		}
	}
	return p, nil
}

// Title names the rung and the tile.
func (p *TilePicture) Title() string {
	return fmt.Sprintf("%s: whose elements of %s, in the tile of %d x %d of block 0", p.touches.Rung, p.touches.Tensor, p.rows, p.columns)
}

// Axes name the columns and rows of the picture.
func (p *TilePicture) Axes() (columns, rows string) {
	return "column of " + p.touches.Tensor, "row of " + p.touches.Tensor
}

// Legend names the colours. Other warps have none.
func (p *TilePicture) Legend() []string { return []string{"thread 0", "other lanes of warp 0"} }

// Notes say how to read the picture, and where it is from.
func (p *TilePicture) Notes() []string {
	warps, threads := map[int]bool{}, map[int]bool{}
	for _, row := range p.owner {
		for _, t := range row {
			warps[t/32], threads[t] = true, true
		}
	}
	cell := "a cell: one element"
	if p.rowsACell*p.columnsACell > 1 {
		cell = fmt.Sprintf("a cell: %d x %d elements", p.rowsACell, p.columnsACell)
	}
	return []string{
		fmt.Sprintf("%s; a number: the thread, of warp 0, or else w and the warp, at its first cell; %d threads in %d warps", cell, len(threads), len(warps)),
		"drawn from the stores of the rung's PTX on the " + p.touches.Device,
	}
}

// Cells are the picture.
func (p *TilePicture) Cells() (columns, rows []string, text [][]string, level [][]int) {
	for j := range p.owner[0] {
		columns = append(columns, strconv.Itoa(j*p.columnsACell))
	}
	named := map[int]bool{} // warps
	for i, owners := range p.owner {
		rows = append(rows, strconv.Itoa(i*p.rowsACell))
		words, levels := make([]string, len(owners)), make([]int, len(owners))
		for j, thread := range owners {
			switch warp := thread / 32; {
			case thread == 0:
				words[j], levels[j] = "0", 1
			case warp == 0:
				words[j], levels[j] = strconv.Itoa(thread), 2
			case !named[warp]:
				words[j], named[warp] = "w"+strconv.Itoa(warp), true
			}
		}
		text, level = append(text, words), append(level, levels)
	}
	return columns, rows, text, level
}

// BorderPicture draws how often the first two blocks touch the elements on both sides of
// the border between them: what they load, and what they store.
type BorderPicture struct {
	loads, stores *Touches
	border        int // the first element that block 1 stores
	first         int // the first element that is drawn
}

// borderCells is how many elements are drawn.
const borderCells = 24

// Border is the picture of what the first two blocks load around the border between their
// outputs; t are the accesses to the input, stores those to the output.
func (t *Touches) Border(stores *Touches) (*BorderPicture, error) {
	border := math.MaxInt
	for _, x := range stores.Of {
		if stores.Stores && x.Block == 1 {
			border = min(border, x.Element)
		}
	}
	if border == math.MaxInt {
		return nil, fmt.Errorf("ops: %s: border in %s: %w: block 1 stores nothing, expected outputs of two blocks", stores.Rung, stores.Tensor, gpu.ErrUnsupported)
	}
	return &BorderPicture{loads: t, stores: stores, border: border, first: max(0, border-borderCells/2)}, nil
}

// Title names the rung and the place.
func (p *BorderPicture) Title() string {
	return fmt.Sprintf("%s: how often blocks 0 and 1 touch the elements around %d", p.loads.Rung, p.border)
}

// Axes name the columns and rows of the picture.
func (p *BorderPicture) Axes() (columns, rows string) { return "element", "access" }

// Legend names the colours.
func (p *BorderPicture) Legend() []string {
	return []string{"where the block has its outputs", "the halo: outputs of the other block"}
}

// Notes say how to read the picture, and where it is from.
func (p *BorderPicture) Notes() []string {
	return []string{"a number: accesses by all threads of the block; drawn from the loads and stores of the rung's PTX on the " + p.loads.Device}
}

// Cells are the picture.
func (p *BorderPicture) Cells() (columns, rows []string, text [][]string, level [][]int) {
	for i := range borderCells {
		columns = append(columns, strconv.Itoa(p.first+i))
	}
	for _, of := range []*Touches{p.loads, p.stores} {
		for block := range 2 {
			words, levels := make([]string, borderCells), make([]int, borderCells)
			for i := range borderCells {
				times := 0
				for _, x := range of.Of {
					if x.Block == block && x.Element == p.first+i {
						times++
					}
				}
				if times == 0 {
					continue
				}
				words[i], levels[i] = strconv.Itoa(times), 1
				if own := p.first+i < p.border; own != (block == 0) {
					levels[i] = 2
				}
			}
			row := fmt.Sprintf("block %d loads %s", block, of.Tensor)
			if of.Stores {
				row = fmt.Sprintf("block %d stores %s", block, of.Tensor)
			}
			rows = append(rows, row)
			text, level = append(text, words), append(level, levels)
		}
	}
	return columns, rows, text, level
}

// Elements are the elements that a block touches, in order, each once.
func (t *Touches) Elements(block int) (all []int) {
	for _, x := range t.Of {
		if x.Block == block {
			all = append(all, x.Element)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
