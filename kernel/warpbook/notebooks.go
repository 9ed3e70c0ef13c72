//go:build !windows

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"warpbook/kernel/leaf/atomicfile"
)

// notebooksCommand copies the notebooks of this installation, or of the clone that this
// program was built in, into a folder. It keeps files that are there and differ.
func notebooksCommand(args []string) error {
	others, err := parse(newFlags("notebooks"), args, 1)
	if err != nil {
		return err
	}
	from, err := notebookFolder()
	if err != nil {
		return err
	}
	copied, kept, err := copyNotebooks(from, others[0])
	if err != nil {
		return fmt.Errorf("notebooks: %w", err)
	}
	fmt.Printf("copied %d files to %s\n", copied, others[0])
	if kept > 0 {
		fmt.Printf("kept %d files that differ: remove them to get them anew\n", kept)
	}
	fmt.Println("start with: jupyter lab " + filepath.Join(others[0], "01-reduce.ipynb"))
	return nil
}

// notebookFolder is where the notebooks are: beside an installed program, or in the clone.
func notebookFolder() (string, error) {
	var places []string
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		places = append(places, filepath.Join(filepath.Dir(self), "..", "share", "warpbook", "notebooks"))
	}
	if _, file, _, _ := runtime.Caller(0); filepath.IsAbs(file) { // not with -trimpath
		places = append(places, filepath.Join(filepath.Dir(file), "..", "..", "notebooks"))
	}
	for _, dir := range places {
		if _, err := os.Stat(filepath.Join(dir, "01-reduce.ipynb")); err == nil {
			return filepath.Clean(dir), nil
		}
	}
	return "", fmt.Errorf("notebooks: none in %v: install the wheel again, or take them from a clone", places)
}

// copyNotebooks copies the notebooks and their files, without the results. Each file is
// there whole or not at all. kept counts the files that are there with another content.
func copyNotebooks(from, to string) (copied, kept int, err error) {
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "results":
			return fs.SkipDir
		case !d.Type().IsRegular() || filepath.Ext(path) == ".go": // of the module, not of the notebooks
			return nil
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch old, err := os.ReadFile(target); {
		case err == nil && string(old) == string(text):
			return nil
		case err == nil:
			kept++
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		copied++
		return atomicfile.Write(target, func(w io.Writer) error { _, err := w.Write(text); return err })
	})
	return copied, kept, err
}
