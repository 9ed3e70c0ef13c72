// Package runtime holds the library that programs are linked with: CUDA's runtime API in C,
// in our own words. Package program compiles it, once for each version of the compiler.
// It imports nothing of gpu but the protocol.
package runtime

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"warpbook/gpu/program/wire"
	"warpbook/kernel/leaf/lazyregexp"
)

// The sources are in source: program.c is the library; nvidia.c is what a program for a GPU
// needs beside NVIDIA's; new.c is linked where nothing else of the library of C++ is needed.
//
//go:embed source
var files embed.FS

// each calls visit with every file, also with the header of the protocol.
func each(visit func(name, text string) error) error {
	list, err := fs.ReadDir(files, "source")
	if err != nil {
		return err
	}
	for _, f := range list {
		text, err := files.ReadFile("source/" + f.Name())
		if err != nil {
			return err
		}
		if err := visit(f.Name(), string(text)); err != nil {
			return err
		}
	}
	return visit("wire.h", wire.Header())
}

// Hash distinguishes versions of the library.
func Hash() string {
	h := sha256.New()
	each(func(name, text string) error { // embedded files are readable
		_, err := fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil))[:12]
}

// Write writes the sources into a folder.
func Write(dir string) error {
	return each(func(name, text string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) })
}

var call = lazyregexp.New(`(?m)^API (?:const )?\w+ \*?(cuda\w+)\(`)

// Calls are the functions of CUDA's runtime API that the library defines, in order.
func Calls() (names []string) {
	each(func(_, text string) error { // embedded files are readable
		for _, m := range call().FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		return nil
	})
	slices.Sort(names)
	return names
}
