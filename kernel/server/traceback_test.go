package server

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
)

// TestStyled: colours are added to a traceback and no text is lost; a compile error gets
// its name.
func TestStyled(t *testing.T) {
	colours := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, test := range []struct {
		name      string
		traceback []string
		want      string
	}{
		{"panic", []string{"panic: no\nline", "cell 6, line 2, in third\n    return x[3]", "subshell 2, cell 1, line 4"},
			"\x1b[1;31mpanic\x1b[0m: no\nline|\x1b[32mcell 6, line 2\x1b[0m, in third\n    return x[3]|\x1b[32msubshell 2, cell 1, line 4\x1b[0m"},
		{"compile error", []string{"cell 5:1:2: undefined: x\n    +x\n     ^", "cell 5:2:1: y"},
			"\x1b[1;31mcompile error\x1b[0m: \x1b[32mcell 5:1:2\x1b[0m: undefined: x\n    +x\n     \x1b[1;31m^\x1b[0m|\x1b[32mcell 5:2:1\x1b[0m: y"},
		{"interrupted", []string{"while 3 ^ 4", "^"}, "while 3 ^ 4|^"},
		{"panic", nil, ""},
	} {
		given := slices.Clone(test.traceback)
		e := &cellproto.Error{Name: test.name, Value: "v", Traceback: given}
		got := styled(e)
		if text := strings.Join(got.Traceback, "|"); text != test.want || got.Name != test.name || got.Value != "v" {
			t.Errorf("%q becomes %q, want %q", test.traceback, text, test.want)
		}
		text, unstyled := strings.Join(test.traceback, "|"), colours.ReplaceAllString(strings.Join(got.Traceback, "|"), "")
		if test.name == compileError {
			text = compileError + ": " + text
		}
		if unstyled != text || !slices.Equal(given, test.traceback) {
			t.Errorf("without colours it is %q, want %q", unstyled, text)
		}
	}
}

func TestShownType(t *testing.T) {
	long := "func(" + strings.Repeat("é", 100) + ")"
	for _, test := range []struct {
		match cellproto.Match
		want  string
	}{
		{cellproto.Match{Kind: "function", Type: "func(a ...any)"}, "func(a\u00a0...any)"},
		{cellproto.Match{Kind: "keyword"}, "keyword"},
		{cellproto.Match{Kind: "function", Type: long}, "func(" + strings.Repeat("é", shownRunes-6) + "…"},
	} {
		if got := shownType(test.match); got != test.want {
			t.Errorf("%+v is shown as %q, want %q", test.match, got, test.want)
		}
	}
}
