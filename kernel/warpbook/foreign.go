//go:build !windows

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/lazyregexp"
)

// ours matches the beginning or the end of every file of text that warpbook writes: a
// page, Markdown, a PDF (whose creator is UTF-16), a record, the rows of a history.
var ours = lazyregexp.New(`<meta name="generator" content="warpbook">|<!-- warpbook |` +
	`\x00w\x00a\x00r\x00p\x00b\x00o\x00o\x00k|^\{\s*"schema": \d+,\s*"(notebook|comparisons)":|^run,started,notebook,device,commit,`)

// markBytes is how much of the beginning and of the end of a file is searched.
const markBytes = 16 << 10

// mayReplace returns why a result must not be written to a path: an input is there, or a
// file that warpbook has not written, unless the user forces it. A path of a device or
// folder is reported by the writer.
func mayReplace(path string, force bool, inputs ...string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	for _, input := range inputs {
		if from, err := os.Stat(input); err == nil && os.SameFile(from, info) {
			return fmt.Errorf("%s: it is the input %s, expected another name", path, input)
		}
	}
	if force || info.Size() == 0 || isOurs(path, info.Size()) {
		return nil
	}
	return fmt.Errorf("%s: warpbook has not written this file, expected another name; --force replaces it", path)
}

// isOurs reports whether warpbook has written a file. A notebook is a result if the
// record of its run is beside it.
func isOurs(path string, size int64) bool {
	if filepath.Ext(path) == ".ipynb" {
		path = strings.TrimSuffix(path, ".ipynb") + ".json"
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var text bytes.Buffer
	io.CopyN(&text, f, markBytes) // an error leaves less text
	if ours().Match(text.Bytes()) {
		return true
	}
	text.Reset()
	f.Seek(max(0, size-markBytes), io.SeekStart)
	io.CopyN(&text, f, markBytes)
	return ours().Match(text.Bytes())
}

// listName is the file of a folder of tables and plots that names those which warpbook has
// written there, a line each: nothing in a CSV or PNG says whose it is.
const listName = ".warpbook"

// written are the files that warpbook has written into a folder of tables and plots.
func written(folder string) []string {
	text, _ := os.ReadFile(filepath.Join(folder, listName)) // none in a new folder
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// mayFill is mayReplace for files of a folder.
func mayFill(folder string, files []atomicfile.File, force bool) error {
	known := written(folder)
	for _, f := range files {
		if slices.Contains(known, f.Name) {
			continue
		}
		if err := mayReplace(filepath.Join(folder, f.Name), force); err != nil {
			return err
		}
	}
	return nil
}

// listed adds the list of a folder to files that are written there.
func listed(folder string, files []atomicfile.File) []atomicfile.File {
	names := written(folder)
	for _, f := range files {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	return append(files, atomicfile.File{Name: listName, Fill: func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(names, "\n")+"\n")
		return err
	}})
}

// forceUsage describes the flag --force.
const forceUsage = "replace files that warpbook has not written"
