package corpus

import (
	"os"
	"path/filepath"
	"strings"
)

// exampleNotebooks are the examples with each statement in a cell.
func exampleNotebooks(all []Example) (list []Notebook) {
	left := LeftExamples(Statements)
	for _, x := range all {
		if declare, run := x.Cells(Statements); left[x.Name] == "" {
			list = append(list, Notebook{"example " + x.Name, x.Dir, append(declare[:len(declare):len(declare)], run...), x.unordered, x.twice})
		}
	}
	return list
}

// goTestNotebooks are the run-tests below a folder with each declaration in a cell.
func goTestNotebooks(dir string, names []string) (list []Notebook) {
	left := LeftGoTests(true)
	for _, name := range names {
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || left[name] != "" {
			continue
		}
		if cells, err := Cut(string(src)); err == nil {
			list = append(list, Notebook{"run-test " + name, filepath.Dir(filepath.Join(dir, name)), cells, false, goTestTwice(dir, name)})
		}
	}
	return list
}

// sequenceNotebooks are the sequences of cells of a file of package cells.
func sequenceNotebooks(file string) (list []Notebook, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, text := range strings.Split("\n"+string(data), "\n=== ")[1:] {
		name, rest, _ := strings.Cut(text, "\n")
		n := Notebook{Name: strings.TrimSuffix(filepath.Base(file), ".txt") + "/" + name, Dir: os.TempDir()}
		for _, part := range strings.Split("\n"+rest, "\n--- ")[1:] {
			if kind, code, _ := strings.Cut(part, "\n"); kind == "cell" {
				n.Cells = append(n.Cells, code)
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// Notebooks are those of all corpora: of the Go distribution at root, with its examples, and
// of a folder that has sequences.
func Notebooks(root string, examples []Example, folder string) (all []Notebook, err error) {
	dir := filepath.Join(root, "test")
	names, _ := GoTests(dir, nil) // a toolchain that the go command fetches lacks the folder
	all = append(exampleNotebooks(examples), goTestNotebooks(dir, names)...)
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	for _, file := range files {
		list, err := sequenceNotebooks(file)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, err
}
