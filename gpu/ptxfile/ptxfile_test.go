package ptxfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// PTX that is written is read as it was, smaller on disk; the same PTX keeps the bytes of its
// file, whichever compressor wrote them.
func TestWriteAndRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.sm_75.ptx")
	text := ".version 8.0\n" + strings.Repeat("add.f32 %f1, %f2, %f3;\n", 1000)
	if err := Write(name, text); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(name); err != nil || got != text {
		t.Fatalf("%d bytes, %v, expected the %d that were written", len(got), err, len(text))
	}
	packed, err := os.ReadFile(name + Extension)
	if err != nil || len(packed)*10 > len(text) {
		t.Fatalf("%d bytes for %d, %v, expected a tenth at most", len(packed), len(text), err)
	}
	// A frame that is empty, of the format's skippable kind: other bytes, the same PTX.
	other := append([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, packed...)
	if err := os.WriteFile(name+Extension, other, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(name, text); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(name + Extension); err != nil || string(kept) != string(other) {
		t.Errorf("a file with the same PTX was written again, %v", err)
	}
}

// A damaged file is an error that names it, and so is one that is not there.
func TestDamaged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.ptx")
	if _, err := ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, expected that there is no file", err)
	}
	if err := Write(name, strings.Repeat("ret;\n", 100)); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(name + Extension)
	if err != nil {
		t.Fatal(err)
	}
	for i := range packed {
		damaged := append([]byte{}, packed...)
		damaged[i] ^= 0x10
		if err := os.WriteFile(name+Extension, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if text, err := ReadFile(name); err == nil && text != strings.Repeat("ret;\n", 100) || err != nil && !strings.Contains(err.Error(), "x.ptx.zst") {
			t.Errorf("byte %d: %q, %v, expected an error that names the file", i, text, err)
		}
	}
}
