package results

import (
	"slices"
	"strings"
	"testing"
	"time"
	"warpbook/ops/ladder"
	"warpbook/ops/peers"
)

// subjectOf is a size of an operator that does some work, on a GPU.
func subjectOf(work ladder.Work, size ...int) Subject {
	return Subject{Operator: &ladder.Operator{Name: "op", Dims: []string{"n"}, Work: func(ladder.Size) ladder.Work { return work }}, Size: size}
}

// TestPublishedTwice: the notes print the time of the shuffles at two places.
func TestPublishedTwice(t *testing.T) {
	shuffles := ladder.Published("000 reduce_warp_level", "latency")
	if values, _ := figures(shuffles); len(shuffles) != 2 || values != "1.254 ms" {
		t.Errorf("%d figures shown as %q, expected 2 as 1.254 ms", len(shuffles), values)
	}
	if values, _ := figures(ladder.Published("000 reduce_v4", "latency")); values != "1.147 ms or 0.694 ms" {
		t.Errorf("v4 is shown as %q, expected both figures", values)
	}
}

// Where figures were published stands below the table: most at one place.
func TestPublishedAt(t *testing.T) {
	far, near := ladder.Figure{Size: ladder.Size{100_000_000}, Device: "CPU"}, ladder.Figure{Size: ladder.Size{25_600_000}}
	l := Latencies{Subject: subjectOf(ladder.Work{}, 50_000_000), Rows: []Latency{{Name: "cpu", Published: []ladder.Figure{far}}, {Name: "a", Published: []ladder.Figure{near}},
		{Name: "b", Published: []ladder.Figure{near, near}}, {Name: "none"}}}
	const want = "contradictory where the notes are; for 25 600 000, GPU unknown; cpu: for 100 000 000, CPU"
	if notes := l.Notes(); !strings.HasSuffix(notes[0], want) {
		t.Errorf("%q, want %q", notes[0], want)
	}
}

// A published figure stands beside a time only if its size is near, and words only if
// they are of a size.
func TestComparableFigures(t *testing.T) {
	time := ladder.Figure{Value: 3.835, Unit: "ms", Size: ladder.Size{25_600_000}}
	unsized := ladder.Figure{Value: 2, Unit: "ms"}
	words := ladder.Figure{Comment: "in words: slower"}
	for _, c := range []struct {
		n      int
		figure ladder.Figure
		shown  bool
	}{
		{25_600_000, time, true}, {6_400_000, time, true}, {102_400_000, time, true}, {6_399_999, time, false}, {102_400_001, time, false},
		{1 << 20, time, false}, {0, time, false}, {1 << 20, unsized, true}, {1 << 20, words, false},
		{1 << 20, ladder.Figure{Comment: "only as an image", Size: ladder.Size{1 << 20}}, true},
	} {
		l := &Latencies{Subject: subjectOf(ladder.Work{}, c.n), Rows: []Latency{{Name: "a", Verdict: ladder.Pass, Published: []ladder.Figure{c.figure}}}}
		columns, _ := l.Table()
		if shown := slices.Contains(columns, "published"); shown != c.shown {
			t.Errorf("n = %d, %v: shown %v, expected %v", c.n, c.figure, shown, c.shown)
		}
		if noted := strings.Contains(strings.Join(l.Notes(), "|"), "published"); noted != c.shown {
			t.Errorf("n = %d, %v: noted %v, expected %v", c.n, c.figure, noted, c.shown)
		}
	}
}

// Both tables beside peers say that these were timed once, and none without peers does.
func TestOneTurnNote(t *testing.T) {
	l := &Latencies{Subject: subjectOf(ladder.Work{}, 1), Rows: []Latency{{Name: "a", Verdict: ladder.Pass}}}
	noted := func(notes []string) bool { return strings.Contains(strings.Join(notes, "|"), "one repetition: ") }
	if noted(l.Notes()) || noted(l.Beside(&Peers{}).Notes()) || noted(l.Short().Notes()) {
		t.Error("a table without peers has a note on them")
	}
	if l.Beside(&Peers{Figures: []peers.Figure{{Name: "torch"}}}); !noted(l.Notes()) || !noted(l.Short().Notes()) {
		t.Errorf("%q and %q, expected a note on one repetition", l.Notes(), l.Short().Notes())
	}
}

