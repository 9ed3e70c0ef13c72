package report

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/nbformat"
)

// render returns the page and its tree. Every page of these tests is checked for
// forbidden content.
func render(t *testing.T, nb *nbformat.Notebook) (string, *html.Node) {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, nb, Origin{Ran: true}); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	checkClosed(t, root)
	return b.String(), root
}

var allowedElements = strings.Fields(`html head meta link title style body div nav p ul li a main header span details summary section
	pre code figure figcaption img footer dl dt dd h1 h2 h3 h4 h5 h6 b strong i em u s del ins mark small sub sup br hr blockquote ol
	table caption colgroup col thead tbody tfoot tr th td input kbd`)

var allowedAttributes = strings.Fields(`lang charset http-equiv content name class id href aria-label aria-hidden tabindex role
	src alt width height title align style type checked disabled colspan rowspan start open rel`)

// checkClosed checks that a page loads nothing, runs nothing, and consists of known
// parts only, by an allowlist independent of the sanitiser's.
func checkClosed(t *testing.T, root *html.Node) {
	t.Helper()
	ids := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if !slices.Contains(allowedElements, n.Data) || n.Namespace != "" {
			t.Errorf("element <%s> in the page", n.Data)
		}
		if n.DataAtom == atom.Style && regexp.MustCompile(`(?i)url\(|@import|expression`).MatchString(nodeText(n)) {
			t.Error("the style sheet loads something")
		}
		for _, a := range n.Attr {
			checkAttribute(t, n, a)
			if a.Key == "id" {
				if ids[a.Val] {
					t.Errorf("id %q stands twice", a.Val)
				}
				ids[a.Val] = true
			}
		}
	}
}

