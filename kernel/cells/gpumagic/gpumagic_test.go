package gpumagic

import (
	"errors"
	"io"
	"os"
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

// A file stands in place of the lines below, and its mistakes have its own lines.
func TestFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"k.cu": "__global__ void k(float *x) { x[0] = 1 }\n", "empty.cu": ""} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"%%cuda --debug\nint main() {}": "--debug is for a cell without main: a debugger for whole programs is not there yet",
		"%%cuda --file none.cu":         "--file: stat none.cu", "%%cuda --file .": "not a file of at most", "%%cuda --file k.cu\n__global__ void k() {}": "expected one of them",
		"%%cuda --file empty.cu": "does not compile: 1 error", "%%ptx --file k.cu": "has no flag --file",
	} {
		c, err := magic.Builtin(All()...).Parse(text)
		if err == nil {
			c.Out = io.Discard
			_, err = c.Declare(t.Context(), c)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
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
