package paper

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const head = `<html lang="en"><head><title>A title</title></head><body><nav aria-label="Contents"><ul>%s</ul></nav><main>
<header><span class="name">a.ipynb</span><p class="recorded">Rendered without execution</p><span class="badge pass">2 checks passed</span></header>`

// write returns the PDF of a page with these cells.
func write(t *testing.T, contents, cells string) []byte {
	t.Helper()
	var b bytes.Buffer
	missing, err := Write(&b, fmt.Sprintf(head, contents)+cells+"</main></body></html>")
	if err != nil || len(missing) > 0 {
		t.Fatalf("%v, missing %q", err, missing)
	}
	return b.Bytes()
}

// Folded code and the numbers of plots are not on paper; other folded parts are.
func TestFoldedParts(t *testing.T) {
	page := strings.Join(Texts(write(t, "", `<section><div class="source"><details><summary>Code</summary><pre>hidden</pre></details></div>
		<figure><details><summary>Numbers</summary><pre>numbers</pre></details></figure><details><summary>Hint</summary>unfolded</details></section>`)), "")
	for text, want := range map[string]bool{"hidden": false, "numbers": false, "unfolded": true, "Hint": true} {
		if strings.Contains(page, text) != want {
			t.Errorf("%q is on paper: %v, expected %v", text, !want, want)
		}
	}
}

// No plot is cut by the end of a page, or smaller than its letters can be read, while the page has
// room.
func TestTallPlotFits(t *testing.T) {
	for _, height := range []float64{200, 700, 1563, 4000} {
		w, h := (&layout{}).size(&html.Node{}, 700, height, frame{width: textWidth})
		if h >= textHeight || w > textWidth {
			t.Errorf("%g x %g points, of a page of %g x %g", w, h, textWidth, textHeight)
		}
		if scale := w / (700 * 0.75); scale < leastScale && h < wholePage*textHeight-1 {
			t.Errorf("700 x %g pixels: letters of 8 points are %.1f points large, and the page has room", height, 8*scale)
		}
	}
}

// The plot of a summary, which the page shows at 0.6 of its size, fills the rest of the first page
// and no more, unless its letters could not be read.
func TestPlotOfSummaryFillsThePage(t *testing.T) {
	shown := &html.Node{Attr: []html.Attribute{{Key: "width", Val: "420"}}}
	for _, test := range []struct{ height, used, want float64 }{
		{1254, 300, (textHeight - 300 - pictureMargin) / (1254 * 0.75)}, // by the rest of the page
		{700, 300, 0.6}, // as the page shows it
		{1254, 600, leastScale},
	} {
		l := &layout{summary: true, items: []item{{height: test.used}}}
		if w, _ := l.size(shown, 700, test.height, frame{width: textWidth}); math.Abs(w/(700*0.75)-test.want) > 1e-9 {
			t.Errorf("700 x %g pixels below %g points: %.3f of its size, expected %.3f", test.height, test.used, w/(700*0.75), test.want)
		}
	}
}

