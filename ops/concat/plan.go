package concat

import (
	"math"
	"math/bits"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of concat.cuh and concat_bulk.cu.
const (
	tile   = 4096 // = tile
	piece  = 2048 // = piece
	pieces = 4    // = pieces
)

// copies launches an entry for each part that has elements.
func copies(entry string, s ladder.Size, _ gpu.Info) (p ladder.Plan) {
	offset := 0
	for i, w := range s[1:] {
		if n := s[0] * w; n > 0 {
			p.Steps = append(p.Steps, ladder.Step{
				Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(n, 256)}, Block: gpu.Dim{X: 256},
				Args: []any{part(i), "y", uint64(n), uint32(w), uint64(offset), uint64(width(s))},
			})
		}
		offset += w
	}
	return p
}

// indexMap launches a thread for each element of y.
func indexMap(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return launch(entry, s, ladder.CeilDiv(s[0]*width(s), 256), 256)
}

// tiles launches a block for each tile of y, with a table of the row and the column at
// which each begins.
func tiles(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	n, w := s[0]*width(s), width(s)
	if n == 0 {
		return ladder.Plan{}
	}
	starts := make([]uint64, 0, 2*ladder.CeilDiv(n, tile))
	for first := 0; first < n; first += tile {
		starts = append(starts, uint64(first/w), uint64(first%w))
	}
	p := launch(entry, s, len(starts)/2, 256, "starts")
	p.Tables = []ladder.Table{{Tensor: ladder.Tensor{Name: "starts", Len: len(starts), Type: gpu.Uint64}, Values: starts}}
	return p
}

// reciprocal launches a thread for each vector of y, in blocks of so many.
func reciprocal(threads int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		return inLaunches(entry, s, threads, math.MaxInt32)
	}
}

// inLaunches launches a thread for each vector of y, as often as no launch has more than
// so many elements. Each takes whole rows, a multiple of four where it can, so that y
// stays aligned. A row that is too long takes a launch for each part, which must fit.
func inLaunches(entry string, s ladder.Size, threads, most int) (p ladder.Plan) {
	if width(s) == 0 {
		return p
	}
	add := func(row, rows int, offset uint64, widths [2]int) {
		w := widths[0] + widths[1]
		if w == 0 {
			return
		}
		factor, shift := reciprocalOf(w)
		p.Steps = append(p.Steps, ladder.Step{
			// A vector more than the elements have: y may begin within one.
			Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(ladder.CeilDiv(rows*w, 4)+1, threads)}, Block: gpu.Dim{X: threads},
			Args: []any{"x0", "x1", "y", uint32(widths[0]), uint32(widths[1]), uint32(rows), factor, shift,
				uint64(row) * uint64(s[1]), uint64(row) * uint64(s[2]), uint64(row)*uint64(width(s)) + offset},
		})
	}
	each := most / width(s)
	if each >= 4 {
		each = each / 4 * 4
	}
	for row := 0; row < s[0]; row += max(each, 1) {
		if each == 0 {
			add(row, 1, 0, [2]int{s[1], 0})
			add(row, 1, uint64(s[1]), [2]int{0, s[2]})
		} else {
			add(row, min(each, s[0]-row), 0, [2]int{s[1], s[2]})
		}
	}
	return p
}

// reciprocalOf gives factor and shift, for w below 2^31, so that e / w is e * factor >> shift
// for every e below 2^31: factor is 2^shift / w and less than 1 more, which adds less than
// 2^31 / 2^shift to the quotient. That is at most 1/w, and no quotient reaches the next.
func reciprocalOf(w int) (factor, shift uint32) {
	log := bits.Len(uint(w - 1)) // 2^log is w or more
	return uint32(ladder.CeilDiv(1<<(31+log), w)), uint32(31 + log)
}

// bulk launches a block of one warp for each four pieces.
func bulk(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	all := s[0] * (ladder.CeilDiv(s[1], piece) + ladder.CeilDiv(s[2], piece))
	return launch(entry, s, ladder.CeilDiv(all, pieces), 32, uint64(all))
}

// launch runs an entry of two parts once.
func launch(entry string, s ladder.Size, blocks, threads int, more ...any) ladder.Plan {
	n := s[0] * width(s)
	if n == 0 {
		return ladder.Plan{}
	}
	return ladder.Plan{Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads},
		Args: append([]any{"x0", "x1", "y", uint64(n), uint32(s[1]), uint32(s[2])}, more...),
	}}}
}
