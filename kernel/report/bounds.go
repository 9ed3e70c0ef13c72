package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"

	"warpbook/kernel/leaf/lazyregexp"
)

// The limits of rendered input. Parsers of Markdown and HTML take quadratic time beyond
// them. No notebook written by a person comes near.
const (
	mostDelimiters = 4_000   // in one paragraph, or in one row of a table
	mostLevels     = 100     // of lists and quotes
	mostOpen       = 512     // elements of HTML
	mostAttributes = 256     // of one element
	mostIndented   = 32      // levels of JSON
	mostJSON       = 1 << 20 // bytes of JSON
)

// unrendered shows a source as text, below the reason in a line.
func unrendered(what, reason, source string) template.HTML {
	return template.HTML("<p>" + html.EscapeString(notice(what, len(source), reason)) + "</p><pre>" + html.EscapeString(source) + "</pre>")
}

func notice(what string, size int, reason string) string {
	return fmt.Sprintf("%s of %d bytes is shown as text: %s", what, size, reason)
}

var nestedLine = lazyregexp.New(`(?m)^[ \t]{400,}([-+*>]|\d{1,9}[.)])|^([ \t]*([-+*>]|\d{1,9}[.)])[ \t]*){101,}`)

// tooNested reports whether Markdown has more than mostLevels lists or quotes
// within each other.
func tooNested(source string) bool { return nestedLine().MatchString(source) }

// bounded replaces paragraphs that take too long to parse by their text. It runs before
// any other transformer of paragraphs.
type bounded struct{}

func (bounded) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	lines, source := p.Lines(), reader.Source()
	reason := tooMuch(string(lines.Value(source)))
	if reason == "" {
		return
	}
	block := &textBlock{reason: reason}
	block.SetLines(lines)
	p.Parent().ReplaceChild(p.Parent(), p, block)
}

// textBlock is a paragraph that is shown as text.
type textBlock struct {
	ast.BaseBlock
	reason string
}

var kindTextBlock = ast.NewNodeKind("TextBlock of warpbook")

func (*textBlock) Kind() ast.NodeKind              { return kindTextBlock }
func (*textBlock) IsRaw() bool                     { return true } // its content is not parsed
func (b *textBlock) Dump(source []byte, level int) { ast.DumpHelper(b, source, level, nil, nil) }

// tooMuch returns why a paragraph is not rendered, "" if it is rendered.
func tooMuch(paragraph string) string {
	delimiters, rows := 0, strings.Count(paragraph, "\n")+1
	first, _, _ := strings.Cut(paragraph, "\n")
	if cells := strings.Count(first, "|") * rows; cells > len(paragraph) {
		return fmt.Sprintf("as a table it has %d cells", cells)
	}
	for line := range strings.Lines(paragraph) {
		if strings.Contains(line, "|") {
			delimiters = 0 // each cell of a table is parsed separately
		}
		for _, c := range []byte(line) {
			switch c {
			case '*', '_', '[', ']', '~', '<':
				delimiters++
			}
		}
		if delimiters > mostDelimiters {
			return fmt.Sprintf("it has more than %d of *_[]~<", mostDelimiters)
		}
	}
	return ""
}

// tooLong returns why a heading, which is one line, is not parsed.
func tooLong(source string) string {
	for line := range strings.Lines(source) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t>-+*"), "#") {
			if reason := tooMuch(line); reason != "" {
				return "a heading: " + reason
			}
		}
	}
	return ""
}

// hostileHTML returns why HTML is not parsed, "" if it is parsed.
func hostileHTML(source string) string {
	open, z := 0, html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			name, more := z.TagName()
			if !void[string(name)] {
				open++
			}
			for n := 1; more; n++ {
				if _, _, more = z.TagAttr(); n > mostAttributes {
					return fmt.Sprintf("an element has more than %d attributes", mostAttributes)
				}
			}
			if open > mostOpen {
				return fmt.Sprintf("more than %d elements are open", mostOpen)
			}
		case html.EndTagToken:
			open = max(0, open-1)
		}
	}
}

// void are elements without an end tag, or with an optional one.
var void = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(`area base br col embed hr img input link meta source track wbr
		li dt dd p tr td th thead tbody tfoot option colgroup`) {
		set[name] = true
	}
	return set
}()

// indented writes JSON with limited indentation, so that its size stays near that of
// the content, and cuts it at mostJSON.
func indented(value any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	out := b.String()
	if jsonDepth(out) <= mostIndented {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, b.Bytes(), "", "  "); err != nil {
			return "", err
		}
		out = pretty.String()
	}
	if len(out) > mostJSON {
		out = strings.ToValidUTF8(out[:mostJSON], "") + fmt.Sprintf("\n... %d bytes of JSON, %d shown", len(out), mostJSON)
	}
	return out, nil
}

// jsonDepth returns how deeply arrays and objects are nested.
func jsonDepth(data string) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}
