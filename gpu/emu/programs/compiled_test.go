package programs

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/emu"
	"warpbook/gpu/ptxfile"
)

var (
	keep  = flag.Bool("keep", false, "write what NVRTC compiles for TestCompiled to testdata/compiled")
	names = flag.String("modes", "", "the modes in which TestCompile compiles operators, with commas between: O3, G, use_fast_math")
)

// modes are the options of the compiler: none, for a debugger, and with shorter, less
// exact functions.
var modes = map[string][]string{
	"O3":            {"--generate-line-info"},
	"G":             {"--device-debug"},
	"use_fast_math": {"--generate-line-info", "--use_fast_math"},
}

// refused are the entries that the emulator rejects, with its error: calls that NVRTC 12.0 leaves undefined.
var refused = map[string]string{
	"12.0 byvalue": "a call of __dp4a",
}

// archOf is the architecture that a source is compiled for: Hopper if all its committed
// PTX is for Hopper, because compute_80 does not compile it.
func archOf(source string) string {
	committed, _ := ptxfile.Glob(os.DirFS(filepath.Dir(source)), strings.TrimSuffix(filepath.Base(source), ".cu")+".sm_*.ptx")
	if len(committed) == 1 {
		_, arch, _ := strings.Cut(strings.TrimSuffix(filepath.Base(committed[0]), ".ptx"), ".sm_")
		if strings.HasPrefix(arch, "90") {
			return "compute_" + arch
		}
	}
	return "compute_80"
}

// kept are the compilations whose PTX is in testdata, so that their forms are tested
// without NVRTC.
var kept = []string{"12.0-G-defects", "12.0-G-groups", "12.0-G-misc", "12.0-G-reduce", "12.0-G-builtins",
	"13.0-O3-misc", "13.0-O3-wmma", "13.0-G-groups", "13.0-use_fast_math-defects", "13.0-G-builtins"}

// TestCompiled lowers every entry that a compiler has made of the CUDA C++ in the
// repository, and runs the corrected kernels of the corpus of defects: they must be
// clean, and give the same results however they were compiled.
func TestCompiled(t *testing.T) {
	files, err := filepath.Glob("testdata/compiled/*.ptx.gz")
	if err != nil || len(files) == 0 {
		t.Fatal("no PTX: ", err)
	}
	results := map[string][]uint32{}
	for _, name := range files {
		label := strings.TrimSuffix(filepath.Base(name), ".ptx.gz")
		t.Run(label, func(t *testing.T) { tryAll(t, label, unzip(t, name), results) })
	}
	if len(results) == 0 {
		t.Error("no entry was run")
	}
}

// TestCompile is TestCompiled with the NVRTC of this machine. A source of an operator is
// compiled in the modes of -modes, or in one that the seed chooses, or with WARPBOOK_LONG in
// all of them, which takes minutes.
func TestCompile(t *testing.T) {
	t.Logf("NVRTC of %q", os.Getenv("WARPBOOK_NVRTC")) // read here, so that the cached result of another NVRTC is not used
	random := seeded(t)
	var sources []string
	for _, pattern := range []string{"../../../ops/*/*.cu", "../testdata/*.cu", "../../ptx/testdata/*.cu"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, ": no sources: ", err)
		}
		sources = append(sources, found...)
	}
	results := map[string][]uint32{}
	release := "" // of NVRTC, once it has compiled
	for _, source := range sources {
		if filepath.Base(source) == "approximate.cu" || filepath.Base(filepath.Dir(source)) == "peers" {
			continue // a program of its own, for nvcc
		}
		chosen := slices.Sorted(maps.Keys(modes))
		one := random.IntN(len(chosen))
		switch operator := strings.HasPrefix(source, "../../../ops/"); {
		case operator && *names != "":
			chosen = strings.Split(*names, ",")
		case operator && os.Getenv("WARPBOOK_LONG") == "" && !*keep:
			chosen = chosen[one : one+1]
		}
		for _, mode := range chosen {
			text := committed(source, mode, release)
			if text == "" {
				text, release = compiled(t, source, mode)
			}
			if text == "" {
				t.Logf("%s is left out: it needs mma.h of a toolkit", source)
				continue
			}
			label := fmt.Sprintf("%s-%s-%s", release, mode, strings.TrimSuffix(filepath.Base(source), ".cu"))
			t.Run(label, func(t *testing.T) { tryAll(t, label, text, results) })
			if *keep && slices.Contains(kept, label) {
				zip(t, "testdata/compiled/"+label+".ptx.gz", text)
			}
		}
	}
}