func checkAttribute(t *testing.T, n *html.Node, a html.Attribute) {
	t.Helper()
	ok := slices.Contains(allowedAttributes, a.Key)
	switch a.Key {
	case "role":
		ok = a.Val == "group"
	case "href":
		ok = n.DataAtom == atom.A && regexp.MustCompile(`^(https?://|mailto:|#)`).MatchString(a.Val)
		ok = ok || n.DataAtom == atom.Link && attribute(n, "rel") == "icon" && a.Val == "data:," // otherwise browsers request one from the server
	case "src":
		ok = n.DataAtom == atom.Img && regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]*$`).MatchString(a.Val)
	case "style":
		ok = regexp.MustCompile(`^text-align: (left|right|center)$`).MatchString(a.Val)
	}
	if !ok {
		t.Errorf("<%s %s=%q> in the page", n.Data, a.Key, a.Val)
	}
}

// find returns the elements of a kind that have the class, or any if it is "".
func find(root *html.Node, element atom.Atom, class string) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if n.DataAtom == element && (class == "" || slices.Contains(strings.Fields(attribute(n, "class")), class)) {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func texts(nodes []*html.Node) []string {
	var list []string
	for _, n := range nodes {
		list = append(list, strings.TrimSpace(nodeText(n)))
	}
	return list
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestReduceReport(t *testing.T) {
	nb, err := nbformat.Read("testdata/reduce.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	_, root := render(t, nb)
	equal(t, "title", texts(find(root, atom.Title, "")), []string{"Sum of a vector, one idea at a time"})
	nav := find(root, atom.Nav, "side")[0]
	equal(t, "contents", texts(find(nav, atom.A, "")), []string{"Setup", "The ladder", "v0: interleaved, with a remainder",
		"Latency", "Why: the counters", "The notes' own mistakes", "结论"})
	for _, a := range find(nav, atom.A, "") {
		id, err := url.PathUnescape(strings.TrimPrefix(attribute(a, "href"), "#"))
		if err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(find(root, atom.H2, ""), hasID(id)) && !slices.ContainsFunc(find(root, atom.H3, ""), hasID(id)) {
			t.Errorf("the contents lead to %q, where no heading is", id)
		}
	}
	equal(t, "badges", texts(find(root, atom.Span, "badge")), []string{"1 cell failed", "1 of 7 checks failed", "1 of the 7 failed as it must"})
	equal(t, "prompts", texts(find(root, atom.Div, "prompt"))[:3], []string{"In [1]", "In [2]", "In [3]"})
	equal(t, "labels", texts(find(root, atom.P, "label")), []string{"parameters", "parameters set for this run"})
	equal(t, "passed", texts(find(root, atom.Td, "pass")), slices.Repeat([]string{"PASS"}, 5))
	equal(t, "failed", texts(find(root, atom.Td, "fail")), []string{"FAIL"})
	equal(t, "expected", texts(find(root, atom.Td, "expected")), []string{"FAIL (expected)"})
	equal(t, "environment", texts(find(find(root, atom.Footer, "")[0], atom.Dt, "")), []string{"commit", "date", "device", "go", "method", "profile", "ptx", "seed"})
	plot := find(root, atom.Img, "")[1:] // after the one of the summary
	if len(plot) != 1 || attribute(plot[0], "width") != "700" || !strings.HasPrefix(attribute(plot[0], "src"), "data:image/svg+xml;base64,") {
		t.Fatalf("%d plots, want one SVG 700 wide", len(plot))
	}
	if alt := attribute(plot[0], "alt"); !strings.Contains(alt, "Reduce, 262144 elements") {
		t.Errorf("the plot's alt text is %q", alt)
	}
	for _, table := range find(root, atom.Table, "") {
		if attribute(table.Parent, "class") != "scroll" {
			t.Error("a table has no box that scrolls")
		}
	}
}

func hasID(id string) func(*html.Node) bool {
	return func(n *html.Node) bool { return attribute(n, "id") == id }
}

// outputPage renders a page with one code cell that has these outputs.
func outputPage(t *testing.T, tags []any, outputs ...*nbformat.Output) *html.Node {
	t.Helper()
	_, root := render(t, &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{
		{Type: nbformat.Code, ID: "c", Source: "x", Outputs: outputs, Metadata: map[string]any{"tags": tags}},
	}})
	return root
}

func bundle(data map[string]any) *nbformat.Output {
	return &nbformat.Output{Type: nbformat.Display, Data: data}
}

func TestOutputs(t *testing.T) {
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	for _, test := range []struct {
		name   string
		output *nbformat.Output
		want   string // in the output's HTML
	}{
		{"stdout", &nbformat.Output{Type: nbformat.Stream, Name: "stdout", Text: "a<b\n10%\r20%\rdone\r\n"}, ">a&lt;b\ndone\n</pre>"},
		{"stderr", &nbformat.Output{Type: nbformat.Stream, Name: "stderr", Text: "x"}, `class="stream stderr"`},
		{"other stream", &nbformat.Output{Type: nbformat.Stream, Name: `"><script>`, Text: "x"}, `class="stream stdout"`},
		{"colours", &nbformat.Output{Type: nbformat.Stream, Name: "stdout", Text: "\x1b[1;31mbad\x1b[0m \x1b[38;5;1mok\x1b[2K\x07"},
			`<span class="ansi-bold ansi-1">bad</span> ok<`},
		{"error", &nbformat.Output{Type: nbformat.Error, ErrorName: "panic", ErrorValue: "<v>", Traceback: []string{"line 1", "line 2"}},
			"<strong>panic</strong> &lt;v&gt;</p><pre tabindex=\"0\">line 1\nline 2</pre>"},
		{"error said once", &nbformat.Output{Type: nbformat.Error, ErrorName: "panic", ErrorValue: "v", Traceback: []string{"at v"}}, "<strong>panic</strong> </p>"},
		{"html before all", bundle(map[string]any{"text/html": "<b>h</b>", "image/png": "AA==", "text/plain": "p"}), `<div class="rich"><b>h</b></div>`},
		{"svg before png", bundle(map[string]any{"image/svg+xml": svg, "image/png": "AA==", "text/plain": "p"}),
			`<img src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(svg)) + `" alt="p"`},
		{"png", &nbformat.Output{Type: nbformat.Result, Data: map[string]any{"image/png": "AA\n==\n", "text/plain": "t\n1 2\n"},
			Metadata: map[string]any{"image/png": map[string]any{"width": 640, "height": 480.0}}},
			`<figure id="figure-c-1"><figcaption><a class="number" href="#figure-c-1">Figure 1</a></figcaption><img src="data:image/png;base64,AA==" alt="t" width="640" height="480"/><details><summary>Numbers</summary><pre tabindex="0">t` + "\n1 2\n"},
		{"jpeg without text", bundle(map[string]any{"image/jpeg": "AA=="}), `alt="picture"`},
		{"markdown", bundle(map[string]any{"text/markdown": "**m**", "text/plain": "p"}), "<strong>m</strong>"},
		{"plain", bundle(map[string]any{"text/plain": "<p>"}), `<pre class="plain" tabindex="0">&lt;p&gt;</pre>`},
		{"json", bundle(map[string]any{"application/json": map[string]any{"a": "<"}}), "{\n  &#34;a&#34;: &#34;&lt;&#34;\n}"},
		{"unknown", bundle(map[string]any{"application/x-other": "x"}), `<div class="output"></div>`},
	} {
		var b strings.Builder
		root := outputPage(t, nil, test.output)
		if err := html.Render(&b, find(root, atom.Div, "output")[0]); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), test.want) {
			t.Errorf("%s:\n got %s\nwant %s", test.name, &b, test.want)
		}
	}
}

