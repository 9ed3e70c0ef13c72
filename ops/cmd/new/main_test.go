package main

import (
	"bytes"
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The folder of a new operator builds, and its reference is right; its suite fails, and names what is
// missing. The go command reads the folder through an overlay, so the tree stays as it is.
func TestNewOperator(t *testing.T) {
	texts, err := render("doubled")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	scratch := t.TempDir()
	for file, text := range texts {
		if strings.Contains(string(text), "{{.") || strings.Contains(file, "NAME") {
			t.Errorf("%s is not filled in", file)
		}
		at := filepath.Join(scratch, file)
		if err := os.WriteFile(at, text, 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(root, "ops", "doubled", file)] = at
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	overlayFile := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(overlayFile, list, 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(dir, program string, args ...string) (string, error) {
		c := exec.Command(program, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		return string(out), err
	}
	suite := filepath.Join(scratch, "suite.test")
	if out, err := run(root, "go", "test", "-c", "-vet=off", "-overlay", overlayFile, "-o", suite, "./ops/doubled"); err != nil {
		t.Fatalf("it does not build: %v\n%s", err, out)
	}
	if out, err := run(scratch, suite, "-test.run", "TestReference"); err != nil {
		t.Errorf("its reference: %v\n%s", err, out)
	}
	out, err := run(scratch, suite, "-test.run", "TestConformance$/files")
	if err == nil || !strings.Contains(out, "--- FAIL: TestConformance/files") || !strings.Contains(out, "go generate ./ops/doubled") {
		t.Errorf("%v, expected the suite to fail, and to name the command that makes the PTX:\n%s", err, out)
	}
}

// A name must be a new package's; nothing is written below another.
func TestNames(t *testing.T) {
	ops := t.TempDir()
	if err := create(ops, "soften"); err == nil || !strings.Contains(err.Error(), "root of the repository") {
		t.Errorf("outside of the repository: %v", err)
	}
	if err := os.WriteFile(filepath.Join(ops, "ops.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "Clip", "a-b", "a_b", "1d", "../x", "func", "ops/x"} {
		if err := create(ops, name); err == nil || !strings.Contains(err.Error(), "expected lower-case letters") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := create(ops, "soften"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"aligned", "soften"} { // before and after package run, which the example imports
		texts, err := render(name)
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range texts {
			if formatted, err := format.Source(text); strings.HasSuffix(file, ".go") && (err != nil || !bytes.Equal(formatted, text)) {
				t.Errorf("%s of %s is not as gofmt writes it: %v", file, name, err)
			}
		}
	}
	source, err := os.ReadFile(filepath.Join(ops, "soften", "soften.cu"))
	if err != nil || !strings.Contains(string(source), "__global__ void soften_block_256(") {
		t.Errorf("%v: %s", err, source)
	}
	if err := create(ops, "soften"); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a second time: %v", err)
	}
}
