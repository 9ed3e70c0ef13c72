package display

import (
	"slices"
	"strings"
	"testing"
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