// Two tall plots that follow each other stand side by side, each below its caption and with its
// place for links; a paragraph between them, or a third plot for which there is no room, parts
// them.
func TestTallPlotsSideBySide(t *testing.T) {
	figure := func(i, height int) string {
		svg := fmt.Sprintf(`<svg viewBox="0 0 525 %d"><text x="5" y="9" style="font-size:9px;fill:#000">plot%d</text></svg>`, height*3/4, i)
		return fmt.Sprintf(`<section><figure id="f%d"><figcaption>caption%[1]d</figcaption><img width="700" height="%d" src="data:image/svg+xml;base64,%s"></figure></section>`,
			i, height, base64.StdEncoding.EncodeToString([]byte(svg)))
	}
	fonts, err := newFonts(fpdf.New("P", "pt", "A4", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	for want, cells := range map[string]string{
		"f1 f2":        figure(1, 1500) + figure(2, 1300),
		"f1 | f2":      figure(1, 1500) + "<section><p>words</p></section>" + figure(2, 1500),
		"f1 f2 | f3":   figure(1, 1500) + figure(2, 1500) + figure(3, 1500),
		"f1 | f2 | f3": figure(1, 1500) + figure(2, 300) + figure(3, 1500),
	} {
		root, err := html.Parse(strings.NewReader("<main>" + cells + "</main>"))
		if err != nil {
			t.Fatal(err)
		}
		l := &layout{fonts: fonts}
		l.blocks(root, frame{x: sideMargin, width: textWidth, style: style{family: sans, size: proseSize}})
		var rows, row []string
		for _, it := range l.items {
			if it.anchor != "" {
				row = append(row, it.anchor)
			}
			if it.height > 0 && !it.gap && len(row) > 0 {
				rows, row = append(rows, strings.Join(row, " ")), nil
			}
		}
		if got := strings.Join(rows, " | "); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}

// TestContents: the contents have the page of each heading.
func TestContents(t *testing.T) {
	var cells, contents strings.Builder
	for i := range 30 {
		fmt.Fprintf(&contents, `<li class="level-2"><a href="#h%d">Heading %[1]d</a></li>`, i)
		fmt.Fprintf(&cells, `<section class="cell prose"><h2 id="h%d">Heading %[1]d</h2>%s</section>`, i, strings.Repeat("<p>Some words of prose.</p>", 7))
	}
	pages := Texts(write(t, contents.String(), cells.String()))
	if len(pages) < 4 {
		t.Fatalf("%d pages", len(pages))
	}
	for i := range 30 {
		name := fmt.Sprintf("Heading\n%d\n", i)
		name = strings.ReplaceAll(name, "\n", "")
		page := slices.IndexFunc(pages, func(p string) bool {
			return strings.Contains(strings.ReplaceAll(p, "\n", "")+".", name+"Some")
		}) + 1
		entry := regexp.MustCompile(fmt.Sprintf(`Heading\n%d\n(\d+)\n`, i)).FindStringSubmatch(pages[0])
		if page < 1 || entry == nil || entry[1] != fmt.Sprint(page) {
			t.Errorf("%s: on page %d, the contents have %q", name, page, entry)
		}
	}
	if !strings.Contains(pages[0], fmt.Sprintf("1 / %d", len(pages))) {
		t.Errorf("the first page has no number of %d:\n%s", len(pages), pages[0])
	}
}

// TestOutline: each heading is below the last one of a higher level, although none is of
// the first level and one level is left out.
func TestOutline(t *testing.T) {
	data := string(write(t, "", `<section class="cell prose"><h2>a</h2><h4>b</h4><h4>c</h4><h2>d</h2></section>`))
	parents := map[string]int{}
	for _, entry := range regexp.MustCompile(`(\d+) 0 obj\n<</Title .*\n/Parent (\d+) 0 R`).FindAllStringSubmatch(data, -1) {
		if entry[1] == entry[2] {
			t.Errorf("entry %s is below itself", entry[1])
		}
		parents[entry[2]]++
	}
	root := regexp.MustCompile(`/Outlines (\d+) 0 R`).FindStringSubmatch(data)
	if root == nil || len(parents) != 2 || parents[root[1]] != 2 {
		t.Errorf("root %v, entries by parent %v, expected two below the root and two below the first", root, parents)
	}
}

// TestPaginate: no page ends after an item that is kept, the head of a table is
// repeated, and no page starts with a gap.
func TestPaginate(t *testing.T) {
	headRow := item{height: 10, title: "head"}
	items := []item{{height: textHeight - 30}, {height: 10, gap: true}, {height: 15, keep: true, title: "heading"}, {height: 5, gap: true, keep: true}, {height: 20, title: "first"}}
	for range 80 {
		items = append(items, item{height: 11, repeat: []item{headRow}, title: "row"})
	}
	page, heads, firstOf := 0, 0, map[int]string{}
	for _, p := range paginate(items) {
		if p.y+p.height > topMargin+textHeight+1e-9 {
			t.Errorf("%q of page %d ends at %g", p.title, p.page, p.y+p.height)
		}
		if p.page != page {
			page = p.page
			firstOf[page] = p.title
			if p.gap {
				t.Errorf("page %d starts with a gap", page)
			}
		}
		if p.title == "head" {
			heads++
		}
	}
	if firstOf[2] != "heading" || firstOf[3] != "head" || heads != 1 {
		t.Errorf("pages start with %v, %d heads, expected the heading with its text, then the head of the table", firstOf, heads)
	}
	for _, p := range paginate([]item{{height: 10, keep: true}, {height: 3 * textHeight}, {height: 10}}) {
		if p.page > 3 {
			t.Errorf("an item on page %d", p.page)
		}
	}
}

// TestWideTable: every cell of a table that is too wide is set, and each part has the
// first column.
func TestWideTable(t *testing.T) {
	var head, row strings.Builder
	for i := range 30 {
		fmt.Fprintf(&head, "<th>column%d</th>", i)
		fmt.Fprintf(&row, "<td>value%d</td>", i)
	}
	page := strings.Join(Texts(write(t, "", "<section><table><tr><th>name</th>"+head.String()+"</tr><tr><td>label</td>"+row.String()+"</tr></table></section>")), "")
	for i := range 30 {
		if !strings.Contains(page, fmt.Sprintf("value%d\n", i)) || !strings.Contains(page, fmt.Sprintf("column%d\n", i)) {
			t.Errorf("column %d is not set", i)
		}
	}
	if n := strings.Count(page, "label\n"); n < 2 {
		t.Errorf("the row's label is set %d times, expected once in each part", n)
	}
}

// TestLongLines: a long line of code and a long word are broken, not cut.
func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: this test has one goroutine")
	}
	long := strings.Repeat("abcdefghij", 50)
	page := strings.Join(Texts(write(t, "", "<section><pre><code>"+long+"</code></pre><p>"+long+"</p></section>")), "")
	if n := strings.Count(strings.ReplaceAll(page, "\n", ""), long); n != 2 {
		t.Errorf("%d of the two long words are whole", n)
	}
	if word := strings.Repeat("z", 500_000); letterCount(Texts(write(t, "", "<section><p>"+word+"</p></section>")), 'z') != len(word) {
		t.Errorf("%d letters of a word of %d", letterCount(Texts(write(t, "", "<section><p>"+word+"</p></section>")), 'z'), len(word))
	}
	if strings.Count(page, long) != 0 {
		t.Error("a line is wider than the page")
	}
	many := strings.Repeat("a line\n", 2*mostLines)
	page = strings.Join(Texts(write(t, "", "<section><pre>"+many+"</pre></section>")), "")
	if want := fmt.Sprintf("... %d more bytes", 7*mostLines); !strings.Contains(page, want) {
		t.Errorf("no line says %q", want)
	}
}

func letterCount(pages []string, r rune) (n int) {
	for _, p := range pages {
		n += strings.Count(p, string(r))
	}
	return n
}

// TestSubset: the written font has the outlines and widths of the one that was read.
func TestSubset(t *testing.T) {
	from, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	data, err := subset(from, "test", []rune("Azé€"))
	if err != nil {
		t.Fatal(err)
	}
	to, err := sfnt.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range "Azé€" {
		a, width, err := outline(from, r)
		if err != nil {
			t.Fatal(err)
		}
		b, width2, err := outline(to, r)
		if err != nil {
			t.Fatal(err)
		}
		if width != width2 || a.box() != b.box() || !slices.Equal(a.contours, b.contours) {
			t.Errorf("%q: width %d and %d, box %v and %v, contours %v and %v", r, width, width2, a.box(), b.box(), a.contours, b.contours)
		}
	}
}

// TestCubic: the quadratic curves stay within a unit of the cubic one.
func TestCubic(t *testing.T) {
	d, err := parseSVG([]byte(`<svg viewBox="0 0 10 10"><path d="M0,0C0,5 5,10 10,10A5 5 0 0 1 10 0Q5,0 0,0Z" style="fill:#102030"/></svg>`))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.shapes); n != 1 || *d.shapes[0].fill != (rgb{0x10, 0x20, 0x30}) {
		t.Fatalf("%d shapes", n)
	}
	end := d.shapes[0].path[len(d.shapes[0].path)-2].points[2]
	if end != [2]float64{0, 0} {
		t.Errorf("the path ends at %v", end)
	}
}