// seeded are the random choices of a run, of the seed that WARPBOOK_SEED names or of one of
// the clock, which it prints.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("WARPBOOK_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("WARPBOOK_SEED=%s: %v, expected a number that a run printed", text, err)
		}
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// committed is the committed PTX of a source if this release of NVRTC makes it with the
// options of this mode, "" otherwise: gpu/nvrtc's TestCommittedPTX compiles it, so no test
// need do so again.
func committed(source, mode, release string) string {
	if mode != "O3" {
		return ""
	}
	arch := strings.TrimPrefix(archOf(source), "compute_")
	text, err := ptxfile.ReadFile(strings.TrimSuffix(source, ".cu") + ".sm_" + arch + ".ptx")
	if err != nil || !strings.Contains(text, "\n// compiler: NVRTC "+release+"\n") {
		return ""
	}
	return text
}

// compiled is the PTX of a source, and the release of NVRTC; without NVRTC the test is
// skipped.
func compiled(t *testing.T, source, mode string) (text, release string) {
	t.Helper()
	cuda, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs(filepath.Dir(source))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	arch := archOf(source)
	if modes[mode] == nil {
		t.Fatalf("no mode %q, expected one of %v", mode, slices.Sorted(maps.Keys(modes)))
	}
	options := append([]string{"--gpu-architecture=" + arch, "--std=c++17", "--include-path=" + folder}, modes[mode]...)
	reply, err := compiler.Run(ctx, compiler.Request{Name: filepath.Base(source), Text: string(cuda), Options: options})
	switch {
	case err != nil:
		t.Fatal(err)
	case reply.Missing:
		t.Skip("needs NVRTC: ", reply.Error)
	case strings.Contains(reply.Log, "cannot open source file \"crt/mma.h\""):
		return "", "" // not in the wheels of 12.0
	case reply.Error != "":
		t.Fatalf("%s with %s: %s: %s", source, mode, reply.Error, reply.Log)
	}
	return reply.PTX, reply.Release
}

// ownArguments matches the files whose kernels have other arguments than those of the defects:
// emu.TestCases and emu.TestPadding run them.
var ownArguments = regexp.MustCompile(`-(cases|padding)$`)

// tryAll lowers every entry of a module and runs those that can run. results holds the
// earlier results of each.
func tryAll(t *testing.T, label, text string, results map[string][]uint32) {
	d, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.(*emu.Device).LimitWorkers(1) // some let both blocks write one word, which is a race of two workers
	m, err := d.Load(label+".ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range m.Entries() {
		e, err := m.Entry(name)
		release, _, _ := strings.Cut(label, "-")
		says := cmp.Or(refused[name], refused[release+" "+name])
		switch {
		case err == nil && says != "":
			t.Errorf("%s is ready, expected it refused for %s", name, says)
		case err != nil && (says == "" || !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), says)):
			t.Error(name, err)
		case strings.HasPrefix(name, "ok_") && !ownArguments.MatchString(label):
			got, err := runClean(d, e, threadsOf(text, name))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if want, ok := results[name]; ok && !slices.Equal(got, want) {
				t.Errorf("%s: other results than as it was compiled before", name)
			} else {
				results[name] = got
			}
		}
	}
}

// threadsOf is how many threads a block of an entry needs: the four warps of a warpgroup
// multiply together.
func threadsOf(text, entry string) int {
	_, body, _ := strings.Cut(text, ".entry "+entry+"(")
	if body, _, _ = strings.Cut(body, ".entry "); strings.Contains(body, "wgmma.mma_async") {
		return 128
	}
	return 64
}

// runClean runs an entry of the corpus of defects with all checks.
func runClean(d gpu.Device, e gpu.Entry, threads int) ([]uint32, error) {
	n := 2 * threads
	index, results := make([]uint32, n), make([]uint32, n)
	for i := range index {
		index[i] = uint32(i)
	}
	args := make([]any, 3)
	for i := range args {
		b, err := d.Alloc(gpu.Uint32, n)
		if err != nil {
			return nil, err
		}
		defer b.Free()
		if i == 2 {
			clear(index)
		}
		if err := b.Upload(index); err != nil {
			return nil, err
		}
		args[i] = b
	}
	y := args[1].(gpu.Buffer)
	err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: threads}, Shared: 1024,
		Args: append(args, int32(n)), Zero: []gpu.Buffer{y}, Checks: gpu.CheckAll})
	if err != nil {
		return nil, err
	}
	return results, y.Download(results)
}

func unzip(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func zip(t *testing.T, name, text string) {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // errs on an unknown level only
	z.Write([]byte(text))                                 // to memory
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
