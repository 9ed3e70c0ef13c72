// Package include holds the headers of CUDA that clang compiles against: our own words
// for the names that kernels use. Package gpu/clang calls Dir for their folder; the program
// of a browser, gpu/clang/tab, gets their Texts.
// It imports only atomicfile and buildcache.
package include

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/buildcache"
)

// Implicit is the header that every source begins with.
const Implicit = "cuda_runtime.h"

// Standard is the folder, in that of Dir, of the headers of C for kernels alone. Whole
// programs have those of the host's C library in their place.
const Standard = "standard"

// Program is the folder, in that of Dir, of headers that whole programs alone have.
const Program = "program"

var written struct {
	sync.Mutex
	dir string // guarded by Mutex; "" until every header is there
}

// Dir writes the headers into the user's cache, where they are not there already, and
// returns their folder. Its name has their hash, so that versions of warpbook do not
// share one.
func Dir() (string, error) {
	written.Lock()
	defer written.Unlock()
	if written.dir != "" {
		if _, err := os.Stat(filepath.Join(written.dir, Implicit)); err == nil { // the cache may be deleted at any time
			return written.dir, nil
		}
	}
	cache, err := buildcache.Dir()
	if err != nil {
		return "", fmt.Errorf("include: %w", err)
	}
	dir := filepath.Join(cache, "cuda-headers-"+hash())
	if err := writeTo(dir); err != nil {
		return "", fmt.Errorf("include: write CUDA headers: %w", err)
	}
	written.dir = dir
	return dir, nil
}

// each calls visit with every header, in the same order each time.
func each(visit func(name string, text []byte) error) error {
	return fs.WalkDir(files, "device", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return visit(path[len("device/"):], text)
	})
}

// Texts are all headers by their path, for a compiler without a file system.
func Texts() map[string]string {
	texts := map[string]string{}
	each(func(name string, text []byte) error { // embedded files are readable
		texts[name] = string(text)
		return nil
	})
	return texts
}

func hash() string {
	h := sha256.New()
	each(func(name string, text []byte) error { // embedded files are readable
		_, err := fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil))[:12]
}

// writeTo writes the headers that a folder lacks, or that differ there.
func writeTo(dir string) error {
	return each(func(name string, text []byte) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, text) {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return atomicfile.Write(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	})
}
