package report

import (
	"strings"
	"testing"
	"time"

	"warpbook/kernel/nbformat"
)

// renderTime is how long a hostile cell of 200 KB may take. It takes at most 0.4 s;
// without the limits it takes minutes.
const renderTime = 20 * time.Second

// Markdown that takes parsers quadratic time is rendered in linear time, or shown as
// text.
func TestHostileMarkdownTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: this test has one goroutine")
	}
	nested := func(n int, unit string) string {
		var b strings.Builder
		for i, size := 0, 0; size < n; i++ {
			line := strings.Repeat(unit, i) + "- x\n"
			b.WriteString(line)
			size += len(line)
		}
		return b.String()
	}
	for name, source := range map[string]func(n int) string{
		"headings":   func(n int) string { return strings.Repeat("# a\n", n/4) },
		"lists":      func(n int) string { return nested(n, "  ") },
		"quotes":     func(n int) string { return strings.Repeat(">", n/100) + "a\n" },
		"quotelines": func(n int) string { return nested(n, ">") },
		"oneline":    func(n int) string { return strings.Repeat("- ", n/20) + "a\n" },
		"brackets":   func(n int) string { return strings.Repeat("[", n) },
		"brackets2":  func(n int) string { return strings.Repeat("[a](", n/4) },
		"images":     func(n int) string { return strings.Repeat("![", n/2) },
		"emph":       func(n int) string { return strings.Repeat("*a ", n/3) },
		"emph2":      func(n int) string { return strings.Repeat("*a_ ", n/4) },
		"emph3":      func(n int) string { return strings.Repeat("a**b", n/4) + strings.Repeat("c*", n/4) },
		"ticks": func(n int) string {
			var b strings.Builder
			for i := 1; b.Len() < n; i++ {
				b.WriteString(strings.Repeat("`", i) + " ")
			}
			return b.String()
		},
		"lt":      func(n int) string { return strings.Repeat("<", n) },
		"comment": func(n int) string { return strings.Repeat("<!-- ", n/5) },
		"cdata":   func(n int) string { return strings.Repeat("a <![CDATA[ ", n/12) },
		"proc":    func(n int) string { return strings.Repeat("a <?x ", n/6) },
		"tables":  func(n int) string { return "|" + strings.Repeat("a|", n/4) + "\n|" + strings.Repeat("-|", n/4) + "\n" },
		"tablerows": func(n int) string {
			return "|" + strings.Repeat("a|", 300) + "\n|" + strings.Repeat("-|", 300) + "\n" + strings.Repeat("|x\n", n/3)
		},
		"refs":     func(n int) string { return strings.Repeat("[a]: b\n", n/7) },
		"tilde":    func(n int) string { return strings.Repeat("~~a ", n/4) },
		"url":      func(n int) string { return strings.Repeat("www.", n/4) },
		"email":    func(n int) string { return strings.Repeat("a.", n/2) + "@" },
		"htmldivs": func(n int) string { return strings.Repeat("<div>", n/5) },
		"htmlb":    func(n int) string { return strings.Repeat("<b>", n/3) },
		"htmlp":    func(n int) string { return strings.Repeat("<p><b>", n/6) },
		"td":       func(n int) string { return strings.Repeat("<table><tr><td>", n/15) },
		"attrs":    func(n int) string { return "<a " + strings.Repeat("x=y ", n/4) + ">" },
		"plain":    func(n int) string { return strings.Repeat("word ", n/5) },
		"lines":    func(n int) string { return strings.Repeat("word\n", n/5) },
		"entities": func(n int) string { return strings.Repeat("&amp;", n/5) },
		"esc":      func(n int) string { return strings.Repeat("\\", n) },
	} {
		start, done := time.Now(), make(chan string, 1)
		go func() { done <- string(newProse(&nbformat.Notebook{}).cell(&nbformat.Cell{Source: source(200_000)})) }()
		select {
		case out := <-done:
			if len(out) > 10*200_000 {
				t.Errorf("%s: %d bytes of HTML", name, len(out))
			}
			t.Logf("%s: %v", name, time.Since(start))
		case <-time.After(renderTime):
			t.Errorf("%s: not rendered after %v", name, renderTime)
		}
	}
	start := time.Now()
	out := newProse(&nbformat.Notebook{}).cell(&nbformat.Cell{Source: nested(9_000_000, "  ")})
	if took := time.Since(start); took > renderTime || !strings.Contains(string(out), "nested more than 100 deep") {
		t.Errorf("9 MB of nested lists took %v and became %.200s", took, out)
	}
}

// Ordinary content is not cut: deep lists, wide tables, pictures, long code.
func TestBoundsSpareNotebooks(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: this test has one goroutine")
	}
	row := strings.Repeat("| **x** ", 40) + "|\n"
	for name, source := range map[string]string{
		"lists":   strings.Repeat("  ", 20) + "- deep",
		"table":   row + strings.Repeat("|-", 40) + "|\n" + strings.Repeat(row, 2000),
		"picture": "![a](data:image/png;base64," + strings.Repeat("AAAA", 1<<20) + ")",
		"code":    "```go\n" + strings.Repeat("a[i] *= b[i] // __x__\n", 20_000) + "```",
		"links":   strings.Repeat("[a](https://example.com/x_y) ", 800),
	} {
		if out := newProse(&nbformat.Notebook{}).cell(&nbformat.Cell{Source: source}); strings.Contains(string(out), "shown as text") {
			t.Errorf("%s: %.300s", name, out)
		}
	}
	long := "<table>" + strings.Repeat(`<tr style="x" class="y"><td>1<td>2`, 20_000) + "</table>"
	if out := sanitise(long); strings.Contains(string(out), "shown as text") {
		t.Errorf("a long table: %.300s", out)
	}
}

// Indentation does not multiply nested JSON, and a line reports the cut.
func TestJSONIsBounded(t *testing.T) {
	show := func(value any) string {
		return string(renderJSON(map[string]any{"application/json": value}))
	}
	var deep any = 1
	for range 9000 {
		deep = []any{deep}
	}
	if out := show(deep); len(out) > 100_000 || !strings.Contains(out, "[[[[1]") && !strings.Contains(out, "[[[1]") {
		t.Errorf("9 000 nested arrays became %d bytes", len(out))
	}
	if out := show(strings.Repeat("é", 1<<20)); len(out) > mostJSON+200 || !strings.Contains(out, "bytes of JSON, 1048576 shown") {
		t.Errorf("2 MB of JSON became %d bytes: %s", len(out), out[len(out)-100:])
	}
	if out := show(map[string]any{"a": []any{1, "[{"}}); !strings.Contains(out, "{\n  &#34;a&#34;: [\n    1,") {
		t.Errorf("small JSON: %s", out)
	}
}
