package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"warpbook/kernel/engine/docs"
)

// stdDocs is the file with the documentation of the standard library, which the engine
// offers without documentation.
const stdDocs = "std_docs.json.zst"

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

// generateStdDocs returns the compressed JSON object of all packages: objects of names and
// their documentation.
func generateStdDocs(dir string) ([]byte, error) {
	paths, err := stdPackages(dir)
	if err != nil {
		return nil, err
	}
	sources, err := load(paths)
	if err != nil {
		return nil, err
	}
	texts := map[string]map[string]string{}
	for _, s := range sources {
		texts[s.types.Path()] = docs.Of(s.fset, s.doc)
	}
	text, err := json.Marshal(texts)
	if err != nil {
		return nil, fmt.Errorf("generate: %s: %w", stdDocs, err)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("generate: %s: %w", stdDocs, err)
	}
	defer encoder.Close()
	return encoder.EncodeAll(text, nil), nil
}
