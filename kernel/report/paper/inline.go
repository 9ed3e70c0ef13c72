package paper

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

type rgb struct{ r, g, b int }

// The colours of paper: those of the page in print.
var (
	ink           = rgb{0x1c, 0x21, 0x27}
	soft          = rgb{0x5d, 0x66, 0x70}
	line          = rgb{0xdf, 0xe3, 0xe8}
	ruleColor     = rgb{0x8a, 0x93, 0x9c}
	panel         = rgb{0xf6, 0xf8, 0xf9}
	accent        = rgb{0x00, 0x71, 0x8f}
	passColor     = rgb{0x17, 0x69, 0x2f}
	failColor     = rgb{0xb0, 0x20, 0x1a}
	expectedColor = rgb{0x7a, 0x52, 0x00}
	failBack      = rgb{0xfd, 0xe7, 0xe5}
	expectedBack  = rgb{0xfd, 0xf0, 0xcf}
	passBack      = rgb{0xdc, 0xf5, 0xe3}
)

// classColors are the colours of the page's classes for text.
var classColors = map[string]rgb{
	"k": {0x8a, 0x2d, 0x9c}, "p": {0x8a, 0x2d, 0x9c}, "t": accent, "s": {0x22, 0x70, 0x2f}, "m": {0xa3, 0x4b, 0x00},
	"c": {0x66, 0x72, 0x7d}, "f": {0x24, 0x56, 0xb8},
	"pass": passColor, "fail": failColor, "expected": expectedColor, "recorded": expectedColor,
	"ansi-0": soft, "ansi-7": soft, "ansi-1": failColor, "ansi-2": passColor, "ansi-3": expectedColor,
	"ansi-4": {0x24, 0x56, 0xb8}, "ansi-5": {0x8a, 0x2d, 0x9c}, "ansi-6": accent,
}

// style is the look of a text.
type style struct {
	family       string
	bold, italic bool
	size         float64
	rise         float64 // of a superscript, above the baseline
	color        rgb
	link         string
	marked       bool // inline code, on a panel
	struck       bool
}

func (s style) weight() string {
	w := ""
	if s.bold {
		w = "B"
	}
	if s.italic {
		w += "I"
	}
	return w
}

// span is text in one style.
type span struct {
	style style
	text  string
}

// hardBreak is the text of a span that ends a line.
const hardBreak = "\n"

// styleOf returns the style below an element.
func styleOf(n *html.Node, s style) style {
	switch n.DataAtom {
	case atom.B, atom.Strong, atom.Th, atom.Dt:
		s.bold = true
	case atom.I, atom.Em, atom.Cite, atom.Var:
		s.italic = true
	case atom.Code, atom.Kbd, atom.Samp:
		if s.family != mono {
			s.family, s.size, s.marked = mono, s.size*0.88, true
		}
	case atom.Small:
		s.size, s.color = s.size*0.85, soft
	case atom.Sub:
		s.rise -= s.size * 0.15
		s.size *= 0.7
	case atom.Sup:
		s.rise += s.size * 0.35
		s.size *= 0.7
	case atom.S, atom.Del, atom.Ins:
		switch code := s.family == mono; { // a line of a diff stays readable
		case code && n.DataAtom == atom.Ins:
			s.color = passColor
		case code && n.DataAtom == atom.Del:
			s.color = failColor
		default:
			s.struck = n.DataAtom != atom.Ins
		}
	case atom.A:
		if href := attribute(n, "href"); href != "" {
			s.link, s.color = href, accent
		}
	}
	for class := range strings.FieldsSeq(attribute(n, "class")) {
		if c, ok := classColors[class]; ok {
			s.color = c
		}
		if class == "ansi-bold" {
			s.bold = true
		}
	}
	return s
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttribute(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func hasClass(n *html.Node, class string) bool {
	for c := range strings.FieldsSeq(attribute(n, "class")) {
		if c == class {
			return true
		}
	}
	return false
}

// spansOf are the texts below a node. Outside of pre, white space collapses.
func spansOf(n *html.Node, s style, pre bool) (spans []span) {
	var walk func(n *html.Node, s style)
	walk = func(n *html.Node, s style) {
		switch {
		case n.Type == html.TextNode && pre:
			spans = append(spans, span{s, n.Data})
			return
		case n.Type == html.TextNode:
			spans = append(spans, span{s, collapse(n.Data)})
			return
		case n.DataAtom == atom.Br:
			spans = append(spans, span{s, hardBreak})
			return
		case n.DataAtom == atom.Input:
			mark := "☐ "
			for _, a := range n.Attr {
				if a.Key == "checked" {
					mark = "☑ "
				}
			}
			spans = append(spans, span{s, mark})
			return
		case n.DataAtom == atom.Img:
			spans = append(spans, span{s, attribute(n, "alt")})
			return
		}
		s = styleOf(n, s)
		for c := range n.ChildNodes() {
			walk(c, s)
		}
	}
	walk(n, s)
	return spans
}

// collapse makes each white space one space.
func collapse(text string) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}

// word is a text that no line ends in. It may have several styles.
type word struct {
	spans  []span
	width  float64
	before float64 // the space before it, unless it starts a line
	ends   bool    // the line ends after it
}

// isWide reports a character beside which lines may end without a space.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || 0x3000 <= r && r <= 0x303f || 0xff00 <= r && r <= 0xff60
}

