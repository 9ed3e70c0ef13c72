//go:build linux

package program

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/compile/include"
	"warpbook/gpu/device"
)

// The bytes are those that NVIDIA's fatbinary of CUDA 13.0 writes by
// fatbinary -64 --compress=false --image3=kind=ptx,sm=75,file=FILE.
func TestFatBinary(t *testing.T) {
	text := ".version 8.0\n.target sm_75\n.address_size 64\n"
	got, err := fatBinary(text)
	want := "50ed55ba010010008000000000000000" +
		"01000101500000003000000000000000" + "00000000400000000000080" + "04b000000" + "00000000000000001100000000000000" +
		"00000000000000000000000000000000" + "48000000000000000000000000000000"
	if err != nil || fmt.Sprintf("%x", got[:96]) != want || string(got[96:]) != text+strings.Repeat("\x00", 4) {
		t.Errorf("%x, %v, expected %s", got, err, want)
	}
	if _, err := fatBinary("ret;"); err == nil {
		t.Error("PTX without a target is taken")
	}
}

// needRuntime skips a test without NVIDIA's runtime.
func needRuntime(t *testing.T) string {
	needZig(t)
	library, err := NVIDIA()
	if err != nil {
		t.Skip(err)
	}
	return library
}

// forGPU builds a program for a GPU.
func forGPU(t *testing.T, name string) (*Program, expectation) {
	t.Helper()
	sources, main := sourcesOf(t, filepath.Join("testdata", "course", name))
	p, err := Build(t.Context(), sources, Options{NVIDIA: true}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return p, expected(t, main)
}

// Programs print with NVIDIA's runtime what they print on the emulator. Without a GPU, the
// runtime reports the missing driver.
func TestNVIDIA(t *testing.T) {
	needRuntime(t)
	names := []string{"device_query.cu"}
	if slices.Contains(device.Names(), "cuda:0") {
		names = append(names, "vector_add.cu", "static_variables.cu", "textures.cu", "two_files", "standard_input.cu")
	}
	for _, name := range names {
		p, want := forGPU(t, name)
		var out, errs bytes.Buffer
		err := p.Run(t.Context(), Settings{Args: want.args}, Streams{In: strings.NewReader(strings.Join(append(want.in, ""), "\n")), Out: &out, Err: &errs})
		text := strings.Join(append(want.out, ""), "\n")
		if exit := (*ExitError)(nil); len(names) == 1 && errors.As(err, &exit) && exit.Status == 1 {
			err, text = nil, "no device: CUDA driver version is insufficient for CUDA runtime version\n"
		}
		if err != nil || out.String() != text || !strings.HasPrefix(errs.String(), "warpbook: "+name+" runs on cuda:0") {
			t.Errorf("%s: %v\n%s\n%s\nexpected %s", name, err, &out, &errs, text)
		}
		if err := p.Run(t.Context(), Settings{Strict: true}, Streams{}); err == nil || !strings.Contains(err.Error(), "--strict: what is undefined is found on the emulator only") {
			t.Error(err)
		}
	}
}

// A name of package device is that of a run; what a GPU has nothing for is refused.
func TestOn(t *testing.T) {
	for name, gpu := range map[string]string{"": "", "emu": "", "emu:a100": "a100"} {
		var set Settings
		if nvidia, err := set.On(name); nvidia || err != nil || set.GPU != gpu {
			t.Error(name, nvidia, err, set.GPU)
		}
	}
	for _, name := range []string{"gpu", "cuda:x", "cuda:-1", "cuda:4096", "cuda:0x0", ":"} {
		if nvidia, err := new(Settings).On(name); nvidia || err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Error(name, nvidia, err)
		}
	}
	for want, set := range map[string]Settings{"": {Args: []string{"x"}, Number: 3}, "--sanitize": {Sanitize: true}, "--strict": {Strict: true}, "--gpu t4": {GPU: "t4"}, "--ncu": {Kernels: new(Kernels)}, "--report": {Kernels: new(Kernels), Profiles: true}} {
		if got, _, _ := strings.Cut(set.Refused(false, false), ":"); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// An executable finds NVIDIA's runtime beside it, and holds its kernels as a fat binary.
func TestExecutable(t *testing.T) {
	needRuntime(t)
	p, _ := forGPU(t, "static_variables.cu")
	path := filepath.Join(t.TempDir(), "program")
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	needed, _ := f.ImportedLibraries()
	paths, _ := f.DynString(elf.DT_RUNPATH)
	if !slices.Contains(needed, runtimeName) || len(paths) != 1 || !strings.HasPrefix(paths[0], "$ORIGIN:") {
		t.Error(needed, paths)
	}
	fat, err := f.Section(".nv_fatbin").Data()
	if err != nil || !bytes.HasPrefix(fat, []byte{0x50, 0xed, 0x55, 0xba}) {
		t.Errorf("%.16x, %v", fat, err)
	}
	for _, name := range []string{"_ZL7weights[16]", "_ZL7counter;", "_ZL4fillIfEvPT_3BoxIS0_E("} { // as the host registers them
		if !bytes.Contains(fat, []byte(name)) {
			t.Errorf("no %s among the kernels", name)
		}
	}
	if out, err := exec.Command("ldd", path).CombinedOutput(); err != nil || !strings.Contains(string(out), filepath.Join(filepath.Dir(path), runtimeName)) {
		t.Errorf("%s, %v", out, err)
	}
}

// A GPU's number is that of package device, which the driver counts: the program's process has
// the driver's order, too, and of the user's list the GPU at that place.
func TestVisible(t *testing.T) {
	for list, want := range map[string]string{"": "1", "3,GPU-5": "GPU-5", "2": "-1"} {
		t.Setenv("CUDA_VISIBLE_DEVICES", list)
		if got := visible(1); !slices.Equal(got, []string{"CUDA_VISIBLE_DEVICES=" + want}) {
			t.Errorf("%s: %q", list, got)
		}
	}
	one, other := "Model: \t\t NVIDIA H200\nIRQ: 5\n", "Model: T4\n"
	for want, list := range map[string][]string{" (NVIDIA H200)": {one, one}, "": {one, other}} {
		if got := modelOf(list); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// The folder of NVIDIA's runtime may have blanks and commas.
func TestRuntimeFolder(t *testing.T) {
	library := needRuntime(t)
	folder := filepath.Join(t.TempDir(), "a b,c")
	if err := os.MkdirAll(filepath.Join(folder, "lib"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(library, filepath.Join(folder, "lib", runtimeName)); err != nil {
		t.Fatal(err)
	}
	t.Setenv(compiler.FolderVariable, folder)
	p, err := Build(t.Context(), []Source{{Name: "empty.cu", Text: "int main() { return cudaDeviceReset() == 0; }"}}, Options{NVIDIA: true}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "p")
	if err := p.Write(out); err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if paths, err := f.DynString(elf.DT_RUNPATH); err != nil || !slices.Equal(paths, []string{"$ORIGIN:" + filepath.Join(folder, "lib")}) {
		t.Error(paths, err)
	}
}

// An executable takes neither the name of the runtime beside it nor the place of a folder, and
// the runtime stays as it is where the executable is written beside it.
func TestExecutableBeside(t *testing.T) {
	library := needRuntime(t)
	p, _ := forGPU(t, "static_variables.cu")
	folder := t.TempDir()
	if err := p.Write(filepath.Join(folder, runtimeName)); err == nil || !strings.Contains(err.Error(), "expected another") {
		t.Error(err)
	}
	beside := filepath.Join(folder, runtimeName)
	if err := os.Symlink(library, beside); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(filepath.Join(folder, "program")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(beside); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v: the link to the runtime was replaced", info, err)
	}
}

var (
	lineRemark  = regexp.MustCompile(`//.*`)
	enumeration = regexp.MustCompile(`\benum (\w+) \{([^}]*)\}`)
	structure   = regexp.MustCompile(`(?ms)^(?:struct|union|typedef struct) (\w+) \{\n(.*?)^\}`)
	inner       = regexp.MustCompile(`(?s)(?:struct|union) \{[^{}]*\}`)
	word        = regexp.MustCompile(`\w+`)
	constant    = regexp.MustCompile(`(?m)^#define (cuda\w+) \(?-?\d+\)?$`)
)

// layout are expressions for the sizes, offsets and numbers of a header.
func layout(text string) (list []string) {
	text = lineRemark.ReplaceAllString(text, "")
	for _, m := range enumeration.FindAllStringSubmatch(text, -1) {
		list = append(list, "sizeof("+m[1]+")")
		for name := range strings.SplitSeq(m[2], ",") {
			if w := word.FindString(name); w != "" {
				list = append(list, w)
			}
		}
	}
	for _, m := range constant.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	for _, m := range structure.FindAllStringSubmatch(text, -1) {
		body := inner.ReplaceAllString(inner.ReplaceAllString(m[2], "int"), "int")
		list = append(list, "sizeof("+m[1]+")")
		for member := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == ';' || r == ',' }) {
			member, _, _ = strings.Cut(member, "[")
			if words := word.FindAllString(member, -1); len(words) > 0 {
				list = append(list, fmt.Sprintf("__builtin_offsetof(%s, %s)", m[1], words[len(words)-1]))
			}
		}
	}
	return list
}

// The headers of programs have the sizes, offsets and numbers of NVIDIA's.
func TestLayout(t *testing.T) {
	library := needRuntime(t)
	folder := filepath.Join(filepath.Dir(library), "..", "include")
	headers, err := include.Dir()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "cuda_runtime_api.h")); err != nil {
		t.Skip("needs NVIDIA's headers: ", err)
	}
	var list []string
	for _, name := range []string{"warpbook/api.h", "texture_types.h"} {
		text, err := os.ReadFile(filepath.Join(headers, name))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, layout(string(text))...)
	}
	if len(list) < 400 {
		t.Fatalf("only %d expressions: the header has another form", len(list))
	}
	var source strings.Builder
	source.WriteString("#include <cstdio>\nint main() {\n")
	for _, e := range list {
		fmt.Fprintf(&source, "  printf(\"static_assert(%s == %%lld);\\n\", (long long)%s);\n", e, e)
	}
	status, asserts, errs := run(t.Context(), t, "layout.cu", source.String()+"}\n", Settings{})
	if status != 0 {
		t.Fatal(errs)
	}
	compile := exec.Command(filepath.Join(os.Getenv(clang.FolderVariable), "ziglang", "zig"), "clang", "-x", "c++", "-fsyntax-only", "-ferror-limit=0", "-isystem", filepath.Join(os.Getenv(clang.FolderVariable), "ziglang", "lib", "include"), "-I", folder, "-I", filepath.Join(folder, "..", "..", "cuda_nvcc", "include"), "-include", "cuda_runtime_api.h", "-")
	compile.Stdin = strings.NewReader(asserts)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
