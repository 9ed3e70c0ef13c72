package paper

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// code sets preformatted text. A long line wraps, indented.
func (l *layout) code(n *html.Node, fr frame) {
	s := fr.style
	s.family, s.size, s.marked = mono, codeSize, false
	source := isSource(n)
	switch {
	case source:
		fr = fr.inset(7, 7)
		fr.back = &panel
	case fr.back == nil:
		fr = fr.inset(9, 0)
		fr.border = &line
	}
	lines := splitLines(spansOf(n, s, true))
	for len(lines) > 0 && len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	if !source {
		s.size = l.shrink(lines, s.size, fr.width)
	}
	l.space(4)
	from := len(l.items)
	if source {
		l.strip(fr, 4)
	}
	for _, ln := range lines {
		l.codeLine(ln, s, fr)
	}
	if source {
		l.strip(fr, 4)
	}
	// Neither the first two pieces nor the last two are separated.
	for i := from; i+1 < len(l.items); i++ {
		if i < from+2 || i >= len(l.items)-3 {
			l.items[i].keep = true
		}
	}
	l.space(4)
}

// shrink sets a drawing in letters smaller, so that its lines are not broken, and
// returns the size.
func (l *layout) shrink(lines [][]span, size, width float64) float64 {
	const least = 4.4
	longest := 0.0
	for _, ln := range lines {
		used := 0.0
		for _, s := range ln {
			used += l.fonts.textWidth(s.style, s.text)
		}
		longest = max(longest, used)
	}
	smaller := size * width / longest
	if longest <= width || smaller < least {
		return size
	}
	for _, ln := range lines {
		for i := range ln {
			ln[i].style.size *= smaller / size
		}
	}
	return smaller
}

// isSource reports a block of code, as opposed to an output.
func isSource(n *html.Node) bool {
	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Code {
			return true
		}
	}
	return false
}

// strip is empty space of a block with a background.
func (l *layout) strip(fr frame, height float64) {
	l.add(item{height: height, draw: func(p *printer, y float64) { fr.decorate(p, y, height) }})
}

// splitLines parts preformatted text at line ends, with tabs as spaces.
func splitLines(spans []span) [][]span {
	lines := [][]span{nil}
	column := 0
	for _, s := range spans {
		var b strings.Builder
		flush := func() {
			if b.Len() > 0 {
				last := len(lines) - 1
				lines[last] = append(lines[last], span{s.style, b.String()})
				b.Reset()
			}
		}
		for _, r := range s.text {
			switch {
			case r == '\n':
				flush()
				lines = append(lines, nil)
				column = 0
			case r == '\t':
				n := 4 - column%4
				b.WriteString(strings.Repeat(" ", n))
				column += n
			case unicode.IsControl(r):
			default:
				b.WriteRune(r)
				column++
			}
		}
		flush()
	}
	return lines
}

// mostRunes are the characters of one line that are set.
const mostRunes = 20_000

// codeLine sets a line, wrapped after its last space if it is too long.
func (l *layout) codeLine(spans []span, s style, fr frame) {
	height := s.size * 1.25
	add := func(x float64, piece []span) {
		l.add(item{height: height, draw: func(p *printer, y float64) {
			fr.decorate(p, y, height)
			at := x
			for _, s := range piece {
				at = p.span(s, at, y+s.style.size)
			}
		}})
	}
	indent := 0.0
	for rest := cutRunes(spans, mostRunes); ; {
		piece, after := l.fit(rest, fr.width-indent)
		add(fr.x+indent, piece)
		if len(after) == 0 {
			return
		}
		l.keepNext()
		if indent == 0 {
			indent = min(l.indentation(spans)+4*l.fonts.width(s, ' '), fr.width/2)
		}
		rest = after
	}
}

// cutRunes truncates a line to a number of characters.
func cutRunes(spans []span, most int) []span {
	n := 0
	for i, s := range spans {
		for at := range s.text {
			if n++; n > most {
				cut := append([]span(nil), spans[:i+1]...)
				cut[i].text = s.text[:at] + " ..."
				return cut
			}
		}
	}
	return spans
}

// indentation is the width of the spaces that start a line.
func (l *layout) indentation(spans []span) (width float64) {
	for _, s := range spans {
		for _, r := range s.text {
			if r != ' ' {
				return width
			}
			width += l.fonts.width(s.style, r)
		}
	}
	return width
}

// fit parts a line of code where it reaches a width: behind a space in its second
// half, or else anywhere.
func (l *layout) fit(spans []span, width float64) (head, tail []span) {
	used := 0.0
	cutSpan, cutAt := -1, 0
	for i, s := range spans {
		for at, r := range s.text {
			used += l.fonts.width(s.style, r)
			if used > width && (i > 0 || at > 0) {
				if cutSpan < 0 {
					cutSpan, cutAt = i, at
				}
				head = append(append(head, spans[:cutSpan]...), span{spans[cutSpan].style, spans[cutSpan].text[:cutAt]})
				tail = append(append(tail, span{spans[cutSpan].style, spans[cutSpan].text[cutAt:]}), spans[cutSpan+1:]...)
				return head, tail
			}
			if (r == ' ' || r == ',') && used > width/2 {
				cutSpan, cutAt = i, at+1
			}
		}
	}
	return spans, nil
}
