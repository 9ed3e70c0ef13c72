//go:build !windows

package main

import (
	"strings"
	"testing"
	"time"
)

// play shows a cell whose output is steps. A step "id:text" is a display with
// that id, ":text" one without, anything else output; "+" lets a minute pass.
func play(terminal, quiet bool, steps ...string) string {
	var b strings.Builder
	s := &screen{w: &b, terminal: terminal, quiet: quiet}
	s.begin(&cellRun{number: 2, title: "Title"}, 10)
	for _, step := range steps {
		id, text, display := strings.Cut(step, ":")
		switch {
		case step == "+":
			s.shown = s.shown.Add(-time.Minute)
		case display:
			s.display(id, text)
		default:
			s.text(step)
		}
	}
	s.end(1500 * time.Millisecond)
	return b.String()
}

func TestScreen(t *testing.T) {
	const rewrite = "\r\x1b[K"
	for _, test := range []struct {
		name           string
		file, terminal string
		steps          []string
	}{
		{"nothing", "[ 2/10] Title  1.50 s\n", "[ 2/10] Title  1.50 s\n", nil},
		{"lines", "[ 2/10] Title\na\nb\n  1.50 s\n", "[ 2/10] Title\na\nb\n  1.50 s\n", []string{"a\n", "b\n"}},
		{"half a line", "[ 2/10] Title\nab\n  1.50 s\n", "[ 2/10] Title\nab\n  1.50 s\n", []string{"a", "b"}},
		{"display after half a line", "[ 2/10] Title\na\nx\ny\nb\n  1.50 s\n", "[ 2/10] Title\na\nx\ny\nb\n  1.50 s\n", []string{"a", ":x\ny", "b"}},
		{"colours", "[ 2/10] Title\nred\n  1.50 s\n", "[ 2/10] Title\n\x1b[31mred\x1b[0m\n  1.50 s\n", []string{"\x1b[31mred\x1b[0m"}},
		{"progress", "[ 2/10] Title\n1%\n9%\n  1.50 s\n", "[ 2/10] Title\n1%" + rewrite + "9%\n  1.50 s\n",
			[]string{"p:1%", "p:2%", "p:9%"}},
		{"slow progress", "[ 2/10] Title\n1%\n2%\n9%\n  1.50 s\n", "[ 2/10] Title\n1%" + rewrite + "2%" + rewrite + "9%\n  1.50 s\n",
			[]string{"p:1%", "+", "p:2%", "+", "p:9%"}},
		{"progress that is done", "[ 2/10] Title\n1%\n  1.50 s\n", "[ 2/10] Title\n1%" + rewrite + "  1.50 s\n",
			[]string{"p:1%", "p:2%", "p:"}},
		{"output ends progress", "[ 2/10] Title\n1%\n2%\na\n9%\n  1.50 s\n", "[ 2/10] Title\n1%" + rewrite + "2%\na\n9%\n  1.50 s\n",
			[]string{"p:1%", "p:2%", "a\n", "+", "p:9%"}},
	} {
		for _, terminal := range []bool{false, true} {
			want := test.file
			if terminal {
				want = test.terminal
			}
			if got := play(terminal, false, test.steps...); got != want {
				t.Errorf("%s, terminal %v: %q, expected %q", test.name, terminal, got, want)
			}
		}
		if got := play(false, true, test.steps...); got != "[ 2/10] Title  1.50 s\n" {
			t.Errorf("%s, quiet: %q", test.name, got)
		}
	}
}

func TestTitles(t *testing.T) {
	for markdown, want := range map[string]string{
		"# A": "A", "text\n## B c \nmore": "B c", "no heading": "", "#tag": "", "# A\n```\n# not\n```": "A", "# A\n### C": "C",
	} {
		if got := lastHeading(markdown); got != want {
			t.Errorf("lastHeading(%q) = %q, expected %q", markdown, got, want)
		}
	}
	for code, want := range map[string]string{
		"\n\n// What it does\nx := 1": "What it does", "x := 1": "x := 1", "import (\n\t\"fmt\"\n)": "imports",
	} {
		if got := firstLine(code); got != want {
			t.Errorf("firstLine(%q) = %q, expected %q", code, got, want)
		}
	}
}
