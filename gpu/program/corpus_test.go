//go:build linux

package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu/clang"
)

// needZig skips a test where programs cannot be compiled.
func needZig(t *testing.T) {
	t.Helper()
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
}

// expectation is what the last comments of a program say of its run. A line of err is a
// regular expression.
//
//	// status 1
//	// args: 1000 first
//	// in: a line of standard input
//	// out: a line
//	// err: a line
type expectation struct {
	status       int
	args         []string
	in, out, err []string
}

// expected reads the comments at the end of a program.
func expected(t *testing.T, text string) (e expectation) {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n// status ")
	if !ok {
		t.Fatal("the program has no line // status N")
	}
	number, rest, _ := strings.Cut(rest, "\n")
	var wrong error
	if e.status, wrong = strconv.Atoi(number); wrong != nil {
		t.Fatal(wrong)
	}
	for line := range strings.Lines(rest) {
		kind, words, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		words = strings.TrimPrefix(words, " ")
		switch kind {
		case "// args":
			e.args = strings.Fields(words)
		case "// in":
			e.in = append(e.in, words)
		case "// out":
			e.out = append(e.out, words)
		case "// err":
			e.err = append(e.err, words)
		default:
			t.Fatalf("%q: expected // args:, // in:, // out: or // err:", line)
		}
	}
	return e
}

// run builds and runs a program of one source.
func run(ctx context.Context, t *testing.T, name, text string, set Settings) (status int, out, errs string) {
	t.Helper()
	return runAll(ctx, t, []Source{{Name: name, Text: text, Folder: "testdata"}}, set, "")
}

// runAll builds and runs a program.
func runAll(ctx context.Context, t *testing.T, sources []Source, set Settings, in string) (status int, out, errs string) {
	t.Helper()
	p, err := Build(ctx, sources, Options{}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	err = p.Run(ctx, set, Streams{In: strings.NewReader(in), Out: &stdout, Err: &stderr})
	exit := (*ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		status = exit.Status
	}
	return status, stdout.String(), stderr.String()
}

// sourcesOf returns the sources of a program: a file, or a folder whose main.cu has the
// expected output in its last comments.
func sourcesOf(t *testing.T, path string) (list []Source, main string) {
	t.Helper()
	files, folder := []string{path}, filepath.Dir(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(path, "*.cu")) // errs on a malformed pattern only
		folder = path
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 1 || filepath.Base(f) == "main.cu" {
			main = string(text)
		}
		list = append(list, Source{Name: filepath.Base(f), Text: string(text), Folder: folder})
	}
	return list, main
}

// check compares a run with what its program says.
func check(t *testing.T, path string) {
	t.Helper()
	sources, main := sourcesOf(t, path)
	want := expected(t, main)
	in := strings.Join(append(want.in, ""), "\n")
	status, out, errs := runAll(t.Context(), t, sources, Settings{Args: want.args}, in)
	if status != want.status {
		t.Errorf("status %d, expected %d", status, want.status)
	}
	if got := strings.Join(want.out, "\n"); strings.TrimRight(out, "\n") != got {
		t.Errorf("--- got\n%s\n--- want\n%s", out, got)
	}
	lines := strings.Split(strings.TrimRight(errs, "\n"), "\n")
	if errs == "" {
		lines = nil
	}
	if len(lines) != len(want.err) {
		t.Fatalf("%d lines of errors, expected %d:\n%s", len(lines), len(want.err), errs)
	}
	for i, line := range lines {
		if !regexp.MustCompile("^" + want.err[i] + "$").MatchString(line) {
			t.Errorf("line %d of errors\n got %s\nwant %s", i+1, line, want.err[i])
		}
	}
}

// sample are some of a list, which a seed chooses, or all in a long test.
func sample[T any](t *testing.T, list []T, few int) []T {
	if os.Getenv("WARPBOOK_LONG") != "" || few >= len(list) {
		return list
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("WARPBOOK_SEED"); text != "" {
		fmt.Sscan(text, &seed) // a wrong one is another seed
	}
	t.Logf("WARPBOOK_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:few]
}

// each runs a test for every program of a folder, or for some that a seed chooses.
func each(t *testing.T, folder string, few int) {
	needZig(t)
	entries, err := os.ReadDir(filepath.Join("testdata", folder))
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	var paths []string
	for _, e := range entries {
		paths = append(paths, filepath.Join("testdata", folder, e.Name()))
	}
	for _, path := range sample(t, paths, few) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".cu"), func(t *testing.T) { check(t, path) })
	}
}

// TestCourse: programs as courses write them run unchanged.
func TestCourse(t *testing.T) { each(t, "course", 3) }

// TestEmulated: programs about what only the emulator's library does. A GPU does not run them.
func TestEmulated(t *testing.T) { each(t, "emulated", 1) }

// TestBad: what is wrong with a program is one line, and ends no more than the program.
func TestBad(t *testing.T) { each(t, "bad", 4) }

// Each kernel is counted over its launches.
func TestKernels(t *testing.T) {
	needZig(t)
	sources, _ := sourcesOf(t, filepath.Join("testdata", "course", "bank_conflicts.cu"))
	var kernels Kernels
	runAll(t.Context(), t, sources, Settings{Kernels: &kernels, Profiles: true}, "")
	if len(kernels) != 2 || kernels[0].Name != "transpose<0>" || kernels[0].Launches != 1 || kernels[0].Counters.Shared().Conflicts != 9*32*31 || kernels[1].Counters.Shared().Conflicts != 0 || len(kernels[1].Profile.Instructions) == 0 {
		t.Errorf("%+v", kernels)
	}
}
