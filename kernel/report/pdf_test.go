package report

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/fallbackfont"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/report/paper"
)

// committed is the notebook of reduce as executed on an H200.
const committed = "../../notebooks/results/h200/01-reduce.ipynb"

// TestPDFOfCommittedNotebook: the PDF has every letter of the page, and each chart as
// vectors. Without a font for the notebook's Chinese words it is one error.
func TestPDFOfCommittedNotebook(t *testing.T) {
	nb, err := nbformat.Read(committed)
	if err != nil {
		t.Fatal(err)
	}
	charts := 0
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			if svg, ok := o.Data["image/svg+xml"].(string); ok {
				charts++
				if !paper.Drawable(svg) {
					t.Errorf("cell %s: a chart is not drawn as vectors", c.ID)
				}
			}
		}
	}
	if charts == 0 {
		t.Error("no chart in the notebook")
	}
	var pdf bytes.Buffer
	_, err = renderPDF(&pdf, nb, Origin{})
	if _, none := fallbackfont.Find(); none != nil {
		if err == nil || !strings.Contains(err.Error(), fallbackfont.Variable) || strings.Contains(err.Error(), "\n") {
			t.Errorf("without a Chinese font: %v, expected one line with the remedy", err)
		}
		t.Skipf("the rest needs a font with Chinese characters: %v", none)
	}
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := Render(&page, nb, Origin{}); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&page)
	if err != nil {
		t.Fatal(err)
	}
	have := letters(strings.Join(paper.Texts(pdf.Bytes()), ""))
	want := letters(contentText(root))
	for r, other := range map[rune]rune{'⁰': '0', '⁻': '−', '₋': '−', 'ₙ': 'n'} { // set as another letter, smaller, where the font lacks it
		if missing := want[r] - have[r]; missing > 0 {
			want[other] += missing
			delete(want, r)
		}
	}
	for r, n := range want {
		if have[r] < n {
			t.Errorf("%q is %d times in the PDF, expected %d as in the HTML", r, have[r], n)
		}
	}
	if len(want) < 60 {
		t.Errorf("%d different letters in the page", len(want))
	}
}

// contentText is the text of the cells, without their numbers.
func contentText(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node, inside bool)
	walk = func(n *html.Node, inside bool) {
		inside = inside || n.DataAtom == atom.Section
		if c := attribute(n, "class"); c == "prompt" || c == "definitions" || n.DataAtom == atom.Details && n.Parent != nil && (attribute(n.Parent, "class") == "source" || n.Parent.DataAtom == atom.Figure) {
			return // not on paper
		}
		if inside && n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := range n.ChildNodes() {
			walk(c, inside)
		}
	}
	walk(n, false)
	return b.String()
}

func letters(text string) map[rune]int {
	counts := map[rune]int{}
	for _, r := range text {
		if r > ' ' && r != '\u00a0' {
			counts[r]++
		}
	}
	return counts
}

// TestPDFOfChinese: Chinese text is set, or its missing font is one line and no file.
func TestPDFOfChinese(t *testing.T) {
	nb := &nbformat.Notebook{Name: "a.ipynb", Metadata: map[string]any{"lang": "zh-CN"}, Cells: []*nbformat.Cell{
		{Type: nbformat.Markdown, ID: "a", Source: "# 归约\n\n每个元素只有一次加法。\n\n## 问题\n\n二十一种算法"},
	}}
	path := filepath.Join(t.TempDir(), "a.pdf")
	_, err := WritePDF(path, nb, Origin{})
	_, none := fallbackfont.Find()
	if none != nil {
		if _, stat := os.Stat(path); err == nil || stat == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, file: %v, expected one line and no file", err, stat)
		}
		t.Skipf("the rest needs a font with Chinese characters: %v", none)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(strings.Join(paper.Texts(data), ""), "\n", "")
	for _, want := range []string{"归约", "每个元素只有一次加法", "问题", "目录", "二十一种算法", "未经执行生成"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the PDF:\n%s", want, text)
		}
	}
}

// TestNumbers: tables and figures have numbers and permalinks; parts of a wide table
// have one number; a notebook cannot write a number itself.
func TestNumbers(t *testing.T) {
	row := func(cells string) string {
		return "<tr><td>" + strings.ReplaceAll(cells, " ", "</td><td>") + "</td></tr>"
	}
	table := func(rows ...string) string { return "<table>" + strings.Join(rows, "") + "</table>" }
	wide := "<p><strong>wide</strong></p>" + table(row("name a"), row("x 1")) + table(row("name b"), row("x 2"))
	out := func(data map[string]any) *nbformat.Output {
		return &nbformat.Output{Type: "display_data", Data: data}
	}
	nb := &nbformat.Notebook{Name: "a.ipynb", Cells: []*nbformat.Cell{
		{Type: nbformat.Markdown, ID: "p", Source: "# Title\n\n## table one 1\n\n## figure one 1"},
		{Type: nbformat.Code, ID: "one", Outputs: []*nbformat.Output{
			out(map[string]any{"text/html": wide}),
			out(map[string]any{"text/html": `<p class="number" id="table-one-9"><a class="number" href="#x">Table 99</a></p>` + table(row("c d"), row("3 4"))}),
			out(map[string]any{"image/svg+xml": "<svg/>", "text/plain": "a chart"}),
		}},
		{Type: nbformat.Code, ID: "two", Outputs: []*nbformat.Output{out(map[string]any{"text/html": table(row("e f"))})}},
	}}
	page, root := render(t, nb)
	var numbers []string
	for n := range root.Descendants() {
		if n.DataAtom == atom.A && attribute(n, "class") == "number" {
			target := attribute(n, "href")[1:]
			numbers = append(numbers, nodeText(n)+" "+target)
			if !strings.Contains(page, `id="`+target+`"`) {
				t.Errorf("%s leads nowhere", target)
			}
		}
	}
	want := "Table 1 table-one-1-1, Table 2 table-one-2, Figure 1 figure-one-1-1, Table 3 table-two-1"
	if got := strings.Join(numbers, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if regexp.MustCompile(`id="table-one-9"|class="number"[^>]*href="#x"`).MatchString(page) {
		t.Error("the notebook's own number is in the page")
	}
}