const (
	neverFirst = "，。、；：？！）》」』】”’…·％,.;:?!)]}"
	neverLast  = "（《「『【“‘([{"
)

// longestWord is the number of letters after which a word is parted in any case.
const longestWord = 1000

// words parts text where lines may end.
func (f *fonts) words(spans []span) (words []word) {
	current := word{}
	started := false
	space := 0.0
	var before rune
	letters := 0
	flush := func() {
		letters = 0
		if started {
			words = append(words, current)
		}
		current, started = word{before: space}, false
		space = 0
	}
	add := func(s style, r rune) {
		s, r = f.lowered(s, r)
		if !started {
			current.before = space
			space, started = 0, true
		}
		if n := len(current.spans); n > 0 && current.spans[n-1].style == s {
			current.spans[n-1].text += string(r)
		} else {
			current.spans = append(current.spans, span{s, string(r)})
		}
		current.width += f.width(s, r)
	}
	for _, s := range spans {
		if s.text == hardBreak {
			if !started {
				started = true // an empty line
			}
			current.ends = true
			flush()
			before = 0
			continue
		}
		for _, r := range s.text {
			switch {
			case r == ' ':
				flush()
				space = f.width(s.style, ' ')
				before = 0
				continue
			case unicode.IsControl(r) || r == '\u200b' || r == '\ufeff':
				continue
			case before != 0 && (isWide(r) || isWide(before)) && !strings.ContainsRune(neverFirst, r) && !strings.ContainsRune(neverLast, before):
				flush()
			}
			if letters++; letters > longestWord {
				flush()
			}
			add(s.style, r)
			before = r
		}
	}
	flush()
	return words
}

// levels are signs and letters above and below the line that few fonts have: the
// character to set in their place, and how far above the baseline in parts of the size.
var levels = map[rune]struct {
	r    rune
	rise float64
}{
	'⁰': {'0', 0.33}, '⁴': {'4', 0.33}, '⁵': {'5', 0.33}, '⁶': {'6', 0.33}, '⁷': {'7', 0.33}, '⁸': {'8', 0.33}, '⁹': {'9', 0.33},
	'⁺': {'+', 0.33}, '⁻': {'−', 0.33}, '⁼': {'=', 0.33}, '⁽': {'(', 0.33}, '⁾': {')', 0.33}, 'ⁱ': {'i', 0.33}, 'ⁿ': {'n', 0.33}, 'ᵏ': {'k', 0.33}, 'ᵀ': {'T', 0.33},
	'₊': {'+', -0.15}, '₋': {'−', -0.15}, '₌': {'=', -0.15}, '₍': {'(', -0.15}, '₎': {')', -0.15},
	'ₐ': {'a', -0.15}, 'ₑ': {'e', -0.15}, 'ᵢ': {'i', -0.15}, 'ⱼ': {'j', -0.15}, 'ₖ': {'k', -0.15}, 'ₘ': {'m', -0.15}, 'ₙ': {'n', -0.15}, 'ₓ': {'x', -0.15},
}

