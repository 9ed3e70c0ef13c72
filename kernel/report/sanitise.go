package report

import (
	"html/template"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// policy lists what HTML from a notebook may use. It admits no style but how
// the text of table cells stands, no script, no form, and nothing that loads.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "div", "span", "br", "wbr", "hr", "h1", "h2", "h3", "h4", "h5", "h6",
		"b", "strong", "i", "em", "u", "s", "del", "ins", "mark", "small", "sub", "sup", "abbr", "cite", "q",
		"code", "pre", "kbd", "samp", "var", "blockquote", "ul", "ol", "li", "dl", "dt", "dd",
		"table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td",
		"details", "summary", "figure", "figcaption")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^[\p{L}\p{Nd}_-]+$`)).OnElements("h1", "h2", "h3", "h4", "h5", "h6")
	p.AllowAttrs("href").Matching(regexp.MustCompile(`(?i)^(https?://|mailto:|#)`)).OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true) // "#section"; the pattern above admits no other
	p.AllowDataURIImages()
	p.AllowAttrs("src").Matching(regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|svg\+xml);base64,`)).OnElements("img")
	p.AllowAttrs("alt", "title").OnElements("img")
	number := regexp.MustCompile(`^[0-9]{1,5}%?$`)
	p.AllowAttrs("width", "height").Matching(number).OnElements("img")
	p.AllowAttrs("colspan", "rowspan", "span", "start").Matching(number).OnElements("th", "td", "col", "colgroup", "ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowStyles("text-align").MatchingEnum("left", "right", "center").OnElements("th", "td")
	p.AllowStyles("white-space").MatchingEnum("nowrap").OnElements("th", "td")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").OnElements("input")
	p.AllowAttrs("open").OnElements("details")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^[cfkmpst]$`)).OnElements("span")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^(pass|fail|expected|long)$`)).OnElements("td")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^scroll$`)).OnElements("div")
	return p
}

// sanitise returns the part of some HTML that is safe to show, with every
// element closed that was opened (so that it cannot end the page's own), tables
// that scroll, and verdicts marked.
func sanitise(source string) template.HTML {
	context := &html.Node{Type: html.ElementNode, DataAtom: atom.Div, Data: "div"}
	nodes, err := html.ParseFragment(strings.NewReader(source), context)
	if err != nil {
		return template.HTML("<pre>" + html.EscapeString(source) + "</pre>")
	}
	for _, n := range nodes {
		context.AppendChild(n)
	}
	wrapTables(context)
	markCells(context)
	var b strings.Builder
	for n := context.FirstChild; n != nil; n = n.NextSibling {
		if err := html.Render(&b, n); err != nil {
			return template.HTML("<pre>" + html.EscapeString(source) + "</pre>")
		}
	}
	return template.HTML(policy.Sanitize(b.String())) // last, so that nothing comes after it
}

// wrapTables puts each table into a box that scrolls: a wide one must not make
// the page wide.
func wrapTables(root *html.Node) {
	var tables []*html.Node
	for n := range root.Descendants() {
		if n.DataAtom == atom.Table {
			tables = append(tables, n)
		}
	}
	for _, table := range tables {
		box := &html.Node{
			Type: html.ElementNode, DataAtom: atom.Div, Data: "div",
			Attr: []html.Attribute{{Key: "class", Val: "scroll"}},
		}
		table.Parent.InsertBefore(box, table)
		table.Parent.RemoveChild(table)
		box.AppendChild(table)
	}
}

// verdicts are the words of a correctness table, and how their cell is shown.
var verdicts = map[string]string{
	"PASS":                    "pass",
	"FAIL":                    "fail",
	"FAIL (expected)":         "expected",
	"PASS (failure expected)": "fail",
}

// longText is from how many characters on a table cell is given some width.
const longText = 48

// number is one whose digits are grouped, or that has a sign behind it.
var number = regexp.MustCompile(`\d+( \d{3}\b)*( %)?`)

func markCells(root *html.Node) {
	for n := range root.Descendants() {
		if n.DataAtom != atom.Td {
			continue
		}
		for d := range n.Descendants() {
			if d.Type == html.TextNode { // where a table is wide cells break their lines, but not in a number
				d.Data = number.ReplaceAllStringFunc(d.Data, func(n string) string { return strings.ReplaceAll(n, " ", "\u00a0") })
			}
		}
		text := strings.TrimSpace(nodeText(n))
		if class := verdicts[text]; class != "" {
			n.Attr = append(n.Attr, html.Attribute{Key: "class", Val: class})
		} else if len([]rune(text)) >= longText {
			n.Attr = append(n.Attr, html.Attribute{Key: "class", Val: "long"})
		}
	}
}

func nodeText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
