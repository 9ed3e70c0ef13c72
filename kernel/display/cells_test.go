package display

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// banks is a picture as other packages have it: by its methods alone.
type banks struct{}

func (banks) Cells() (columns, rows []string, text [][]string, level [][]int) {
	return []string{"0", "1", "2"}, []string{"a", "b"}, [][]string{{"1", "", "2"}, {"", "3", ""}}, [][]int{{1, 0, 2}, {0, 3, 0}}
}
func (banks) Axes() (columns, rows string) { return "lane", "bank" }
func (banks) Title() string                { return "two banks" }
func (banks) Notes() []string              { return []string{"a note"} }
func (banks) Legend() []string             { return []string{"first", "second", "third"} }

func TestCellChart(t *testing.T) {
	data, _ := Of(banks{})
	want := `two banks
columns: lane; rows: bank

   0  1  2
─  ─  ─  ─
a  1     2
b     3

a note`
	if got := data[textPlain]; got != want {
		t.Errorf("text:\n%s", got)
	}
	texts := svgTexts(t, data)
	for _, want := range []string{"two banks", "lane", "a", "b", "1", "3", "first", "third", "a note"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no %q in the picture: %q", want, texts)
		}
	}
	if data[imagePNG] == nil {
		t.Error("no PNG")
	}
}

// A colour that no cell has is not in the legend.
func TestCellChartLegend(t *testing.T) {
	texts := svgTexts(t, first(Of(CellChart{Columns: []string{"0"}, Rows: []string{"a"}, Text: [][]string{{"5"}}, Level: [][]int{{2}}, Legend: []string{"unused", "used"}})))
	if !slices.Contains(texts, "used") || slices.Contains(texts, "unused") {
		t.Errorf("legend of %q, expected used alone", texts)
	}
}

// The letters of a cell are 12 pixels large where they fit, and never smaller than 9: the
// figure gets wider, or the cells have their colour alone.
func TestCellLetters(t *testing.T) {
	for _, test := range []struct {
		columns        int
		text           string
		width, letters int // 0: no text
	}{{3, "31", plotWidth, 12}, {32, "31", plotWidth, 12}, {80, "w", wideCells, 10}, {80, "31", wideCells, 0}} {
		c := CellChart{YAxis: "thread"}
		for range 16 {
			c.Rows, c.Text, c.Level = append(c.Rows, "block 0 thread 15"), append(c.Text, make([]string, test.columns)), append(c.Level, make([]int, test.columns))
		}
		for i := range test.columns {
			c.Columns = append(c.Columns, fmt.Sprintf("x%d", i))
		}
		c.Text[5][2] = test.text
		data, metadata := Of(c)
		size := metadata[imageSVG].(map[string]any)
		if size["width"] != test.width {
			t.Errorf("%d columns: %v pixels wide, expected %d", test.columns, size["width"], test.width)
		}
		letters := 0
		for _, m := range svgText.FindAllStringSubmatch(data[imageSVG].(string), -1) {
			if m[4] == test.text {
				size, err := strconv.ParseFloat(m[3], 64)
				if err != nil {
					t.Fatal(err)
				}
				letters = int(math.Round(size * 96 / 72)) // points
			}
		}
		if letters != test.letters {
			t.Errorf("%d columns: letters of %d pixels, expected %d", test.columns, letters, test.letters)
		}
	}
}

// Columns are named at the start of each group and at equal distances, and no two names touch.
func TestColumnNames(t *testing.T) {
	group := func(name string, n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("%s%d", name, i))
		}
		return names
	}
	join := func(groups ...[]string) (names []string) {
		for i, g := range groups {
			if i > 0 {
				names = append(names, "")
			}
			names = append(names, g...)
		}
		return names
	}
	for _, test := range []struct {
		names  []string
		column vg.Length
		want   string
	}{
		{group("x", 4), 60 * px, "x0 x1 x2 x3"},
		{group("", 6), 24 * px, "0 1 2 3 4 5"},
		{group("", 32), 18 * px, "0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30"},
		{group("", 32), 9 * px, "0 4 8 12 16 20 24 28"},
		{join(group("out", 32), group("x", 32), group("s", 16)), 8 * px, "out0 out8 out16 out24 x0 x8 x16 x24 s0 s8"},
		{join(group("out", 9), group("x", 9)), 8 * px, "out0 out4 x0 x4 x8"},
		{nil, px, ""},
	} {
		var got []string
		for _, tick := range sparseTicks(test.names, test.column) {
			got = append(got, tick.Label)
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%d columns of %v: %q, expected %q", len(test.names), test.column, text, test.want)
		}
	}
}

func first(data, _ map[string]any) map[string]any { return data }

func TestCellChartRefuses(t *testing.T) {
	for _, c := range []CellChart{
		{},
		{Columns: []string{"0"}, Rows: []string{"a"}, Text: [][]string{{"1"}}},
		{Columns: []string{"0"}, Rows: []string{"a"}, Text: [][]string{{"1", "2"}}, Level: [][]int{{1}}},
	} {
		if _, err := c.Figure(); err == nil || !strings.HasPrefix(err.Error(), "display: cell chart: ") {
			t.Errorf("%+v: %v, expected an error", c, err)
		}
	}
	c := CellChart{Columns: []string{"0"}, Rows: []string{"a"}, Text: [][]string{{"1"}}, Level: [][]int{{-7}}}
	if _, err := c.Figure(); err != nil {
		t.Errorf("%v, expected a cell of no level", err)
	}
}

// pictured is a table that has pictures.
type pictured struct{}

func (pictured) Table() (columns []string, rows [][]string) { return []string{"c"}, [][]string{{"v"}} }
func (r pictured) Parts() []any                             { return []any{r, banks{}} }

func TestParts(t *testing.T) {
	if got := Parts([]any{1, pictured{}, "x", (*partless)(nil)}); len(got) != 5 || got[1] != any(pictured{}) || got[2] != any(banks{}) || got[3] != "x" {
		t.Errorf("%v, expected the report's parts in its place", got)
	}
}

type partless struct{}

func (p *partless) Parts() []any { return []any{*p} }
