package cellproto

import "testing"

func TestCellName(t *testing.T) {
	for number, want := range map[int]string{0: "cell 0", 3: "cell 3", CellNumber(0, 3): "cell 3", CellNumber(2, 3): "subshell 2, cell 3"} {
		if got := CellName(number); got != want {
			t.Errorf("%d is %s, want %s", number, got, want)
		}
	}
	for number, want := range map[int]string{0: "0", 3: "3", CellNumber(2, 3): "2-3"} {
		if got := CellMark(number); got != want {
			t.Errorf("%d marks with %s, want %s", number, got, want)
		}
	}
	if n := CellNumber(2, 3); CellShell(n) != 2 || CellCount(n) != 3 {
		t.Errorf("cell 3 of shell 2 is cell %d of shell %d", CellCount(n), CellShell(n))
	}
}