func TestExpectedError(t *testing.T) {
	root := outputPage(t, []any{nbformat.TagRaisesException}, &nbformat.Output{Type: nbformat.Error, ErrorName: "panic"})
	equal(t, "error", texts(find(root, atom.Div, "expected")), []string{"panic (expected)"})
	if badges := find(root, atom.Span, "badge"); len(badges) != 0 {
		t.Errorf("an expected error makes a badge: %q", texts(badges))
	}
}

func TestBadges(t *testing.T) {
	for _, test := range []struct {
		verdicts []string
		want     []string
	}{
		{nil, nil},
		{[]string{"PASS"}, []string{"1 check as expected"}},
		{[]string{"PASS", "FAIL (expected)"}, []string{"2 checks as expected", "1 of the 2 failed as it must"}},
		{[]string{"PASS", "PASS (failure expected)"}, []string{"1 of 2 checks failed"}},
		{[]string{"pass", "FAIL", "PASS"}, []string{"2 of 3 checks failed"}}, // an unknown verdict does not pass
	} {
		var rows []any
		for _, verdict := range test.verdicts {
			rows = append(rows, map[string]any{"verdict": verdict})
		}
		root := outputPage(t, nil, bundle(map[string]any{record.MIME: map[string]any{"rows": rows}}))
		equal(t, strings.Join(test.verdicts, ","), texts(find(root, atom.Span, "badge")), test.want)
	}
}

// A page must show the failures for which `warpbook run` returns an error.
func TestBadgesOfRejectedRecords(t *testing.T) {
	for _, value := range []any{"x", map[string]any{"rows": "x"}, map[string]any{"kind": record.Checks}} {
		root := outputPage(t, nil, bundle(map[string]any{record.MIME: value}))
		equal(t, "unreadable", texts(find(root, atom.Span, "badge")), []string{"1 record cannot be read"})
	}
	one := 1
	for _, count := range []*int{nil, &one} {
		_, root := render(t, &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{{
			Type: nbformat.Code, ID: "a", Source: "x", ExecutionCount: count,
			Metadata: map[string]any{"tags": []any{nbformat.TagRaisesException}},
		}}})
		var want []string
		if count != nil {
			want = []string{"1 cell failed"}
		}
		equal(t, "a cell that must fail", texts(find(root, atom.Span, "badge")), want)
	}
}

