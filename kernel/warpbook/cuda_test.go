//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu/clang"
)

// A page of a program has its source, its output, the counts of each kernel and the text of
// its lines.
func TestCudaReport(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if err := cudaCommand([]string{"../../gpu/program/testdata/course/dynamic_shared.cu", "--ncu", "--report", page}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x[0] = 63, y[0] = 31.5", "What each kernel counted", ">reverse<", "large, by line of dynamic_shared.cu", "x[i] = a[n - 1 - i];</"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if err := cudaCommand([]string{"x.cu", "--report", "page.txt"}); err == nil || !strings.Contains(err.Error(), "expected a name that ends in .html") {
		t.Errorf("%v, expected a word on the name of the page", err)
	}
}

// TestCudaReportKeepsForeignFiles: the page replaces no file of others, nor a source,
// which is refused before anything is compiled.
func TestCudaReportKeepsForeignFiles(t *testing.T) {
	p := newPlace(t)
	p.write("x.cu", "no CUDA")
	p.write("source.html", "no CUDA")
	p.write("page.html", "written by hand")
	p.warpbook("cuda", "x.cu", "--report", "page.html").refused(t, statusFailed, "cuda: --report page.html: warpbook has not written this file, expected another name; --force replaces it")
	p.warpbook("cuda", "source.html", "--report", "source.html", "--force").refused(t, statusFailed, "cuda: --report source.html: it is the input source.html, expected another name")
	if got := p.read("page.html") + p.read("source.html"); got != "written by handno CUDA" {
		t.Errorf("the files are now %q", got)
	}
}

// TestCudaExecutableKeepsForeignFiles: an executable replaces another one, and neither a source
// nor a file of others, which is refused before anything is compiled.
func TestCudaExecutableKeepsForeignFiles(t *testing.T) {
	p := newPlace(t)
	p.write("x.cu", "no CUDA")
	p.write("y.cu", "no CUDA")
	p.warpbook("cuda", "-o", "", "x.cu").refused(t, statusUsage, `cuda: -o "": expected the name of a file`)
	p.warpbook("cuda", "-o", "x.cu", "y.cu").refused(t, statusFailed, "cuda: -o x.cu: warpbook has not written this file, expected another name; --force replaces it")
	p.warpbook("cuda", "x.cu", "y.cu", "-o", "x.cu", "--force").refused(t, statusFailed, "cuda: -o x.cu: it is the input x.cu, expected another name")
	for _, path := range []string{".", os.DevNull} {
		p.warpbook("cuda", "x.cu", "-o", path).refused(t, statusFailed, "cuda: -o "+path+": a folder or a device, expected the name of a file")
	}
	if got := p.read("x.cu"); got != "no CUDA" {
		t.Errorf("the source is now %q", got)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := mayLink(program, false, "x.cu"); err != nil {
		t.Errorf("%v, expected that an executable is replaced", err)
	}
}
