package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"warpbook/kernel/nbformat"
)

// What is parsed has at most the limit of each kind, and one more is shown as text.
func TestBoundsAdmitTheLimit(t *testing.T) {
	row := func(delimiters int) string { return "|" + strings.Repeat("*", delimiters) + "|\n" }
	for _, c := range []struct {
		name, paragraph, reason string
	}{
		{"4000 delimiters", strings.Repeat("*", 4000), ""},
		{"4001 delimiters", strings.Repeat("*", 4001), "more than 4000"},
		{"each kind counts", strings.Repeat("*_[]~<", 667), "more than 4000"},
		{"other characters", strings.Repeat("a(", 9000), ""},
		{"4001 in two lines", strings.Repeat("*", 4000) + "\n*", "more than 4000"},
		{"4000 in each row of a table", row(4000) + row(4000), ""},
		{"4001 in one row", row(4) + row(4001), "more than 4000"},
		{"as many cells as characters", "|||\n||\n", "9 cells"}, // 3 rows, the last of which is empty
		{"fewer cells than characters", "|a\n|b\n", ""},
		{"three cells in three characters", "|\na", ""},
		{"two cells in two characters", "|\n", ""},
		{"four cells in three characters", "||\n", "4 cells"},
	} {
		if got := tooMuch(c.paragraph); (got == "") != (c.reason == "") || !strings.Contains(got, c.reason) {
			t.Errorf("%s: %q, expected %q", c.name, got, c.reason)
		}
	}
	for source, reason := range map[string]string{
		"# " + strings.Repeat("*", 4000):           "",
		"# " + strings.Repeat("*", 4001):           "a heading",
		"a\n > - # " + strings.Repeat("*", 4001):   "a heading",
		"no heading " + strings.Repeat("*", 4001):  "",
		"# a\n" + strings.Repeat("*", 4001) + "\n": "",
	} {
		if got := tooLong(source); (got == "") != (reason == "") || !strings.Contains(got, reason) {
			t.Errorf("%.20q: %q, expected %q", source, got, reason)
		}
	}
}

// A paragraph beyond the limit is shown as text, below the reason.
func TestBoundedParagraph(t *testing.T) {
	source := strings.Repeat("*_", 2001)
	page, _ := render(t, &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{
		{Type: nbformat.Markdown, ID: "m", Source: "before\n\n" + source + "\n\nafter"},
	}})
	const reason = "a paragraph of 4003 bytes is shown as text: it has more than 4000 of *_[]~&lt;"
	if at := strings.Index(page, reason); at < 0 || !strings.Contains(page[at:], "<pre tabindex=\"0\">"+source+"\n</pre>") {
		t.Errorf("the page does not show %q and the source: %.300s", reason, page[max(0, strings.Index(page, "before")):])
	}
}

// Elements that are open count, closed and void ones do not; attributes count per element.
func TestBoundsOfHTML(t *testing.T) {
	attributes := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " a%d=1", i)
		}
		return "<p" + b.String() + ">"
	}
	for _, c := range []struct{ name, source, reason string }{
		{"512 open", strings.Repeat("<b>", 512), ""},
		{"513 open", strings.Repeat("<b>", 513), "more than 512 elements"},
		{"closed ones", strings.Repeat("<b></b>", 2000), ""},
		{"512 open after closed ones", strings.Repeat("</b>", 5) + strings.Repeat("<b>", 512), ""},
		{"513 open after closed ones", strings.Repeat("</b>", 5) + strings.Repeat("<b>", 513), "more than 512 elements"},
		{"512 open, two of which are closed, and three more", strings.Repeat("<b>", 512) + "</b></b><b><b><b>", "more than 512 elements"},
		{"void ones", strings.Repeat("<br><p>", 2000), ""},
		{"256 attributes", attributes(256), ""},
		{"257 attributes", attributes(257), "more than 256 attributes"},
		{"of two elements", attributes(200) + attributes(200), ""},
	} {
		if got := hostileHTML(c.source); (got == "") != (c.reason == "") || !strings.Contains(got, c.reason) {
			t.Errorf("%s: %q, expected %q", c.name, got, c.reason)
		}
	}
}

func TestJSONDepth(t *testing.T) {
	for source, want := range map[string]int{
		`1`: 0, `[]`: 1, `{}`: 1, `[[],[]]`: 2, `[{"a":[1]}]`: 3, `{"a":{},"b":{}}`: 2,
		`"[[["`: 0, `["]","[["]`: 1, `["\"[[["]`: 1, `["\\",[["a"]]]`: 3, `[[1],[[2]],[3]]`: 3,
	} {
		if got := jsonDepth(source); got != want {
			t.Errorf("%s: %d, expected %d", source, got, want)
		}
	}
	nested := func(n int) json.RawMessage {
		return json.RawMessage(strings.Repeat("[", n) + "1" + strings.Repeat("]", n))
	}
	for n, lines := range map[int]bool{32: true, 33: false} {
		if got, err := indented(nested(n)); err != nil || strings.Contains(got, "\n  ") != lines {
			t.Errorf("%d levels: %.30q, %v", n, got, err)
		}
	}
	for size, cut := range map[int]bool{1<<20 - 3: false, 1<<20 - 2: true} { // two quotes and the end of a line
		got, err := indented(strings.Repeat("a", size))
		whole := `"` + strings.Repeat("a", size) + "\"\n"
		if err != nil || (got != whole) != cut {
			t.Errorf("%d bytes: %d remain, %v", size, len(got), err)
		}
		if want := whole[:min(len(whole), 1<<20)] + fmt.Sprintf("\n... %d bytes of JSON, %d shown", len(whole), 1<<20); cut && got != want {
			t.Errorf("%d bytes: ends with %q", size, got[len(got)-60:])
		}
	}
}