// TestColumnsOfLatencies: published figures and first launches have a column and a note
// where a row has any.
func TestColumnsOfLatencies(t *testing.T) {
	pass := Latency{Name: "a", Verdict: ladder.Pass, Launches: 1}
	published, twice := pass, pass
	published.Published, twice.Launches = []ladder.Figure{{Size: ladder.Size{1}}}, 2
	for _, c := range []struct {
		row        Latency
		has, lacks string
	}{{pass, "low", "published"}, {pass, "low", "first launch"}, {published, "published", "first launch"}, {twice, "first launch", "published"}} {
		l := &Latencies{Subject: subjectOf(ladder.Work{}, 1), Rows: []Latency{c.row}}
		columns, rows := l.Table()
		text := strings.Join(columns, "|") + strings.Join(l.Notes(), "|")
		if !strings.Contains(text, c.has) || strings.Contains(text, c.lacks) || len(rows[0]) != len(columns) {
			t.Errorf("%d launches, %d published figures: %q, expected %q and no %q", c.row.Launches, len(c.row.Published), text, c.has, c.lacks)
		}
	}
}

// Peers stand below the rungs, with the speed of each rung beside theirs.
func TestPeerRows(t *testing.T) {
	l := &Latencies{Subject: subjectOf(ladder.Work{Bytes: 80e3}, 1), Rows: []Latency{
		{Name: "fast", Verdict: ladder.Pass, Launches: 1, Total: Sample{Median: 20 * time.Microsecond, Low: 19 * time.Microsecond, High: 21 * time.Microsecond, Repeats: 5}},
		{Name: "wrong", Verdict: ladder.Fail},
	}}
	p := &Peers{}
	for name, ns := range map[string]float64{"cub": 30_000, "limit_read": 19_000, "limit_copy": 50_000, "broken": 0} {
		f := peers.Figure{Name: name, Verdict: ladder.Pass, MedianNS: ns, LowNS: ns - 1, HighNS: ns + 1}
		if ns == 0 {
			f.Verdict = ladder.Fail
		}
		p.Figures = append(p.Figures, f)
	}
	columns, rows := l.Beside(p).Short().Table()
	if len(rows) != 5 { // two rungs, cub, limit_read, broken
		t.Fatalf("%d rows, expected 5: %q", len(rows), rows)
	}
	for _, c := range []struct{ column, want string }{{"speed of cub", "1.50x FASTER"}, {"of the limit", "95.0 %"}, {"GB/s", "4.000"}} {
		i := slices.Index(columns, c.column)
		if i < 0 || rows[0][i] != c.want || rows[1][i] != "-" {
			t.Errorf("column %q of %q: %q, expected %s", c.column, columns, rows[:2], c.want)
		}
	}
	if slices.Index(columns, "speed of limit_copy") >= 0 || slices.Index(columns, "speed of broken") >= 0 {
		t.Errorf("columns %q", columns)
	}
	if names := l.Names(); len(names) != 3 || len(l.PublishedTimes()) != 3 {
		t.Errorf("%q have times, expected fast, cub and limit_read", names)
	}
	if peers := l.Peers(); !slices.Equal(peers, l.Names()[1:]) {
		t.Errorf("peers %q, expected all of %q but the first", peers, l.Names())
	}
}

// All timings of a peer come into the record.
func TestSamplesOfAPeer(t *testing.T) {
	s := sampleOf(peers.Figure{MedianNS: 2, Repeats: 3, SamplesNS: []float64{3, 1, 2}})
	if want := []time.Duration{3, 1, 2}; !slices.Equal(s.Times, want) || s.Median != 2 {
		t.Errorf("%+v, expected the times %v", s, want)
	}
}
