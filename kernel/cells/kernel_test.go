package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/cellproto"
)

// TestInterruptCompile: a hanging compiler ends at an interrupt; one that crashes, or is not
// there any more, fails only its cell. NVRTC and clang are scripts here.
func TestInterruptCompile(t *testing.T) {
	const misbehave = "[ -e crash ] && kill -SEGV $$\nexec sleep 300\n"
	dir := t.TempDir()
	for path, script := range map[string]string{
		"nvrtc":       "#!/bin/sh\n" + misbehave,
		"ziglang/zig": "#!/bin/sh\ncase $2 in --version) echo clang version 22.1.8; exit;; --print-targets) echo '  nvptx64 -'; exit;; esac\n" + misbehave,
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(compiler.Variable, filepath.Join(dir, "nvrtc"))
	t.Setenv(clang.FolderVariable, dir)
	for name, want := range map[string]struct{ crash, missing string }{
		"nvrtc": {"cell4.cu: the compiler ended: signal: segmentation fault; nothing else is lost", "cell4.cu: compiler: nvrtc program: "},
		"clang": {"cell4.cu: clang 22.1.8 ended: signal: segmentation fault; nothing else is lost", "cell4.cu: no compiler for CUDA C++, neither NVRTC nor clang: run `"},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			c.value("kept := 42;")
			cell := "%%cuda --compiler " + name + "\n__global__ void f() {}"
			if e := c.interrupt(c.startCell(cell)); e.Error == nil || e.Error.Name != "interrupted" {
				t.Fatalf("the answer is %+v, %v", e, e.Error)
			}
			fails := func(want string) {
				t.Helper()
				e := c.wait(c.send(cellproto.Request{Type: cellproto.Execute, Code: cell, Cell: 4}))
				if e.Error == nil || !strings.HasPrefix(e.Error.Value, "cell 4:1:1: %%cuda: "+want) || strings.Contains(e.Error.Value, "\n") {
					t.Errorf("the answer is %+v, %v, expected %s", e, e.Error, want)
				}
			}
			c.value("import \"os\"\nos.WriteFile(\"crash\", nil, 0o600);")
			fails(want.crash)
			c.value(fmt.Sprintf("os.Setenv(%q, \"none\");\nos.Setenv(%q, \"none\");", compiler.Variable, clang.FolderVariable))
			fails(want.missing)
			if got := c.value("kept"); got != "42" {
				t.Errorf("kept is %q", got)
			}
		})
	}
}

// TestKernelsAreKnown: completion and inspection know the kernels that a cell in
// another language declares.
func TestKernelsAreKnown(t *testing.T) {
	c := start(t)
	if e := c.run("%%ptx\n.version 8.0\n.target sm_75\n.address_size 64\n.visible .entry triad(.param .u32 n) { ret; }"); e.Error != nil {
		t.Fatal(e.Error)
	}
	if e := c.wait(c.send(cellproto.Request{Type: cellproto.Complete, Code: "tri", Cursor: 3})); len(e.Matches) != 1 || e.Matches[0].Text != "triad" {
		t.Errorf("tri completes to %+v", e.Matches)
	}
	if e := c.wait(c.send(cellproto.Request{Type: cellproto.Complete, Code: "triad.Lau", Cursor: 9})); len(e.Matches) != 1 || e.Matches[0].Text != "Launch" {
		t.Errorf("triad.Lau completes to %+v", e.Matches)
	}
	if e := c.wait(c.send(cellproto.Request{Type: cellproto.Complete, Code: "%%cu", Cursor: 4})); len(e.Matches) != 1 || e.Matches[0].Text != "%%cuda" {
		t.Errorf("%%%%cu completes to %+v", e.Matches)
	}
	text, _ := c.wait(c.send(cellproto.Request{Type: cellproto.Inspect, Code: "triad", Cursor: 5})).Data["text/plain"].(string)
	if !strings.Contains(text, "*compile.Entry") || !strings.Contains(text, "triad(.u32 n)") {
		t.Errorf("triad is inspected as %q", text)
	}
	for _, code := range []string{"__compile", "__compile.PTX"} { // names of the engine, not of cells
		if e := c.run(code); e.Error == nil {
			t.Errorf("%s is there", code)
		}
	}
}

// A cell with main is a whole program: it runs as a process of its own, its exit status and
// its crash fail the cell alone, and an interrupt ends it.
func TestProgramCell(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	c := start(t)
	c.value("kept := 42;")
	const program = `#include <cstdio>
#include <cstdlib>
__global__ void add(int *x) { x[threadIdx.x] += threadIdx.x; }
int main(int argc, char **argv) {
  int *x, sum = 0;
  cudaMallocManaged(&x, 128);
  add<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; i++) sum += x[i];
  printf("%d, sum %d\n", argc, sum);
  fflush(stdout);
  cudaFree(x);
  if (argc > 2) for (;;) {}
  if (argc > 1) abort();
  return sum == 496 ? 0 : 1;
}
`
	if e := c.run("%%cuda\n" + program); e.Error != nil {
		t.Fatal(e.Error)
	}
	if got := c.out.take(); got != "1, sum 496\n" {
		t.Errorf("output %q", got)
	}
	if e := c.run("%%cuda --ncu\n" + program); e.Error != nil {
		t.Fatal(e.Error)
	}
	if shown := fmt.Sprint((<-c.shown).Data); !strings.Contains(shown, "What each kernel counted") || !strings.Contains(shown, "(32,1,1)") {
		t.Errorf("--ncu shows %s", shown)
	}
	c.out.take()
	e := c.run("%%cuda --args one\n" + program)
	if e.Error == nil || !strings.Contains(e.Error.Value, "the program ended by a signal: SIGABRT") {
		t.Errorf("a crash: %+v", e.Error)
	}
	if got := c.err.take(); !strings.HasSuffix(got, ":15: abort\n") {
		t.Errorf("errors %q", got)
	}
	c.out.take()
	id := c.startCell("%%cuda --args 'one two'\n" + program)
	for deadline := time.Now().Add(time.Minute); c.out.take() == ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program does not run")
		}
	}
	if e := c.interrupt(id); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("an interrupt: %+v", e.Error)
	}
	if got := c.value("kept"); got != "42" {
		t.Errorf("kept is %q", got)
	}
	e = c.run("%%cuda\nint main() { return x; }")
	if e.Error == nil || !strings.Contains(e.Error.Value, "2:21: use of undeclared identifier 'x'") {
		t.Errorf("an error of the source: %+v", e.Error)
	}
}
