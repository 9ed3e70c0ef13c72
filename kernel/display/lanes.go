package display

import "fmt"

// Lanes draws numbers of the 32 lanes of a warp: a row for each name, lane 0 on the left.
// Of each number the last two digits are shown. Rows of 0 and 1 are coloured at the ones.
func Lanes(title string, names []string, rows [][]uint32, notes ...string) CellChart {
	c := CellChart{Title: title, XAxis: "lane", YAxis: "result", Rows: names, Notes: notes, Legend: []string{"1"}}
	for lane := range 32 {
		c.Columns = append(c.Columns, fmt.Sprint(lane))
	}
	for _, row := range rows {
		text, level, flags := make([]string, len(row)), make([]int, len(row)), true
		for lane, v := range row {
			text[lane] = fmt.Sprint(v % 100)
			flags = flags && v <= 1
		}
		for lane, v := range row {
			if flags {
				level[lane] = int(v)
			}
		}
		c.Text, c.Level = append(c.Text, text), append(c.Level, level)
	}
	return c
}

// Masks draws words bit by bit, a row for each name: bit i stands below lane i.
func Masks(title string, names []string, words []uint32, notes ...string) CellChart {
	var rows [][]uint32
	for _, w := range words {
		row := make([]uint32, 32)
		for lane := range row {
			row[lane] = w >> lane & 1
		}
		rows = append(rows, row)
	}
	return Lanes(title, names, rows, notes...)
}
