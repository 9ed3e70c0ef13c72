package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/cellproto"
)

// TestInterruptCompile: a hanging compiler ends at an interrupt, and a compiler crash
// fails only its cell.
func TestInterruptCompile(t *testing.T) {
	hang := filepath.Join(t.TempDir(), "nvrtc")
	script := "#!/bin/sh\n[ -e crash ] && kill -SEGV $$\nexec sleep 300\n"
	if err := os.WriteFile(hang, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(compiler.Variable, hang)
	c := start(t)
	c.value("kept := 42;")
	const cell = "%%cuda\n__global__ void f() {}"
	if e := c.interrupt(c.startCell(cell)); e.Error == nil || e.Error.Name != "interrupted" {
		t.Fatalf("the answer is %+v, %v", e, e.Error)
	}
	c.value("import \"os\"\nos.WriteFile(\"crash\", nil, 0o600);")
	const want = "cell 4:1:1: %%cuda: cell4.cu: the compiler ended: signal: segmentation fault; nothing else is lost"
	if e := c.wait(c.send(cellproto.Request{Type: cellproto.Execute, Code: cell, Cell: 4})); e.Error == nil || e.Error.Value != want {
		t.Fatalf("the answer is %+v, %v, expected %s", e, e.Error, want)
	}
	if got := c.value("kept"); got != "42" {
		t.Errorf("kept is %q", got)
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
