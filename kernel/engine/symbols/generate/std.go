package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// stdDocs is the file with the documentation of the standard library, which the engine
// offers without documentation.
const stdDocs = "std_docs.zip"

// enginePackages is the import path of the engine's files for the standard library.
const enginePackages = "github.com/goplus/ixgo/pkg/"

// stdPackages are those that std.go offers.
func stdPackages(dir string) (paths []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "std.go"), nil, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	for _, s := range f.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("generate: std.go: %w", err)
		}
		if std, ok := strings.CutPrefix(path, enginePackages); ok {
			paths = append(paths, std)
		}
	}
	return paths, nil
}

// generateStdDocs returns a zip file with a member for each package: a JSON
// object of names and their documentation.
func generateStdDocs(dir string) ([]byte, error) {
	paths, err := stdPackages(dir)
	if err != nil {
		return nil, err
	}
	sources, err := load(paths)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, s := range sources {
		text, err := json.Marshal((&writer{source: s}).docs())
		if err != nil {
			return nil, fmt.Errorf("generate: %s: %w", s.types.Path(), err)
		}
		m, err := z.Create(s.types.Path())
		if err != nil {
			return nil, fmt.Errorf("generate: %s: %w", stdDocs, err)
		}
		if _, err := m.Write(text); err != nil {
			return nil, fmt.Errorf("generate: %s: %w", stdDocs, err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("generate: %s: %w", stdDocs, err)
	}
	return b.Bytes(), nil
}
