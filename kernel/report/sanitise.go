package report

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/leaf/record"
)

// policy lists the HTML that a notebook may use. It admits no style except the
// alignment of table cells, no script, no form, and nothing that loads a resource.
// It is made at its first use: it takes 0.5 MB and 0.7 ms, which most commands do not
// need.
var policy = sync.OnceValue(newPolicy)

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
	p.AllowRelativeURLs(true) // "#section"; the pattern above admits no other relative URL
	p.AllowDataURIImages()
	p.AllowAttrs("src").Matching(regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|svg\+xml);base64,`)).OnElements("img")
	p.AllowAttrs("alt", "title").OnElements("img")
	p.AllowAttrs("title").OnElements("a") // a definition
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
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^number$`)).OnElements("a", "p")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^table-[\p{L}\p{Nd}_-]+$`)).OnElements("p")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre", "div")
	p.AllowAttrs("role").Matching(regexp.MustCompile(`^group$`)).OnElements("div")
	p.AllowAttrs("aria-label").Matching(regexp.MustCompile(`^` + tableLabel + `$`)).OnElements("div")
	return p
}

// sanitise returns the safe part of some HTML. It closes every open element (so that
// none can end the page's own elements), makes tables scroll, and marks verdicts.
func sanitise(source string) template.HTML { return sanitiseWith(source, func(*html.Node) {}) }

// sanitiseWith is sanitise with a last change of the elements. Only decorate can give a
// paragraph an id.
func sanitiseWith(source string, decorate func(root *html.Node)) template.HTML {
	if reason := hostileHTML(source); reason != "" {
		return unrendered("HTML", reason, source)
	}
	context := &html.Node{Type: html.ElementNode, DataAtom: atom.Div, Data: "div"}
	nodes, err := html.ParseFragment(strings.NewReader(source), context)
	if err != nil {
		return asText(source)
	}
	for _, n := range nodes {
		context.AppendChild(n)
	}
	dropNumbers(context)
	wrapTables(context)
	focusCode(context)
	markCells(context)
	decorate(context)
	var b strings.Builder
	for n := context.FirstChild; n != nil; n = n.NextSibling {
		if err := html.Render(&b, n); err != nil {
			return asText(source)
		}
	}
	return template.HTML(policy().Sanitize(b.String())) // last, so that no later step can add unsafe HTML
}

// asText shows unparsable HTML as text.
func asText(source string) template.HTML {
	return template.HTML(`<pre tabindex="0">` + html.EscapeString(source) + "</pre>")
}

// dropNumbers removes what only numberTables may write.
func dropNumbers(root *html.Node) {
	for n := range root.Descendants() {
		if n.DataAtom == atom.P || n.DataAtom == atom.A {
			n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "id" || a.Key == "class" })
		}
	}
}

// tableLabel is the name of a table's box for screen readers.
const tableLabel = "table"

// focusCode makes each block of code focusable by keyboard: a long line scrolls.
func focusCode(root *html.Node) {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Pre {
			n.Attr = []html.Attribute{{Key: "tabindex", Val: "0"}} // the policy allows no other attribute of a block
		}
	}
}

// wrapTables puts each table into a focusable box that scrolls: a wide table must not
// widen the page.
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
			Attr: []html.Attribute{{Key: "class", Val: "scroll"}, {Key: "tabindex", Val: "0"}, {Key: "role", Val: "group"}, {Key: "aria-label", Val: tableLabel}},
		}
		table.Parent.InsertBefore(box, table)
		table.Parent.RemoveChild(table)
		box.AppendChild(table)
	}
}

// verdicts are the words of a correctness table, and the styles of their cells.
var verdicts = map[string]string{
	record.Pass:           "pass",
	record.Fail:           "fail",
	record.FailExpected:   "expected",
	record.PassUnexpected: "fail",
}

// longText is the number of characters from which a table cell gets a minimum width.
const longText = 48

// number matches a number with grouped digits, or with a percent sign after it.
var number = lazyregexp.New(`\d+( \d{3}\b)*( %)?`)

func markCells(root *html.Node) {
	for n := range root.Descendants() {
		if n.DataAtom != atom.Td {
			continue
		}
		for d := range n.Descendants() {
			if d.Type == html.TextNode { // wide tables break lines in cells, but not inside a number
				d.Data = number().ReplaceAllStringFunc(d.Data, func(n string) string { return strings.ReplaceAll(n, " ", "\u00a0") })
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
