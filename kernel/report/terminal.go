package report

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// escapes are the control sequences that programs send to a terminal; only the
// colours among them (ending in m) have an effect here.
var escapes = lazyregexp.New("\x1b(?:\\[[0-9;:?<=>]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\^_])")

// terminal returns text as HTML in the state that a terminal shows at the end: with
// colours and bold, and without text that a carriage return has overwritten.
func terminal(text string) template.HTML {
	text = overwrite(text)
	var b strings.Builder
	var style textStyle
	end := 0
	for _, place := range escapes().FindAllStringIndex(text, -1) {
		style.write(&b, text[end:place[0]])
		style.apply(text[place[0]:place[1]])
		end = place[1]
	}
	style.write(&b, text[end:])
	return template.HTML(b.String())
}

// overwrite keeps of each line the text after its last carriage return: a progress bar
// shows its last state.
func overwrite(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

// textStyle is the effect of the colour sequences so far.
type textStyle struct {
	bold  bool
	color int // 1 to 8, or 9 to 16 for the bright ones; 0: the page's own
}

func (s *textStyle) write(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	var classes []string
	if s.bold {
		classes = append(classes, "ansi-bold")
	}
	if s.color > 0 {
		classes = append(classes, fmt.Sprintf("ansi-%d", (s.color-1)%8))
	}
	if len(classes) == 0 {
		b.WriteString(html.EscapeString(text))
		return
	}
	fmt.Fprintf(b, `<span class="%s">%s</span>`, strings.Join(classes, " "), html.EscapeString(text))
}

func (s *textStyle) apply(sequence string) {
	body, ok := strings.CutPrefix(sequence, "\x1b[")
	if !ok || !strings.HasSuffix(body, "m") {
		return
	}
	codes := strings.Split(strings.TrimSuffix(body, "m"), ";")
	for i := 0; i < len(codes); i++ {
		code, err := strconv.Atoi(codes[i])
		if err != nil && codes[i] != "" {
			return
		}
		switch {
		case code == 0:
			*s = textStyle{}
		case code == 1:
			s.bold = true
		case code == 22:
			s.bold = false
		case code >= 30 && code <= 37:
			s.color = code - 30 + 1
		case code >= 90 && code <= 97:
			s.color = code - 90 + 9
		case code == 39:
			s.color = 0
		case code == 38 || code == 48: // 38;5;n or 38;2;r;g;b: the page does not show such colours
			if i+1 < len(codes) && codes[i+1] == "5" {
				i += 2
			} else {
				i += 4
			}
		}
	}
}
