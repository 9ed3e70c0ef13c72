package emu

import (
	"cmp"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
)

var counted = flag.Bool("corpora", false, "count the mistakes that are named in each corpus of broken kernels, and the corrected twins that are accused")

// makers give the PTX of a corpus, and say who made it.
var makers = []struct {
	name string
	text func(t *testing.T, corpus, source string) (text, maker string)
}{
	{"committed", func(t *testing.T, corpus, _ string) (string, string) {
		text, err := os.ReadFile("testdata/" + ptxOf(corpus))
		if err != nil {
			t.Fatal(err)
		}
		return string(text), "NVRTC 12.0, committed"
	}},
	{"nvrtc", func(t *testing.T, corpus, source string) (string, string) {
		reply, err := compiler.Run(t.Context(), requestOf(corpus, source))
		if err == nil && strings.Contains(reply.Log, `"crt/mma.h"`) {
			t.Skip("needs mma.h, which is not in the wheels of NVRTC " + reply.Release)
		}
		if err != nil || reply.Missing || reply.Error != "" {
			t.Skipf("needs NVRTC: %v %s\n%s", err, reply.Error, reply.Log)
		}
		return reply.PTX, reply.Compiler
	}},
	{"clang", func(t *testing.T, corpus, source string) (string, string) {
		if os.Getenv(clang.FolderVariable) == "" {
			t.Skipf("needs %s", clang.FolderVariable)
		}
		reply, err := clang.Run(t.Context(), requestOf(corpus, source))
		if err != nil || reply.Error != "" {
			t.Fatalf("%v: %s\n%s", err, reply.Error, reply.Log)
		}
		return reply.PTX, reply.Compiler
	}},
}

func requestOf(corpus, source string) compiler.Request {
	_, arch, _ := strings.Cut(strings.TrimSuffix(ptxOf(corpus), ".ptx"), ".sm_")
	return compiler.Request{Name: corpus + ".cu", Text: source, Options: []string{"--gpu-architecture=compute_" + arch, "--std=c++17", "--generate-line-info"}}
}

// TestCorpora counts, for each corpus and compiler, the mistakes that are named: by a fault
// or a warning of their kind, at a line that the source marks. No twin may be accused.
// gpu/emu/RATIONALE.md has the counts.
func TestCorpora(t *testing.T) {
	if !*counted {
		t.Skip("needs -corpora; TestDefects, TestCases and TestClangDefects check each kernel")
	}
	for _, corpus := range append([]string{"cases"}, corpora...) {
		source, err := os.ReadFile("testdata/" + corpus + ".cu")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range makers {
			t.Run(corpus+" "+m.name, func(t *testing.T) {
				text, maker := m.text(t, corpus, string(source))
				c := &count{text: text, source: string(source)}
				if corpus == "cases" {
					c.ofCases(t)
				} else {
					c.ofDefects(t, corpus)
				}
				t.Logf("%-8s | %-22s | %3d mistakes | %3d named by a plain launch | %3d by one with all checks | %3d twins | %d accused",
					corpus, maker, c.mistakes, c.plain, c.searched, c.twins, len(c.accused))
				if len(c.missed) > 0 {
					t.Logf("not named: %s", strings.Join(c.missed, ", "))
				}
				if len(c.accused) > 0 {
					t.Errorf("accused twins: %s", strings.Join(c.accused, "\n"))
				}
			})
		}
	}
}

// count is that of one corpus as one compiler has made it.
type count struct {
	text, source    string
	mistakes, twins int
	plain, searched int
	missed, accused []string
}

// named reports whether a launch named the mistake of a kernel.
func (c *count) named(corpus string, kind, err error) bool {
	var f *gpu.Fault
	if !errors.As(err, &f) || f.Kind != kind {
		return false
	}
	return f.Source == "" || strings.Contains(defect{corpus: corpus}.markOf(c.source, f.Source), "defect")
}

func (c *count) twin(name string, errs ...error) {
	c.twins++
	if err := errors.Join(errs...); err != nil {
		c.accused = append(c.accused, name+": "+err.Error())
	}
}

func (c *count) ofCases(t *testing.T) {
	for _, u := range userCases {
		found := func(form string, checks gpu.Checks) error { return u.launch(t, c.text, form, checks).found() }
		const searched = gpu.CheckAll | gpu.CheckBlockRaces
		c.twin(u.name, found("ok_", 0), found("ok_", searched))
		if u.ends {
			c.twin(u.name, found("bad_", 0), found("bad_", searched))
			continue
		}
		c.mistakes++
		plain := found("bad_", 0)
		if c.named("cases", u.kind, plain) || c.named("cases", cmp.Or(u.plainKind, u.kind), plain) {
			c.plain++
		}
		if err := found("bad_", searched); c.named("cases", u.kind, err) {
			c.searched++
		} else {
			c.missed = append(c.missed, u.name)
		}
	}
}

func (c *count) ofDefects(t *testing.T, corpus string) {
	defects, _ := readDefects(t, corpus)
	for _, d := range defects {
		plain := d
		plain.plain = true
		c.twin(d.Name, plain.run(t, c.text, "ok_", max(d.Shared, d.TwinShared)), d.run(t, c.text, "ok_", max(d.Shared, d.TwinShared)))
		c.mistakes++
		kind := d.kind()
		if c.named(corpus, kind, plain.run(t, c.text, "bad_", d.Shared)) {
			c.plain++
		}
		if c.named(corpus, kind, d.run(t, c.text, "bad_", d.Shared)) {
			c.searched++
		} else {
			c.missed = append(c.missed, d.Name)
		}
	}
}

// kind is the expected fault, nil for none.
func (d defect) kind() error {
	for _, kind := range []error{gpu.ErrOutOfBounds, gpu.ErrFreed, gpu.ErrMisaligned, gpu.ErrSpace, gpu.ErrUninitialized, gpu.ErrBarrier, gpu.ErrMask,
		gpu.ErrRace, gpu.ErrTrap, gpu.ErrDivision, gpu.ErrHang, gpu.ErrStepLimit} {
		if kind.Error() == d.Kind {
			return kind
		}
	}
	return nil
}