// lowered sets a sign above or below the line smaller, where the font lacks it.
func (f *fonts) lowered(s style, r rune) (style, rune) {
	at, ok := levels[r]
	if !ok || f.has(s.family, r) {
		return s, r
	}
	s.rise += s.size * at.rise
	s.size *= 0.62
	return s, at.r
}

// textLine is a line of a paragraph.
type textLine struct {
	words []word
	width float64
}

// wrap parts words into lines of a width. A word that is longer is broken.
func (f *fonts) wrap(words []word, width float64) (lines []textLine) {
	var current textLine
	flush := func() {
		lines = append(lines, current)
		current = textLine{}
	}
	queue := words
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		space := w.before
		if len(current.words) == 0 {
			space = 0
		}
		if current.width+space+w.width > width && len(current.words) > 0 {
			flush()
			space = 0
		}
		if w.width > width {
			head, tail := f.breakWord(w, width)
			if len(tail.spans) > 0 {
				current.words, current.width = append(current.words, head), head.width
				flush()
				queue = append([]word{tail}, queue...)
				continue
			}
			w = head
		}
		w.before = space
		current.words = append(current.words, w)
		current.width += space + w.width
		if w.ends {
			flush()
		}
	}
	if len(current.words) > 0 {
		flush()
	}
	return lines
}

// breakWord parts a word that is wider than a line, after a mark of punctuation where
// the first part has one. The first part has at least one character.
func (f *fonts) breakWord(w word, width float64) (head, tail word) {
	type place struct{ span, at int }
	var fits, nice place
	used, n := 0.0, 0
	for i, s := range w.spans {
		for at, r := range s.text {
			used += f.width(s.style, r)
			if used > width && n > 0 {
				cut := fits
				if nice != (place{}) {
					cut = nice
				}
				return f.cutWord(w, cut.span, cut.at)
			}
			n++
			fits = place{i, at + len(string(r))}
			if strings.ContainsRune("_/.-,;:)=&?", r) && used > width/2 {
				nice = fits
			}
		}
	}
	return w, word{}
}

func (f *fonts) cutWord(w word, at, offset int) (head, tail word) {
	head.before, tail.ends = w.before, w.ends
	head.spans = append(head.spans, w.spans[:at]...)
	head.spans = append(head.spans, span{w.spans[at].style, w.spans[at].text[:offset]})
	if rest := w.spans[at].text[offset:]; rest != "" {
		tail.spans = append(tail.spans, span{w.spans[at].style, rest})
	}
	tail.spans = append(tail.spans, w.spans[at+1:]...)
	for _, s := range head.spans {
		head.width += f.textWidth(s.style, s.text)
	}
	tail.width = max(0, w.width-head.width) // added up again, a long word would take quadratic time
	return head, tail
}

// draw sets the line with its left end at x, on the baseline y.
func (l textLine) draw(p *printer, x, y float64) {
	for _, w := range l.words {
		x += w.before
		for _, s := range w.spans {
			x = p.span(s, x, y)
		}
	}
}

// span sets a text and returns its right end.
func (p *printer) span(s span, x, y float64) float64 {
	width := p.fonts.textWidth(s.style, s.text)
	if s.style.marked {
		p.fill(panel)
		p.pdf.Rect(x-1, y-s.style.size*0.85, width+2, s.style.size*1.15, "F")
	}
	p.fonts.write(s.style, x, y-s.style.rise, s.text)
	if s.style.struck {
		p.stroke(s.style.color, 0.5)
		p.pdf.Line(x, y-s.style.size*0.3, x+width, y-s.style.size*0.3)
	}
	if s.style.link != "" {
		p.link(s.style.link, x, y-s.style.size, width, s.style.size*1.3)
	}
	return x + width
}
