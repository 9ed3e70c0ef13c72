package main

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

// TestFresh: the committed module is of these sources.
func TestFresh(t *testing.T) {
	module, err := os.ReadFile("steps.wasm")
	if err != nil {
		t.Fatal(err)
	}
	mark, err := markOf(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(module, mark) {
		t.Errorf("steps.wasm is not of steps.c and of the Go types: %s; then go generate ./gpu/emu/simd", install)
	}
}

// TestCompiled: the compiler makes the committed module again.
func TestCompiled(t *testing.T) {
	want, err := os.ReadFile("steps.wasm")
	if err != nil {
		t.Fatal(err)
	}
	got, err := compile(t.Context(), ".")
	if errors.Is(err, errNoCompiler) {
		t.Skipf("%v; TestFresh has compared the sources", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("steps.c compiles to %d other bytes than the %d committed ones: go generate ./gpu/emu/simd", len(got), len(want))
	}
}
