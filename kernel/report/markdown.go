package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"warpbook/kernel/leaf/highlight"
	"warpbook/kernel/nbformat"
)

// heading is a heading of the notebook.
type heading struct {
	Level    int
	ID, Text string
}

// prose renders the markdown of one notebook, and collects its headings.
type prose struct {
	markdown goldmark.Markdown
	usedIDs  map[string]bool
	next     map[string]int // the next number to try for a heading of that text
	headings []heading
	phrases  *phrases // in the language of the notebook

	glossary     *glossary // nil: the notebook links to no definitions, or the page is printed
	environments []*environment
	shownOnce    map[string]part // tables and figures by their content

	numbers numbering
	vectors func(svg string) bool // whether the output can show an SVG; nil: any
}

// newProse reserves the IDs that the page gives to cells.
func newProse(nb *nbformat.Notebook) *prose {
	used := map[string]bool{}
	for _, c := range nb.Cells {
		used["cell-"+c.ID] = true
	}
	return &prose{usedIDs: used, next: map[string]int{}, shownOnce: map[string]part{}, phrases: phrasesIn(nb.Language()), markdown: goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithParagraphTransformers(util.Prioritized(bounded{}, 1))),
		goldmark.WithRendererOptions(
			gmhtml.WithUnsafe(), // sanitise filters, for markdown and outputs alike
			renderer.WithNodeRenderers(util.Prioritized(codeBlocks{}, 100)),
		),
	)}
}

// cell returns safe HTML of a markdown cell, and collects its headings.
func (p *prose) cell(c *nbformat.Cell) template.HTML {
	if reason := unparsed(c.Source); reason != "" {
		return unrendered("Markdown", reason, c.Source)
	}
	doc := p.parse(c.Source)
	p.gatherHeadings(doc, []byte(c.Source))
	return p.render(doc, c.Source, c.Attachments)
}

// output returns safe HTML of a markdown output.
func (p *prose) output(source string) template.HTML {
	if reason := unparsed(source); reason != "" {
		return unrendered("Markdown", reason, source)
	}
	return p.render(p.parse(source), source, nil)
}

// unparsed returns why Markdown is not parsed, "" if it is parsed.
func unparsed(source string) string {
	if tooNested(source) {
		return fmt.Sprintf("its lists and quotes are nested more than %d deep", mostLevels)
	}
	return tooLong(source)
}

func (p *prose) parse(source string) ast.Node {
	return p.markdown.Parser().Parse(text.NewReader([]byte(source)))
}

func (p *prose) render(doc ast.Node, source string, attachments map[string]map[string]any) template.HTML {
	embedPictures(doc, attachments)
	var b bytes.Buffer
	if err := p.markdown.Renderer().Render(&b, []byte(source), doc); err != nil {
		return asText(source)
	}
	return sanitiseWith(b.String(), p.glossary.link)
}

// inline is the HTML of a line of Markdown, without its paragraph.
func (p *prose) inline(source string) template.HTML {
	var b bytes.Buffer
	if err := p.markdown.Renderer().Render(&b, []byte(source), p.parse(source)); err != nil {
		return asText(source)
	}
	return sanitise(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), "<p>"), "</p>"))
}

// gatherHeadings gives every heading an ID, the link target of the contents.
func (p *prose) gatherHeadings(doc ast.Node, source []byte) {
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			text := plainText(h, source)
			id := p.newID(text)
			h.SetAttributeString("id", []byte(id))
			p.headings = append(p.headings, heading{h.Level, id, text})
		}
		return ast.WalkContinue, nil
	})
}

// newID makes an ID as GitHub does, unique in the page. goldmark's IDs drop every
// letter that is not ASCII.
func (p *prose) newID(text string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(text))
	if slug == "" {
		slug = "section"
	}
	id := slug
	for p.usedIDs[id] {
		p.next[slug]++
		id = fmt.Sprintf("%s-%d", slug, p.next[slug])
	}
	p.usedIDs[id] = true
	return id
}

// plainText returns the text below a node without its markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(util.UnescapePunctuations(n.Value(source)))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return html.UnescapeString(b.String())
}

// embedPictures embeds attachments in the page, and replaces every picture outside the
// notebook by a link: the page requests nothing.
func embedPictures(doc ast.Node, attachments map[string]map[string]any) {
	var pictures []*ast.Image
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if picture, ok := n.(*ast.Image); ok && entering {
			pictures = append(pictures, picture)
		}
		return ast.WalkContinue, nil
	})
	for _, picture := range pictures {
		destination := string(picture.Destination)
		if name, ok := strings.CutPrefix(destination, "attachment:"); ok {
			_, destination = pictureOf(attachments[name])
			picture.Destination = []byte(destination)
		}
		if !strings.HasPrefix(destination, "data:") {
			replaceByLink(picture)
		}
	}
}

func replaceByLink(picture *ast.Image) {
	link := ast.NewLink()
	link.Destination, link.Title = picture.Destination, picture.Title
	for child := picture.FirstChild(); child != nil; child = picture.FirstChild() {
		link.AppendChild(link, child)
	}
	if link.FirstChild() == nil {
		link.AppendChild(link, ast.NewString(util.EscapeHTML(picture.Destination)))
	}
	picture.Parent().ReplaceChild(picture.Parent(), picture, link)
}

// pictureTypes are the MIME types of pictures, the richest first.
var pictureTypes = []string{"image/svg+xml", "image/png", "image/jpeg", "image/webp", "image/gif"}

// pictureOf returns the richest picture of a MIME bundle as a data URI, or "". In a
// notebook SVG is text, the other types are base64.
func pictureOf(data map[string]any) (mime, uri string) {
	for _, mime := range pictureTypes {
		content, ok := data[mime].(string)
		if !ok {
			continue
		}
		if mime == "image/svg+xml" {
			content = base64.StdEncoding.EncodeToString([]byte(content))
		}
		content = strings.Join(strings.Fields(content), "")
		if _, err := base64.StdEncoding.DecodeString(content); err == nil {
			return mime, "data:" + mime + ";base64," + content
		}
	}
	return "", ""
}

// codeBlocks renders fenced code with highlighting.
type codeBlocks struct{}

func (codeBlocks) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			block := n.(*ast.FencedCodeBlock)
			code := strings.TrimRight(string(block.Lines().Value(source)), "\n")
			text := changedLines(code)
			if language := string(block.Language(source)); language != "diff" {
				text = highlight.HTML(code, language, highlight.Class)
			}
			fmt.Fprintf(w, "<pre><code>%s</code></pre>\n", text)
		}
		return ast.WalkSkipChildren, nil
	})
	reg.Register(kindTextBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			fmt.Fprint(w, unrendered("a paragraph", n.(*textBlock).reason, string(n.Lines().Value(source))))
		}
		return ast.WalkSkipChildren, nil
	})
}

// changedLines is a diff as HTML, whose text is the diff: lines that it adds and removes are
// marked.
func changedLines(diff string) string {
	lines := strings.Split(diff, "\n")
	for i, line := range lines {
		lines[i] = template.HTMLEscapeString(line)
		for mark, element := range map[string]string{"+": "ins", "-": "del"} {
			if strings.HasPrefix(line, mark) {
				lines[i] = "<" + element + ">" + lines[i] + "</" + element + ">"
			}
		}
	}
	return strings.Join(lines, "\n")
}