func TestMarkdown(t *testing.T) {
	source := "# A\n\n## A\n\n## *B* `c` & [d](https://example.org)\n\n![p](attachment:p.png) ![remote *x*](http://example.org/a.png) ![](gone.png)\n\n" +
		"a<br>b <script>alert(1)</script> ~~c~~ <https://example.org>\n\n```go\nx := 1 // <y>\n```\n\n```sh\n$ ls <x>\n```\n"
	page, root := render(t, &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{{
		Type: nbformat.Markdown, ID: "a", Source: source,
		Attachments: map[string]map[string]any{"p.png": {"image/png": "AA=="}},
	}, {Type: nbformat.Raw, ID: "b", Source: "raw is not shown"}}})
	for _, want := range []string{
		`<h1 id="a">`, `<h2 id="a-1">`, `<h2 id="b-c--d">`,
		`<img src="data:image/png;base64,AA==" alt="p"/>`,
		`<a href="http://example.org/a.png">remote <em>x</em></a>`,
		"a<br/>b", "<del>c</del>", `<span class="m">1</span> <span class="c">// &lt;y&gt;</span>`, "$ ls &lt;x&gt;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if strings.Contains(page, "alert(1)") || strings.Contains(page, "raw is not shown") {
		t.Error("the page shows a script or a raw cell")
	}
	equal(t, "contents", texts(find(find(root, atom.Nav, "")[0], atom.A, "")), []string{"A", "B c & d"})
}

// None of these may pass the sanitiser, in an output or in markdown. checkClosed checks
// the rest.
func TestSanitise(t *testing.T) {
	for _, hostile := range []string{
		`<script>alert(1)</script>`, `<SCRIPT SRC=//evil.example/x.js></SCRIPT>`, `<img src=x onerror=alert(1)>`,
		`<img src="http://evil.example/pixel.png">`, `<img src="//evil.example/p.png">`, `<img srcset="http://evil.example/p.png 2x">`,
		`<a href="javascript:alert(1)">x</a>`, `<a href=" java&#10;script:alert(1)">x</a>`, `<a href="data:text/html,<script>alert(1)</script>">x</a>`,
		`<svg onload=alert(1)><script>alert(1)</script></svg>`, `<svg><style><img src=x onerror=alert(1)></style></svg>`,
		`<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>`,
		`<style>body{background:url(http://evil.example/)}</style>`, `<link rel=stylesheet href=http://evil.example/x.css>`,
		`<div style="background:url(http://evil.example/)">x</div>`, `<td style="text-align:right;background:url(http://evil.example/)">x</td>`,
		`<table><tr><td style="text-align: expression(alert(1))">x</td></tr></table>`, `<table background="http://evil.example/"><tr><td>x</td></tr></table>`,
		`<iframe src="http://evil.example/"></iframe>`, `<object data="x"></object>`, `<embed src="x">`, `<video src="http://evil.example/v"></video>`,
		`<form action="http://evil.example/"><input name=x><button>go</button></form>`, `<input type=image src="http://evil.example/">`,
		`<base href="http://evil.example/">`, `<meta http-equiv=refresh content="0;url=http://evil.example/">`,
		`<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>`, `<template><script>alert(1)</script></template>`,
		`</div></section></main></body></html><script>alert(1)</script>`, `<plaintext>`, `<!--><script>alert(1)</script>-->`, `<xmp><script>alert(1)</script></xmp>`,
		`<p id="cell-c" class="badge pass">9 checks passed</p>`, `<div class="badge">x</div>`, `<textarea></textarea><script>alert(1)</script>`,
	} {
		page, root := render(t, &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{
			{Type: nbformat.Code, ID: "c", Source: "x", Outputs: []*nbformat.Output{bundle(map[string]any{"text/html": hostile})}},
			{Type: nbformat.Markdown, ID: "m", Source: hostile + "\n\ntext " + hostile},
			{Type: nbformat.Markdown, ID: "after", Source: "still here"},
		}})
		if strings.Contains(page, "evil.example") || len(find(root, atom.Span, "badge")) > 0 {
			t.Errorf("%s came through", hostile)
		}
		after := slices.IndexFunc(find(root, atom.Section, ""), hasID("cell-after"))
		if after < 0 || find(root, atom.Section, "")[after].Parent.DataAtom != atom.Main {
			t.Errorf("%s broke out of its place", hostile)
		}
	}
}