// undrawable are SVGs that are refused, so that the picture's pixels are taken.
var undrawable = []string{
	"", "<svg/>", "<svg viewBox='0 0 0 0'/>", "<svg viewBox='0 0 NaN 1'/>", "<svg viewBox='0 0 9 9'><image href='file:///etc/passwd'/></svg>",
	"<svg viewBox='0 0 9 9'><path d='m0 0'/></svg>", "<svg viewBox='0 0 9 9'><path d='L1,1'/></svg>", "<svg viewBox='0 0 9 9'><path d='M1'/></svg>",
	"<svg viewBox='0 0 9 9'><path d='M1e9,1L2,2' style='fill:#fff'/></svg>", "<svg viewBox='0 0 9 9'><rect fill='url(#a)'/></svg>",
	"<svg viewBox='0 0 9 9'><text x='1' y='1' font-size='9'><tspan>a</tspan></text></svg>", "<svg viewBox='0 0 9 9'><g transform='skewX(1)'/></svg>",
	"<svg viewBox='0 0 9 9'>" + strings.Repeat("<g>", 100) + strings.Repeat("</g>", 100) + "</svg>",
	`<!DOCTYPE svg [<!ENTITY a "b">]><svg viewBox='0 0 9 9'><text font-size="1">&a;</text></svg>`,
}

