package report

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/leaf/highlight"
	"warpbook/kernel/nbformat"
)

func TestHighlightKeepsText(t *testing.T) {
	sources := []string{"", "x := `a\n\tb` // é\n/* c */ f(0x1p-2, 'x', \"a\\n\")", "\"open\n'q", "#define A \\\n x\n  #if 1\nint a = b # c;", "%%magic\n\x00\xff \ufeffx\r\n", "`open"}
	for _, language := range highlight.Languages() {
		for _, source := range sources {
			tree, err := html.Parse(strings.NewReader("<body>" + strings.ReplaceAll(highlight.HTML(source, language, highlight.Class), "\r", "&#13;")))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ToValidUTF8(strings.ReplaceAll(source, "\x00", ""), "\ufffd")
			if got := strings.ToValidUTF8(nodeText(tree), "\ufffd"); strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s: got %q, want %q", language, got, want)
			}
		}
	}
}

func TestHighlight(t *testing.T) {
	for _, test := range []struct{ language, source, want string }{
		{"go", "func f(x int) { return }", `<span class="k">func</span> <span class="f">f</span>(x <span class="t">int</span>) { <span class="k">return</span> }`},
		{"go", "#x", "#x"},
		{"cuda", "#include <a>\n__global__ void k();", `<span class="p">#include &lt;a&gt;</span>` + "\n" + `<span class="k">__global__</span> <span class="t">void</span> <span class="f">k</span>();`},
		{"cuda", "a # b", "a # b"},
		{"", "func", "func"},
	} {
		if got := highlight.HTML(test.source, test.language, highlight.Class); got != test.want {
			t.Errorf("%s %s:\n got %s\nwant %s", test.language, test.source, got, test.want)
		}
	}
}

// A diff marks the lines that it adds and removes, and keeps its text.
func TestDiffMarksLines(t *testing.T) {
	const diff = "- a < b\n+ a > b\n  same\n-\n"
	_, root := render(t, &nbformat.Notebook{Name: "a.ipynb", Cells: []*nbformat.Cell{{Type: nbformat.Markdown, ID: "m", Source: "```diff\n" + diff + "```\n"}}})
	pre := find(root, atom.Pre, "")
	if len(pre) != 1 || strings.TrimRight(nodeText(pre[0]), "\n") != strings.TrimRight(diff, "\n") {
		t.Fatalf("%d blocks, expected the diff's text", len(pre))
	}
	var added, removed []string
	for _, n := range find(pre[0], atom.Ins, "") {
		added = append(added, nodeText(n))
	}
	for _, n := range find(pre[0], atom.Del, "") {
		removed = append(removed, nodeText(n))
	}
	if !slices.Equal(added, []string{"+ a > b"}) || !slices.Equal(removed, []string{"- a < b", "-"}) {
		t.Errorf("added %q, removed %q", added, removed)
	}
}
