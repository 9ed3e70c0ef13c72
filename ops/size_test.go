package ops

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// embedded are the bytes of the files that each package of this project embeds, and the
// packages that it needs, itself included.
func embedded(t *testing.T) (bytes map[string]int64, deps map[string][]string) {
	t.Helper()
	c := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}}|{{.Dir}}|{{join .Deps " "}}|{{join .EmbedFiles "\t"}}`, ".")
	out, err := c.Output()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	bytes, deps = map[string]int64{}, map[string][]string{}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSpace(line), "|")
		if len(part) < 4 || !strings.HasPrefix(part[0], module) {
			continue
		}
		deps[part[0]] = append(strings.Fields(part[2]), part[0])
		for _, name := range strings.FieldsFunc(part[3], func(r rune) bool { return r == '\t' }) {
			info, err := os.Stat(filepath.Join(part[1], name))
			if err != nil {
				t.Fatal(err)
			}
			bytes[part[0]] += info.Size()
		}
	}
	return bytes, deps
}

// A program that imports one operator carries the PTX of no other: beside its own files
// it embeds only the sources of the model.
func TestProgramsEmbedTheirOperatorOnly(t *testing.T) {
	bytes, deps := embedded(t)
	for _, folder := range folders() {
		name, others := module+folder, int64(0)
		for _, dep := range deps[name] {
			if dep != name {
				others += bytes[dep]
			}
		}
		t.Logf("%-16s embeds %8d bytes of its own, %d of what it needs", folder, bytes[name], others)
		if bytes[name] == 0 || others > 512<<10 {
			t.Errorf("%s embeds %d bytes, and %d of what it needs, expected at most %d", folder, bytes[name], others, 512<<10)
		}
	}
}

// The size of a program that imports one operator, beside that of the catalogue. Only
// with WARPBOOK_LONG, because it links a program for each.
func TestSizeOfPrograms(t *testing.T) {
	if os.Getenv("WARPBOOK_LONG") == "" {
		t.Skip("links a program for each operator: set WARPBOOK_LONG=1, as CI does")
	}
	bytes, _ := embedded(t)
	base := programSize(t, "ops/ladder")
	t.Logf("%-16s %8d bytes", "ops/ladder", base)
	for _, folder := range append(slices.Clone(folders()), "ops") {
		size, most := programSize(t, folder), base+bytes[module+folder]+1<<20
		t.Logf("%-16s %8d bytes", folder, size)
		if folder != "ops" && size > most {
			t.Errorf("a program with %s takes %d bytes, expected at most %d: the model's, its own files and 1 MiB", folder, size, most)
		}
	}
}

// programSize builds a program that imports a package, in a folder that is only in an
// overlay, and returns the size without symbols.
func programSize(t *testing.T, imported string) int64 {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	source, program, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "program"), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "size_of_a_program", "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{source: "package main\n\nimport _ \"" + module + imported + "\"\n\nfunc main() {}\n", overlay: string(text)} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("go", "build", "-overlay", overlay, "-ldflags", "-s -w", "-o", program, "./size_of_a_program")
	c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
