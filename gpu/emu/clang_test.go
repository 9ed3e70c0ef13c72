package emu

import (
	"context"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
)

// otherwise are the kernels in which clang's code shows another fault than NVRTC's, "" for
// none, and why.
var otherwise = map[string]struct{ kind, why string }{
	"variable_past_end":        {"", "LLVM removes stores into a variable that nothing reads"},
	"misaligned_shared":        {"", "LLVM knows the array and loads two words"},
	"long_modulus":             {"", "LLVM knows that the low half of the remainder is 0, and does not divide"},
	"constant_as_output":       {"", "LLVM removes a store into constant memory"},
	"constant_counter":         {"wrong address space", "NVRTC makes a trap of it; here the atomic itself is named"},
	"lock_before_zero":         {"race", "the compare-and-swap has a generic address, atom.gpu.cas.b32"},
	"match_in_half":            {"invalid lane mask", "the two groups of lanes are named in the other order"},
	"barrier_for_valid_pixels": {"divergent barrier", "LLVM ends the kernel behind the branch too, so that the fault names the branch by which threads passed the barrier"},
	"every_thread_arrives":     {"divergent barrier", "an arrival too many comes before the race that it causes"},
}

// nvrtcs is the test in which package llvm's code shows NVRTC's fault, where that of LLVM's
// back end shows another.
const nvrtcs = "TestClangDefects/hopper_in_a_browser/every_thread_arrives"

// TestClangDefects runs the corpora of broken kernels as clang compiles them: the same
// mistake is named, at the same thread and line, and the corrected twin is clean. "In a
// browser" package llvm is the back end.
func TestClangDefects(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s: run pip install --target DIR ziglang==%s, and set it to DIR", clang.FolderVariable, clang.Version)
	}
	one := rand.IntN(len(corpora)) // without WARPBOOK_LONG the only one that package llvm makes PTX of
	for i, corpus := range corpora {
		t.Run(corpus, func(t *testing.T) { clangDefects(t, corpus, clang.Run) })
		if i == one || os.Getenv("WARPBOOK_LONG") != "" {
			t.Run(corpus+" in a browser", func(t *testing.T) { clangDefects(t, corpus, clang.RunOwn) })
		}
	}
}

// compile is clang.Run or clang.RunOwn.
type compile func(context.Context, compiler.Request) (compiler.Reply, error)

// clangDefects runs one corpus.
func clangDefects(t *testing.T, corpus string, with compile) {
	defects, source := readDefects(t, corpus)
	text := compiledByClang(t, with, corpus, source, "--generate-line-info")
	for _, d := range defects {
		t.Run(d.Name, func(t *testing.T) {
			for i, words := range d.Says {
				d.Says[i] = bitsOnly(words)
			}
			err := d.run(t, text, "bad_", d.Shared)
			if o, other := otherwise[d.Name]; other && t.Name() != nvrtcs {
				if (err == nil) != (o.kind == "") || err != nil && !strings.Contains(err.Error(), o.kind) {
					t.Errorf("%v, expected %q: %s", err, o.kind, o.why)
				}
			} else if err != nil {
				d.check(t, sameWords{err}, string(source))
			} else {
				d.check(t, nil, string(source))
			}
			if err := d.run(t, text, "ok_", max(d.Shared, d.TwinShared)); err != nil {
				t.Errorf("the corrected twin: %v", err)
			}
		})
	}
}

// TestClangDebug runs the corrected kernels of a corpus as clang compiles them for a
// debugger, without optimisation: they are clean.
func TestClangDebug(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	defects, source := readDefects(t, "defects")
	text := compiledByClang(t, clang.Run, "defects", source, "--device-debug")
	for _, d := range defects {
		if err := d.run(t, text, "ok_", max(d.Shared, d.TwinShared)); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

// compiledByClang is the PTX that clang makes of a corpus, with one more option.
func compiledByClang(t *testing.T, with compile, corpus string, source []byte, option string) string {
	t.Helper()
	_, arch, _ := strings.Cut(strings.TrimSuffix(ptxOf(corpus), ".ptx"), ".sm_")
	reply, err := with(t.Context(), compiler.Request{Name: corpus + ".cu", Text: string(source),
		Options: []string{"--gpu-architecture=compute_" + arch, "--std=c++17", option}})
	if err != nil || reply.Error != "" {
		t.Fatalf("%s.cu: %v: %s\n%s", corpus, err, reply.Error, reply.Log)
	}
	return reply.PTX
}

// sameWords is a fault with the types of accesses as bits: where NVRTC writes st.global.u32,
// LLVM writes st.global.b32.
type sameWords struct{ error }

func (s sameWords) Error() string { return bitsOnly(s.error.Error()) }
func (s sameWords) Unwrap() error { return s.error }

var accessType = regexp.MustCompile(`\b((?:ld|st|atom|red)(?:\.[\w:]+)*)\.[usfb](8|16|32|64)\b`)

func bitsOnly(text string) string { return accessType.ReplaceAllString(text, "$1.b$2") }
