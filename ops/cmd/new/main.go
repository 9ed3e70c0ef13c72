// Command new makes the folder of a new operator: one that doubles a vector, with one rung,
// a reference, cases, a call, an example, notes and the suite.
//
//	go run ./ops/cmd/new NAME
//
// The folder builds. Its suite fails until the PTX is generated, and says so. The command
// changes no other file: it prints what is left to do. It runs in the root of the repository.
package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

//go:embed template
var templates embed.FS

// valid matches names that are Go packages and beginnings of CUDA functions.
var valid = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./ops/cmd/new NAME")
		os.Exit(2)
	}
	name := os.Args[1]
	if err := create("ops", name); err != nil {
		fmt.Fprintln(os.Stderr, "new:", err)
		os.Exit(1)
	}
	fmt.Printf(`ops/%[1]s doubles a vector. Next:
  1. change its formula: %[1]s.cu, op.go, reference.go, call.go and both tests
  2. name it in ops/ops.go, a variable for notebooks and the package in Operators, and in
     offered of kernel/engine/symbols/generate/main.go, so that cells import the package
  3. install NVRTC 12.0 to DIR: "Add a rung" of README.md has the command
  4. WARPBOOK_NVRTC=DIR go generate ./ops/%[1]s ./kernel/engine
  5. go test ./ops/%[1]s, then ./ops, whose test of figures prints a sentence for ops/figures.md
`, name)
}

// create writes the folder of an operator below ops.
func create(ops, name string) error {
	if !valid.MatchString(name) || token.IsKeyword(name) {
		return fmt.Errorf("name %q, expected lower-case letters and digits, and no keyword of Go, such as clip", name)
	}
	if _, err := os.Stat(filepath.Join(ops, "ops.go")); err != nil {
		return fmt.Errorf("%w: run it in the root of the repository", err)
	}
	folder := filepath.Join(ops, name)
	if err := os.Mkdir(folder, 0o755); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists, expected a new name", folder)
	} else if err != nil {
		return err
	}
	texts, err := render(name)
	if err != nil {
		return err
	}
	for file, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render returns the files of an operator by name.
func render(name string) (map[string][]byte, error) {
	all, err := template.ParseFS(templates, "template/*")
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, t := range all.Templates() {
		var b bytes.Buffer
		if err := t.Execute(&b, name); err != nil {
			return nil, err
		}
		file, text := strings.Replace(strings.TrimSuffix(t.Name(), ".txt"), "NAME", name, 1), b.Bytes()
		if strings.HasSuffix(file, ".go") { // the order of imports depends on the name
			if text, err = format.Source(text); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
		texts[file] = text
	}
	return texts, nil
}
