package results

import (
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

func TestSpeedRatio(t *testing.T) {
	for r, want := range map[float64]string{
		1: "1.00x", 1.53: "1.53x", 1.004: "1.004x", 0.9996: "0.9996x", 0.117: "0.12x",
		4.73e-5: "1/21 142", 0.0016: "1/625", 23.56: "23.56x", 1234567: "1 234 567x", 0: "-",
	} {
		if got := speedRatio(r); got != want {
			t.Errorf("%v: %q, expected %q", r, got, want)
		}
	}
	for _, c := range []struct {
		now, before float64
		want        string
	}{{5, 5, "same"}, {0, 0, "same"}, {5, 0, "-"}, {0, 5, "none"}, {3, 10, "0.30x"}, {1, 1000, "1/1000"}} {
		if got := countRatio(c.now, c.before); got != c.want {
			t.Errorf("%v / %v: %q, expected %q", c.now, c.before, got, c.want)
		}
	}
}

// Of three rungs each is compared with the one to its left.
func TestSideBySide(t *testing.T) {
	row := func(name string, barriers, shuffles uint64) Count {
		return Count{Name: name, Verdict: ladder.Pass, Total: gpu.Counters{Barriers: barriers, Shuffles: shuffles}}
	}
	s := &SideBySide{Counts: &Counts{Subject: subjectOf(ladder.Work{}, 1), Rows: []Count{row("a", 8, 0), row("b", 4, 7), row("c", 4, 0)}}}
	_, rows := s.Table()
	want := [][]string{{"result", "PASS", "PASS", "PASS"}, {"barriers", "8", "4 (0.50x)", "4 (same)"}, {"shuffles", "0", "7", "0 (none)"}}
	for i, row := range want {
		for j, cell := range row {
			if rows[i][j] != cell {
				t.Errorf("row %d: %q, expected %q", i, rows[i], row)
				break
			}
		}
	}
	s.Counts.Rows = s.Counts.Rows[:2]
	columns, rows := s.Table()
	if columns[3] != "ratio" || rows[1][3] != "0.50x" || rows[2][3] != "-" {
		t.Errorf("%q %q, expected a column with the ratio", columns, rows)
	}
}
