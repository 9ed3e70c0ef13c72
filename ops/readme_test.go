package ops

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// README's "Add a rung", executed as it is written: in a copy of the tree the function
// and the row are put in, the commands run, and the new rung passes the suite. Before the
// PTX is generated the suite fails.
func TestReadmeAddsAVariant(t *testing.T) {
	nvrtc := os.Getenv("WARPBOOK_NVRTC")
	if nvrtc == "" {
		t.Skip("it compiles with NVRTC 12.0: set WARPBOOK_NVRTC, as CI does")
	}
	blocks := readmeBlocks(t)
	function, row, commands := blocks[0], blocks[1], strings.Split(strings.TrimSpace(blocks[2]), "\n")
	if len(commands) != 3 || !strings.HasPrefix(commands[0], "pip install --target ~/nvrtc ") {
		t.Fatalf("commands %q, expected pip install, go generate and go test", commands)
	}
	root := copyTree(t)
	edit := func(name string, change func(string) string) {
		path := filepath.Join(root, name)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(change(string(text))), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	edit("ops/reduce/reduce.cu", func(text string) string { return text + "\n" + function })
	edit("ops/reduce/rungs.go", func(text string) string {
		before, table, found := strings.Cut(text, "\nvar variants = []ladder.Variant{")
		table, after, ended := strings.Cut(table, "\n}\n")
		if !found || !ended {
			t.Fatal("ops/reduce/rungs.go has no table of variants")
		}
		return before + "\nvar variants = []ladder.Variant{" + table + "\n" + row + "}\n" + after
	})
	if out, err := shell(root, "go test -run TestConformance$/files ./ops/reduce"); err == nil || !strings.Contains(out, "go generate ./ops/reduce") {
		t.Errorf("without go generate: %v, expected a failure that names it:\n%s", err, out)
	}
	if out, err := shell(root, strings.ReplaceAll(commands[1], "~/nvrtc", nvrtc)); err != nil {
		t.Fatalf("%s: %v\n%s", commands[1], err, out)
	}
	out, err := shell(root, strings.Replace(commands[2], "go test", "go test -v", 1))
	if unprofiled := regexp.MustCompile(`not compared with NVIDIA's profiler: .*\breduce_four_adds at `); err != nil || !unprofiled.MatchString(out) {
		t.Errorf("%s: %v, expected it to pass and to list the rung without a profile:\n%s", commands[2], err, out)
	}
}

// readmeBlocks are the indented blocks of README's "Add a rung".
func readmeBlocks(t *testing.T) (blocks []string) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Add a rung\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !found || !ended {
		t.Fatal("README.md has no section Add a rung")
	}
	inside := false
	for line := range strings.Lines(section) {
		code, indented := strings.CutPrefix(line, "    ")
		if indented && !inside {
			blocks = append(blocks, "")
		}
		if inside = indented; indented {
			blocks[len(blocks)-1] += code
		}
	}
	if len(blocks) != 3 {
		t.Fatalf("%d blocks, expected a function, a row and commands", len(blocks))
	}
	return blocks
}

// copyTree copies the files of the operators.
func copyTree(t *testing.T) string {
	root := t.TempDir()
	for _, name := range []string{"gpu", "kernel", "ops"} {
		if err := os.CopyFS(filepath.Join(root, name), os.DirFS(filepath.Join("..", name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func shell(dir, command string) (string, error) {
	c := exec.Command("sh", "-c", command)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}
