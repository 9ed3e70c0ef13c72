package explain

import (
	"fmt"
	"math/bits"
	"slices"
)

// Cells is the picture of the finding's request. Of shared memory: a row a
// bank, a column a lane, and in each cell the wavefront in which the bank
// serves the lane; one bank with several numbers is a conflict. Of global
// memory: a row a line of 128 bytes, a column a word of it, and in each cell
// the lane that asks for it; words that no lane asks for are moved with their
// sector of 32 bytes. Of a branch: a row a pattern, a column a lane. Level 0 is an empty cell, others are in Legend.
func (f *Finding) Cells() (columns, rows []string, text [][]string, level [][]int) {
	switch {
	case f.Kind == Divergence:
		return f.branchCells()
	case f.Request.Shared:
		return f.bankCells()
	}
	return f.sectorCells()
}

// Axes name the columns and the rows.
func (f *Finding) Axes() (columns, rows string) {
	switch {
	case f.Kind == Divergence:
		return "lane", "pattern"
	case f.Request.Shared:
		return "lane", "bank"
	}
	return "32-bit word of the line; a sector is 8 words", "line of 128 bytes"
}

// mostLevels is how many wavefronts have a colour of their own.
const mostLevels = 6

// Legend names the levels from 1 on.
func (f *Finding) Legend() []string {
	if f.Kind == Divergence {
		return []string{"goes on", "jumps"}
	}
	if !f.Request.Shared {
		return []string{"asked for, by this lane", "moved with its sector, not asked for"}
	}
	n, _ := f.Request.Wavefronts()
	var names []string
	for i := 1; i <= min(n, mostLevels); i++ {
		names = append(names, fmt.Sprintf("wavefront %d", i))
	}
	if n > mostLevels {
		names[mostLevels-1] = fmt.Sprintf("wavefronts %d to %d", mostLevels, n)
	}
	return names
}

func blank(rows, columns int) (text [][]string, level [][]int) {
	for range rows {
		text, level = append(text, make([]string, columns)), append(level, make([]int, columns))
	}
	return text, level
}

func numbers(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(i))
	}
	return names
}

func (f *Finding) bankCells() (columns, rows []string, text [][]string, level [][]int) {
	p := &f.Request.Pattern
	text, level = blank(32, 32)
	before := 0 // wavefronts of the groups before
	for _, group := range p.Groups() {
		most := 0
		for bank, words := range wordsOf(p, group) {
			for i, w := range words {
				for m := w.lanes; m != 0; m &= m - 1 {
					lane := bits.TrailingZeros32(m)
					text[bank][lane] = fmt.Sprint(before + i + 1)
					level[bank][lane] = min(before+i+1, mostLevels)
				}
			}
			most = max(most, len(words))
		}
		before += most
	}
	return numbers(32), numbers(32), text, level
}

func (f *Finding) sectorCells() (columns, rows []string, text [][]string, level [][]int) {
	p := &f.Request.Pattern
	var lines []uint64
	for _, a := range distinct(p) {
		if n := len(lines); n == 0 || lines[n-1] != a/128 {
			lines = append(lines, a/128)
		}
	}
	text, level = blank(len(lines), 32)
	for m := p.Mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		a := p.Address[lane]
		row, _ := slices.BinarySearch(lines, a/128)
		sector := a % 128 / 32 * 8
		for word := sector; word < sector+8; word++ {
			level[row][word] = max(level[row][word], 2)
		}
		for word := a % 128 / 4; word <= (a%128+uint64(p.Bytes)-1)/4; word++ {
			if text[row][word] == "" {
				text[row][word] = fmt.Sprint(lane)
			}
		}
	}
	for row := range text {
		for word := range text[row] {
			if text[row][word] != "" {
				level[row][word] = 1
			}
		}
	}
	for _, line := range lines {
		rows = append(rows, fmt.Sprintf("+%d", line*128))
	}
	return numbers(32), rows, text, level
}
