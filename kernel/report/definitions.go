package report

import (
	"cmp"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/nbformat"
	"warpbook/notebooks"
)

// definition is a word of notebooks/definitions.md with its meaning. A page has those that it
// uses, because the links of a notebook to that file lead nowhere from a page.
type definition struct {
	ID            string
	Term, Meaning template.HTML
	used          bool
}

// glossary finds the words of the definitions in prose.
type glossary struct {
	Section     string // id of the definitions on the page
	definitions []*definition
	byWord      map[string]*definition
	words       *regexp.Regexp // the longest first
}

// definitionLink is what the notebooks call the file of definitions.
var definitionLink = regexp.MustCompile(`^definitions(\.zh)?\.md$`)

// glossaryOf is the glossary of a notebook that links to the definitions, nil for any other.
// inline renders a line of Markdown.
func glossaryOf(nb *nbformat.Notebook, newID func(text string) string, inline func(source string) template.HTML) *glossary {
	linked := func(c *nbformat.Cell) bool {
		return c.Type == nbformat.Markdown && (strings.Contains(c.Source, "](definitions.md)") || strings.Contains(c.Source, "](definitions.zh.md)"))
	}
	if !slices.ContainsFunc(nb.Cells, linked) {
		return nil
	}
	text, inChinese := notebooks.Definitions, strings.HasPrefix(strings.ToLower(nb.Language()), "zh")
	if inChinese {
		text = notebooks.ChineseDefinitions
	}
	g := &glossary{Section: newID("definitions"), byWord: map[string]*definition{}}
	var words []string
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		term, row := strings.CutPrefix(cells[0], "| ")
		if !row || len(cells) != 2 || strings.HasPrefix(cells[1], "---") || cells[1] == "meaning |" || cells[1] == "含义 |" {
			continue
		}
		d := &definition{ID: newID("term-" + term), Term: inline(term), Meaning: inline(strings.TrimSuffix(cells[1], " |"))}
		g.definitions = append(g.definitions, d)
		for _, word := range wordsOf(term, inChinese) {
			g.byWord[keyOf(word)] = d
			words = append(words, regexp.QuoteMeta(word))
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	g.words = regexp.MustCompile(`(?i)(?:` + strings.Join(words, "|") + `)s?`)
	return g
}

// wordsOf are the words of the first column of a definition, such as "library, peer" and
// "multiprocessor (SM)". On an English page Chinese words do not count, and on a Chinese one
// neither single letters, which are parts of other words, nor those of the verdicts.
func wordsOf(term string, inChinese bool) (words []string) {
	chineseCounts := inChinese && !strings.Contains(term, "FASTER")
	for word := range strings.FieldsFuncSeq(term, func(r rune) bool { return strings.ContainsRune("()（），,、`", r) }) {
		word = strings.TrimSpace(word)
		han := strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Han, r) })
		if word != "" && (!han || chineseCounts && utf8.RuneCountInString(word) > 1) {
			words = append(words, word)
		}
	}
	return words
}

// keyOf is a word without its case, but for words of capitals: SAME is a verdict, same is none.
func keyOf(word string) string {
	if word == strings.ToUpper(word) {
		return word
	}
	return strings.ToLower(word)
}

// link makes links to the definitions: of the notebook's link to their file, and of the first
// use of each word in prose.
func (g *glossary) link(root *html.Node) {
	if g == nil {
		return
	}
	var texts []*html.Node
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch n.DataAtom {
		case atom.A:
			for i, a := range n.Attr {
				if a.Key == "href" && definitionLink.MatchString(a.Val) {
					n.Attr[i].Val = "#" + g.Section
				}
			}
			return
		case atom.Code, atom.Pre, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Summary:
			return
		}
		if n.Type == html.TextNode {
			texts = append(texts, n)
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(root)
	for _, n := range texts {
		g.linkText(n)
	}
}

// linkText parts a text at the first uses of words.
func (g *glossary) linkText(n *html.Node) {
	rest, done := n.Data, 0
	for _, at := range g.words.FindAllStringIndex(n.Data, -1) {
		word := n.Data[at[0]:at[1]]
		d := cmp.Or(g.byWord[keyOf(word)], g.byWord[keyOf(strings.TrimSuffix(word, "s"))])
		if d == nil || d.used || insideWord(n.Data, at[0], at[1]) {
			continue
		}
		d.used = true
		n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: n.Data[done:at[0]]}, n)
		link := &html.Node{Type: html.ElementNode, DataAtom: atom.A, Data: "a", Attr: []html.Attribute{{Key: "href", Val: "#" + d.ID}, {Key: "title", Val: plainOf(d.Meaning)}}}
		link.AppendChild(&html.Node{Type: html.TextNode, Data: word})
		n.Parent.InsertBefore(link, n)
		done = at[1]
		rest = n.Data[done:]
	}
	n.Data = rest
}

// insideWord reports whether a part of a text begins or ends within a word of Latin letters.
func insideWord(s string, from, to int) bool {
	latin := func(b byte) bool {
		return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
	}
	return from > 0 && latin(s[from-1]) && latin(s[from]) || to < len(s) && latin(s[to]) && latin(s[to-1])
}

// plainOf is the text of some HTML.
func plainOf(h template.HTML) string {
	root, err := html.Parse(strings.NewReader(string(h)))
	if err != nil {
		return ""
	}
	return nodeText(root)
}

// Used are the definitions of the words that a page uses, in the order of their file.
func (g *glossary) Used() (list []*definition) {
	for _, d := range g.definitions {
		if d.used {
			list = append(list, d)
		}
	}
	return list
}
