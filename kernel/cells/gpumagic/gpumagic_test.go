package gpumagic

import (
	"errors"
	"strings"
	"testing"

	"warpbook/kernel/engine/magic"
)

// TestList: each magic of the cells program has one function, a usage form and a
// one-sentence description.
func TestList(t *testing.T) {
	names := map[string]bool{}
	for _, m := range magic.Builtin(All()...) {
		ways, signs := 0, []string(nil)
		if m.Line {
			signs = append(signs, "%")
		}
		if m.Cell {
			signs = append(signs, "%%")
		}
		for _, set := range []bool{m.Run != nil, m.Start != nil, m.Loop != nil, m.Declare != nil} {
			if set {
				ways++
			}
		}
		if ways != 1 || names[m.Name] || len(signs) == 0 || !strings.HasSuffix(m.Short, ".") {
			t.Errorf("%s: does %d things, or is there twice, or cannot be called, or says nothing", m.Name, ways)
		}
		names[m.Name] = true
		for _, sign := range signs {
			if c, err := magic.Builtin(All()...).Parse(sign + m.Name + " --help"); err != nil || !c.Help {
				t.Errorf("%s%s --help: %+v, %v", sign, m.Name, c, err)
			}
		}
	}
}

// Flags have one or two minus signs, and values in their own form.
func TestFlags(t *testing.T) {
	c, err := magic.Builtin(All()...).Parse("%%cuda --std=c++20 mine -arch sm_90 --fast-math --instantiate 'f<1, 2>' --instantiate g<3>\ncode")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"std": "c++20", "arch": "sm_90", "fast-math": "yes", "instantiate": "f<1, 2>\ng<3>"} {
		if got := c.Flags[name]; got != want {
			t.Errorf("-%s is %q, expected %q", name, got, want)
		}
	}
	if c.Rest != "mine" || c.Body != "code" {
		t.Errorf("name %q, body %q", c.Rest, c.Body)
	}
	for text, want := range map[string]int{
		"%%cuda --fast-math=1\nx": 7, "%%cuda --instantiate 'f<1>\nx": 21, "%%cuda --arch\nx": 7,
		"%%cuda a b\nx": 9, "%%ptx --std c++20\nx": 6, "%%ncu x\ny": 6, "%timeit --bogus x": 8, "%time --bogus x": 6,
	} {
		wrong := (*magic.Error)(nil)
		if _, err := magic.Builtin(All()...).Parse(text); !errors.As(err, &wrong) || wrong.Offset != want {
			t.Errorf("%q: %v, expected an error at %d", text, err, want)
		}
	}
}
