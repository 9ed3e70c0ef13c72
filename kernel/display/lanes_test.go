package display

import (
	"slices"
	"testing"
)

// TestMasks: bit i of a word is the cell of lane i, and the ones are coloured.
func TestMasks(t *testing.T) {
	c := Masks("masks", []string{"bits 0 and 31", "none"}, []uint32{1<<31 | 1, 0}, "a note")
	for lane := range 32 {
		want, level := "0", 0
		if lane == 0 || lane == 31 {
			want, level = "1", 1
		}
		if c.Text[0][lane] != want || c.Level[0][lane] != level || c.Text[1][lane] != "0" {
			t.Errorf("lane %d: %q at level %d, and %q, expected %q at level %d, and 0", lane, c.Text[0][lane], c.Level[0][lane], c.Text[1][lane], want, level)
		}
	}
	if _, err := c.Figure(); err != nil {
		t.Error(err)
	}
}

// TestLanesOfNumbers: a row with a number above 1 has no colour, and numbers show two digits.
func TestLanesOfNumbers(t *testing.T) {
	row := make([]uint32, 32)
	row[0], row[5] = 1, 1234
	c := Lanes("numbers", []string{"x"}, [][]uint32{row})
	if c.Text[0][5] != "34" || slices.Max(c.Level[0]) != 0 {
		t.Errorf("lane 5 shows %q, and the largest level is %d, expected 34 and 0", c.Text[0][5], slices.Max(c.Level[0]))
	}
}