// TestScrollingIsReachable: scrolling elements take the keyboard's focus; otherwise
// only a mouse can scroll them.
func TestScrollingIsReachable(t *testing.T) {
	const code = "```go\nx := 1\n```\n"
	_, root := render(t, &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{
		{Type: nbformat.Markdown, ID: "m", Source: code + "\n| a |\n| - |\n| 1 |\n"},
		{Type: nbformat.Code, ID: "c", Source: "x", Outputs: []*nbformat.Output{
			bundle(map[string]any{"text/html": "<table><tr><td>1</td></tr></table><pre tabindex='-1'>x</pre>"}),
			bundle(map[string]any{"text/markdown": code}),
			bundle(map[string]any{"text/plain": "plot\n1 2 3", "image/png": "iVBORw0KGgo="}),
			{Type: nbformat.Stream, Name: "stdout", Text: "text"},
			{Type: nbformat.Error, ErrorName: "E", Traceback: []string{"at x"}},
		}},
	}})
	scrolling := append(find(root, atom.Pre, ""), find(root, atom.Div, "scroll")...)
	if len(scrolling) != 9 {
		t.Errorf("%d elements scroll, expected 9", len(scrolling))
	}
	for _, n := range scrolling {
		if attribute(n, "tabindex") != "0" {
			t.Errorf("%s of %q has tabindex %q, expected 0", n.Data, texts([]*html.Node{n}), attribute(n, "tabindex"))
		}
	}
	for _, box := range find(root, atom.Div, "scroll") {
		if attribute(box, "role") != "group" || attribute(box, "aria-label") == "" {
			t.Error("a table's box has no role or no name")
		}
	}
}

// A table decides where the lines of its cells may break.
func TestBreaksAreKept(t *testing.T) {
	const table = `<table><tbody><tr><td style="text-align: right; white-space: nowrap">5.7e-07</td><td>at reduce_<wbr>mistakes.ptx</td></tr></tbody></table>`
	got := string(sanitise(table))
	for _, want := range []string{`style="text-align: right; white-space: nowrap"`, "reduce_<wbr"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// Cells of a wide table break their lines, but not inside of a number.
func TestNumbersStayWhole(t *testing.T) {
	_, root := render(t, &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{
		{Type: nbformat.Code, ID: "c", Source: "x", Outputs: []*nbformat.Output{
			bundle(map[string]any{"text/html": "<table><tr><td>25 600 000 floats</td><td>99.5 % of 4096</td><td>512 x 512</td></tr></table>"})}},
	}})
	equal(t, "cells", texts(find(root, atom.Td, "")), []string{"25\u00a0600\u00a0000 floats", "99.5\u00a0% of 4096", "512 x 512"})
}

func TestHostileFields(t *testing.T) {
	evil := `"><script>alert(1)</script>`
	render(t, &nbformat.Notebook{Name: evil, Metadata: map[string]any{"language_info": map[string]any{"name": evil}}, Cells: []*nbformat.Cell{
		{Type: nbformat.Code, ID: "c", Source: evil, Outputs: []*nbformat.Output{
			{Type: nbformat.Stream, Name: evil, Text: evil},
			{Type: nbformat.Error, ErrorName: evil, ErrorValue: evil, Traceback: []string{evil}},
			{Type: nbformat.Display, Data: map[string]any{"image/png": evil, "text/plain": evil + "\n" + evil}, Metadata: map[string]any{"image/png": evil}},
			bundle(map[string]any{record.MIME: map[string]any{"environment": map[string]any{evil: evil, "n": []any{1, evil}}}}),
			bundle(map[string]any{record.MIME: evil, "text/plain": evil}),
		}},
		{Type: nbformat.Markdown, ID: "m", Source: "# <script>alert(1)</script>\n\n## [x](javascript:alert(1)) ![x](data:text/html;base64,AA==)\n\n![a](attachment:a)",
			Attachments: map[string]map[string]any{"a": {"image/png": evil}}},
	}})
}

func TestHiddenSource(t *testing.T) {
	_, root := render(t, &nbformat.Notebook{Name: "dir/x.ipynb", Cells: []*nbformat.Cell{{Type: nbformat.Code, ID: "c", Source: "x",
		Metadata: map[string]any{"jupyter": map[string]any{"source_hidden": true}}}}})
	equal(t, "folded", texts(find(root, atom.Summary, "")), []string{"Code, 1 line"})
	equal(t, "title without a heading", texts(find(root, atom.Title, "")), []string{"x"})
}

// Commands of %debug are shown, because their output answers them; a cell that also has Go
// code is folded.
func TestCommandsAreShown(t *testing.T) {
	for source, folded := range map[string][]string{
		"%debug first-nan\n%debug print mean": nil,
		"%lang zh":                            nil,
		"%debug off\nx := 1":                  {"Code, 2 lines"},
		"%%go\nx := 1":                        {"Code, 2 lines"},
	} {
		_, root := render(t, &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{{Type: nbformat.Code, ID: "c", Source: source}}})
		equal(t, source, texts(find(root, atom.Summary, "")), folded)
	}
}

