package display

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/leaf/record"
)

func TestTableText(t *testing.T) {
	table := NewTable("variant", "技巧", "n", "us", "verdict").SetTitle("Reduce").
		Row("v0", "交错寻址", 25_600_000, 279.04, "PASS").
		Row("v1_strided", "strided index", 513, math.NaN(), "FAIL").
		Row("v2").
		Note("seed 7")
	want := `Reduce

variant     技巧                    n     us  verdict
──────────  ─────────────  ──────────  ─────  ───────
v0          交错寻址       25 600 000  279.0  PASS
v1_strided  strided index         513    NaN  FAIL
v2

seed 7`
	if got := table.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A long cell wraps without loss and keeps the columns aligned.
func TestTableWrapsLongCells(t *testing.T) {
	long := strings.Repeat("word ", 40) + strings.Repeat("字", 100)
	got := NewTable("a", "b").Row(long, "end").Row("x\ny", "z").String()
	for _, line := range strings.Split(got, "\n") {
		if w := textWidth(line); w > maxCellWidth+len(gap)+3 {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	words := strings.Count(got, "word") + strings.Count(got, "字")
	if words != 140 {
		t.Errorf("%d words of 140 in\n%s", words, got)
	}
	lines := strings.Split(got, "\n")
	last := lines[len(lines)-2]
	if strings.Index(last, "z") != strings.Index(lines[2], "end") {
		t.Errorf("column b is not aligned:\n%s", got)
	}
}

func TestTableWithManyRows(t *testing.T) {
	table := NewTable("i")
	for i := range 100_000 {
		table.Row(i)
	}
	got := table.String()
	if n := strings.Count(got, "\n"); n > maxRows+3 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"… 99600 more rows", "99 999"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if len(table.rows) != 100_000 {
		t.Errorf("showing a table left it %d rows", len(table.rows))
	}
}

func TestEmptyTables(t *testing.T) {
	for _, table := range []*Table{NewTable(), NewTable("a", "b"), NewTable().Row("x"), NewTable("a").Row()} {
		textOf(t, table)
	}
	if got := NewTable().Row("x", 1).String(); !strings.HasSuffix(got, "x  1") {
		t.Errorf("a row without columns: %q", got)
	}
}

func TestHTMLTable(t *testing.T) {
	data, _ := Of(NewTable("<op>", "us").SetTitle("a & b").
		Row("<script>alert(1)</script>", "1.5").
		Row("FAIL (expected)", "2\n3").
		Note("<note>"))
	got := data[textHTML].(string)
	for _, want := range []string{
		"&lt;script&gt;", "&lt;op&gt;", "a &amp; b", "&lt;note&gt;",
		`<strong style="color: #2a8a44">FAIL (expected)</strong>`, "2<br>3",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "<script") || strings.Contains(got, "class=") {
		t.Errorf("scripts or classes in\n%s", got)
	}
	words := stripTags(got)
	if want := "a & b\n<op> us\n<script>alert(1)</script> 1.5\nFAIL (expected) 2\n3\n<note>"; words != want {
		t.Errorf("without tags:\n%s\nwant\n%s", words, want)
	}
}

func TestNumericColumns(t *testing.T) {
	for _, c := range []struct {
		cells string
		want  bool
	}{
		{"1|2.5|-3", true}, {"1 us|20 ms|–", true}, {"1.5×|95 %|", true}, {"NaN|+Inf|1e-7", true},
		{"1 024|16,777,216", true}, {"≤ 3|~4", true}, {"751 995 (0.49x)|98.9 % (1.04x)|0 (same)|24 660", true},
		{"5 (of which two are in another table)", false}, {"(0.5x)", false},
		{"–||-", false}, {"1|x", false}, {"32 x 32|8", false}, {"2026-11-20", false}, {"v0", false}, {"1 or more things", false},
	} {
		g := grid{columns: []string{"c"}}
		for _, cell := range strings.Split(c.cells, "|") {
			g.rows = append(g.rows, []string{cell})
		}
		if got := g.numeric()[0]; got != c.want {
			t.Errorf("%q numeric: %v", c.cells, got)
		}
	}
}

// Numbers with and without a remark in brackets stand below each other.
func TestRemarksBehindNumbers(t *testing.T) {
	g := grid{columns: []string{"counter", "rung"}, rows: [][]string{{"result", "PASS"}, {"requests", "751 995 (0.49x)"}, {"syncs", "24 660"}, {"shuffles", "0 (same)"}}}
	want := "counter              rung\n────────  ───────────────\nresult       PASS\nrequests  751 995 (0.49x)\nsyncs      24 660\nshuffles        0 (same)"
	if got := g.text(); got != want {
		t.Errorf("text:\n%s\nwant\n%s", got, want)
	}
	for _, want := range []string{">751\u00a0995\u00a0(0.49x)<", ">24\u00a0660" + strings.Repeat(remarkLetter, 8) + "<", ">0\u00a0(same)" + remarkLetter + "<"} {
		if !strings.Contains(g.html(), want) {
			t.Errorf("no %q in\n%s", want, g.html())
		}
	}
}

func TestFormatNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {279.0412, "279.0"}, {48, "48"}, {48.04, "48.04"}, {0.5, "0.5000"}, {1234.5, "1234"}, {16777216, "16 777 216"},
		{-929000, "-929 000"}, {0.00012346, "0.0001235"}, {1e-9, "1.000e-09"}, {3e20, "3.000e+20"},
		{999.96, "1000.0"}, {math.Inf(1), "+Inf"}, {math.NaN(), "NaN"},
	} {
		if got := formatNumber(c.v); got != c.want {
			t.Errorf("formatNumber(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, ""}, {"s", "s"}, {float32(0.25), "0.2500"}, {7, "7"}, {uint64(math.MaxUint64), "18 446 744 073 709 551 615"}, {-12345, "-12 345"}, {true, "true"},
		{1500 * time.Microsecond, "1.5ms"}, {errors.New("e"), "e"}, {loud{}, "display: display.loud: panic: no words"},
	} {
		if got := cellText(c.v); got != c.want {
			t.Errorf("cell of %v: %q, want %q", fmt.Sprintf("%T", c.v), got, c.want)
		}
	}
}

func TestNumbersDoNotBreak(t *testing.T) {
	data, _ := Of(NewTable("name", "count").Row("two words", "1 048 576").Row("other", "3.1 %"))
	html := data["text/html"].(string)
	for _, want := range []string{">two words<", ">1\u00a0048\u00a0576<", ">3.1\u00a0%<"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in\n%s", want, html)
		}
	}
}

// A table that is wider than a page goes on below, with the names of its rows,
// and every cell stands in it once.
func TestWideTables(t *testing.T) {
	table := NewTable("variant", "launches").SetTitle("wide").Note("last")
	for i := range 9 {
		table.columns = append(table.columns, fmt.Sprintf("warp instructions%d", i))
	}
	for _, name := range []string{"reduce_cooperating_groups", "serial_reduce"} {
		row := []any{name, 3}
		for i := range 9 {
			row = append(row, 1_000_000+i)
		}
		table.Row(row...)
	}
	text, html := table.String(), gridOf(table).html()
	for _, line := range strings.Split(text, "\n") {
		if textWidth(line) > pageWidth {
			t.Errorf("%d letters: %s", textWidth(line), line)
		}
	}
	for i := range 9 {
		figure := fmt.Sprint(1_000_000 + i)
		figure = figure[:1] + " " + figure[1:4] + " " + figure[4:]
		if n := strings.Count(text, figure); n != 2 {
			t.Errorf("the text has %s %d times", figure, n)
		}
		if n := strings.Count(html, strings.ReplaceAll(figure, " ", "\u00a0")); n != 2 {
			t.Errorf("the HTML has %s %d times", figure, n)
		}
	}
	for what, n := range map[string]int{"<table>": strings.Count(html, "<table>"), "names in HTML": strings.Count(html, ">serial_reduce<"),
		"names in text": strings.Count(text, "serial_reduce")} {
		if n != 2 {
			t.Errorf("%d %s, want 2", n, what)
		}
	}
	for what, s := range map[string]string{"text": text, "HTML": html} {
		if strings.Count(s, "wide") != 1 || strings.Count(s, "last") != 1 || strings.Index(s, "last") < strings.LastIndex(s, "serial_reduce") {
			t.Errorf("title or note of the %s:\n%s", what, s)
		}
	}
}

// Both columns of text that name a row stand in each part.
func TestWideTableOfTwoNames(t *testing.T) {
	g := grid{columns: []string{"line", "source"}, rows: [][]string{{"35", "__syncthreads();"}, {"36"}}}
	for i := range 12 {
		g.columns = append(g.columns, fmt.Sprintf("wavefronts%d", i))
		g.rows[0] = append(g.rows[0], "1")
	}
	if html := g.html(); strings.Count(html, "<table>") != 2 || strings.Count(html, "__syncthreads();") != 2 {
		t.Error(html)
	}
	g.whole = true
	if html := g.html(); strings.Count(html, "<table>") != 1 {
		t.Error(html)
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		widths  []int
		room, n int
		want    string
	}{
		{[]int{10, 10, 10, 10}, 20, 2, "[2 4]"}, {[]int{10, 10, 10}, 20, 2, "[2 3]"}, {[]int{10, 10, 10}, 15, 2, "[]"},
		{[]int{50, 1, 1}, 20, 2, "[1 3]"}, {[]int{1, 1, 50}, 20, 2, "[2 3]"}, {[]int{1, 99}, 100, 3, "[1 2]"},
	} {
		if got := fmt.Sprint(shares(c.widths, c.room, c.n)); got != c.want {
			t.Errorf("%v in %d of %d: ends %s, want %s", c.widths, c.n, c.room, got, c.want)
		}
	}
}

// A number is never broken; a path in prose may be, a name alone may not.
func TestBreaks(t *testing.T) {
	html := gridOf(NewTable("name", "error", "why").Row("reduce_cooperating_groups", "5.7e-07", "race at reduce_mistakes.sm_75.ptx:123")).html()
	for _, want := range []string{`white-space: nowrap">5.7e-07<`, ">reduce_cooperating_groups<", "race at reduce_<wbr>mistakes.<wbr>sm_<wbr>75.<wbr>ptx:<wbr>123"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
}

// Headings of several lines stand on the rule; a tab takes four columns.
func TestHeadings(t *testing.T) {
	got := NewTable("a\tb", "two\nlines").Row(1, 2).String()
	want := `          two
a    b  lines
──────  ─────
     1      2`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Text that takes a few lines does not make a table wide, one that takes many does.
func TestLongText(t *testing.T) {
	for text, tables := range map[string]int{"bound, tolerance, input changed, unwritten": 1, strings.Repeat("thread (16,0,0) wrote it ", 9): 2} {
		table := NewTable("variant", "n", "result", "reference", "error", "bound", "verdict", "failed checks").
			Row("mistake_bounds_ten_elements", 2_097_152, "1048097.75", "1048097.52", "2.2e-07", "0.00024", "FAIL (expected)", text)
		if html := gridOf(table).html(); strings.Count(html, "<table>") != tables {
			t.Errorf("%s\nis not in %d tables", html, tables)
		}
	}
}

// The record of a table has its cells, and no correctness row.
func TestTableRecord(t *testing.T) {
	data, _ := Of(NewTable("order", "us").SetTitle("Streams").Row("one stream", 12.5).Row("two streams").Note("seed 7"))
	want := `{"columns":["order","us"],"kind":"table","notes":["seed 7"],"omitted":0,"rows":[{"name":"one stream","cells":["one stream","12.50"]},{"name":"two streams","cells":["two streams"]}],"schema":1,"title":"Streams"}`
	if got := fmt.Sprintf("%s", data[record.MIME]); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}
