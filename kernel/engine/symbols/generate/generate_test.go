package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestFresh fails when the API of an offered package has changed since its
// file was generated.
func TestFresh(t *testing.T) {
	files, _, err := generate(offered)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date, run: go generate ./kernel/engine", name)
		}
	}
	old, _ := filepath.Glob("../*" + suffix)
	if len(old) != len(files) {
		t.Errorf("%d generated files, expected %d: run go generate ./kernel/engine", len(old), len(files))
	}
}

// Cells can import each operator.
func TestOperatorsAreOffered(t *testing.T) {
	folders, err := filepath.Glob("../../../../ops/*/op.go")
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d operators, %v", len(folders), err)
	}
	for _, file := range folders {
		if path := "warpbook/ops/" + filepath.Base(filepath.Dir(file)); !slices.Contains(offered, path) {
			t.Errorf("%s is not offered to cells: add it to offered in main.go, and run go generate ./kernel/engine", path)
		}
	}
}

// TestStdDocs fails when the documentation of a package of the standard library is
// missing. Its text depends on the Go release and is not compared.
func TestStdDocs(t *testing.T) {
	packed, err := os.ReadFile(filepath.Join("..", stdDocs))
	if err != nil {
		t.Fatal(err)
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text, err := d.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	var docs map[string]map[string]string
	if err := json.Unmarshal(text, &docs); err != nil {
		t.Fatal(err)
	}
	for path, names := range docs {
		size := 0
		for name, text := range names {
			if size += len(text); text == "" {
				t.Errorf("%s.%s has no text", path, name)
			}
		}
		if size < 50 {
			t.Errorf("%s: %d bytes", path, size)
		}
	}
	got := slices.Sorted(maps.Keys(docs))
	want, err := stdPackages("..")
	if err != nil || len(want) == 0 || !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("%s has %v, want %v, %v: run go generate ./kernel/engine", stdDocs, got, want, err)
	}
}