func TestUndrawable(t *testing.T) {
	for _, svg := range undrawable {
		if Drawable(svg) {
			t.Errorf("%.80q is drawn", svg)
		}
	}
}

func FuzzSVG(f *testing.F) {
	for _, svg := range undrawable {
		f.Add(svg)
	}
	f.Add(`<svg viewBox="0 0 525 816"><g transform="scale(1, -1) translate(0, -816)"><path d="M0,0L525,0A1 1 0 0 1 2 2Z" style="fill:#FFFFFF"/><text x="1" y="2" transform="rotate(-90)" style="font-size:9px;fill:#242424">a</text></g></svg>`)
	f.Fuzz(func(t *testing.T, svg string) {
		d, err := parseSVG([]byte(svg))
		if err != nil {
			return
		}
		pdf := fpdf.New("P", "pt", "A4", "")
		pdf.AddPage()
		shapes := d.shapes[:0]
		for _, s := range d.shapes {
			if s.text == "" {
				shapes = append(shapes, s)
			}
		}
		d.shapes = shapes
		d.draw(pdf, nil, 0, 0, 1)
		if err := pdf.Output(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}

// TestWriteFigure: the page has the size of the drawing and its text.
func TestWriteFigure(t *testing.T) {
	var b bytes.Buffer
	if err := WriteFigure(&b, `<svg viewBox="0 0 525 300"><rect width="100%" height="100%" fill="#fff"/><text x="5" y="9" style="font-size:9px;fill:#000">latency</text></svg>`); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(Texts(b.Bytes()), ""); !strings.Contains(text, "latency") || !bytes.Contains(b.Bytes(), []byte("/MediaBox [0 0 525.00 300.00]")) {
		t.Errorf("text %q, expected latency on a page of 525 x 300", text)
	}
	if err := WriteFigure(io.Discard, "<svg/>"); err == nil {
		t.Error("an SVG without a size is written")
	}
}

// TestPictures: a picture that cannot be read is a line with its description.
func TestPictures(t *testing.T) {
	for _, src := range []string{"data:image/png;base64,AAAA", "data:image/svg+xml;base64,AAAA", "data:image/png;base64,!"} {
		page := strings.Join(Texts(write(t, "", `<section><figure><figcaption>Figure 1</figcaption><img alt="latencies" src="`+src+`"></figure></section>`)), "")
		if !strings.Contains(page, "[latencies:") || !strings.Contains(page, "Figure") {
			t.Errorf("%s: no line names the picture:\n%s", src, page)
		}
	}
}

// A line that a diff removes is coloured, and no line goes through it; elsewhere removed text
// is struck.
func TestRemovedText(t *testing.T) {
	element := func(a atom.Atom) *html.Node { return &html.Node{Type: html.ElementNode, DataAtom: a} }
	for _, test := range []struct {
		in     style
		of     atom.Atom
		struck bool
		color  rgb
	}{
		{style{}, atom.Del, true, rgb{}},
		{style{}, atom.S, true, rgb{}},
		{style{}, atom.Ins, false, rgb{}},
		{style{family: mono}, atom.Del, false, failColor},
		{style{family: mono}, atom.Ins, false, passColor},
	} {
		if s := styleOf(element(test.of), test.in); s.struck != test.struck || s.color != test.color {
			t.Errorf("%v in %q: struck %v, colour %v", test.of, test.in.family, s.struck, s.color)
		}
	}
}