func TestWrite(t *testing.T) {
	nb, err := nbformat.Read("testdata/reduce.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "out.html")
	if err := Write(path, nb, Origin{Ran: true}); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil || !bytes.HasSuffix(first, []byte("</html>\n")) {
		t.Errorf("%d bytes (%v), want a whole page", len(first), err)
	}
	page, _ := render(t, nb)
	if page != string(first) {
		t.Error("the same notebook makes two different pages")
	}
	if err := Write(filepath.Join(path, "below-a-file.html"), nb, Origin{}); err == nil {
		t.Error("wrote below a file")
	}
}

// TestRecordedVerdicts: a page made without execution states this before any badge, and
// calls no verdict of the file verified.
func TestRecordedVerdicts(t *testing.T) {
	forged := &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{{Type: nbformat.Code, ID: "a", Source: "x", Outputs: []*nbformat.Output{{
		Type: nbformat.Display,
		Data: map[string]any{record.MIME: map[string]any{"kind": "checks", "title": "T", "rows": []any{map[string]any{"name": "sum", "verdict": "PASS"}}}},
	}}}}}
	for _, test := range []struct {
		from   Origin
		notes  int
		badges []string
	}{
		{Origin{}, 1, []string{"1 check recorded as expected, not verified"}},
		{Origin{Ran: true, Executed: 1, Cells: 1}, 0, []string{"1 check as expected"}},
		{Origin{Ran: true, Executed: 1, Cells: 3}, 0, []string{"1 of 3 cells executed", "1 check as expected"}},
	} {
		var b bytes.Buffer
		if err := Render(&b, forged, test.from); err != nil {
			t.Fatal(err)
		}
		root, err := html.Parse(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		checkClosed(t, root)
		equal(t, "badges", texts(find(root, atom.Span, "badge")), test.badges)
		notes := find(root, atom.P, "recorded")
		if len(notes) != test.notes {
			t.Errorf("%+v: %q, expected %d notes", test.from, texts(notes), test.notes)
		}
		if before, _, _ := strings.Cut(b.String(), `class="badge`); test.notes > 0 && !strings.Contains(before, "Rendered without execution") {
			t.Error("the note does not stand before the badges")
		}
		if test.notes > 0 && strings.Contains(b.String(), `class="badge pass"`) {
			t.Error("a recorded verdict has the badge of a verified one")
		}
	}
}
