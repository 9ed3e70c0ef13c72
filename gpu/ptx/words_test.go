package ptx

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestUnknown: what no instruction is called is found, with the words that it
// may have been meant for.
func TestUnknown(t *testing.T) {
	for text, want := range map[string]string{
		"ld.parm.u32 %r1, [x];":                                    ".parm .param",
		"ld.global.u23 %r1, [%q1];":                                ".u23 .u32",
		"ld.global.sat.u32 %r1, [%q1];":                            ".sat .cs",
		"stt.global.u32 [%q1], %r1;":                               "stt st",
		"add.global.u32 %r1, %r1, %r1;":                            ".global .sat",
		"bar.snyc 0;":                                              ".snyc .sync",
		"exit.now;":                                                ".now ",
		"add.m16n8k16.u32 %r1, %r1, %r1;":                          ".m16n8k16 .sat",
		"ld.global.u32 %r1, [%q1];":                                " ",
		"wgmma.whatever;":                                          ".whatever .mma_async",
		"mapa.shared::clutser.u32 %r1, %r1, 1;":                    ".shared::clutser .shared::cluster",
		"tcgen05.whatever;":                                        " ",
		"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32 %r1;":    " ",
		"cp.async.bulk.commit_group;":                              " ",
		"fence.proxy.async.shared::cta;":                           " ",
		"ld.relaxed.gpu.global.L1::no_allocate.v4.f32 %r1, [%q1];": " ",
	} {
		m, err := Parse("a.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 x) {\n.reg .b32 %r<4>;\n.reg .b64 %q<4>;\n"+text+"\nret;\n}")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		word, near, _ := strings.Cut(want, " ")
		got, legal := m.Unknown(&m.Functions[0].Code[0])
		if got != word || near != "" && !slices.Contains(legal, near) || (near == "") != (len(legal) == 0) {
			t.Errorf("%s: %q, %v, want %q and %q among the legal ones", text, got, legal, word, near)
		}
		m.Version = [2]int{9, 1}
		if got, _ := m.Unknown(&m.Functions[0].Code[0]); got != "" {
			t.Errorf("%s: %q of a later version is judged", text, got)
		}
	}
}

// TestKnown parses every PTX file of the repository and knows each word of its instructions.
func TestKnown(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: this test has one goroutine")
	}
	n := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".ptx") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m, err := Parse(filepath.Base(path), string(text))
		if err != nil {
			t.Errorf("%s: %v, expected that every file of the repository parses", path, err)
			return nil
		}
		for _, f := range m.Functions {
			for i := range f.Code {
				in := &f.Code[i]
				if word, _ := m.Unknown(in); word != "" {
					t.Errorf("%s:%d: %s: %s is not known", path, in.Pos.Line, in.Name(), word)
				}
				n++
			}
		}
		return nil
	})
	if err != nil || n < 10000 {
		t.Errorf("%d instructions, %v", n, err)
	}
}
