// Package program finds the cells program, the one that links the Go engine,
// and builds it into the user's cache when it is not there yet.
//
// It starts no session and knows nothing of what the program does. The build
// needs the go command and this module's source; where neither is, the
// variable WARPBOOK_CELLS names a program that was built elsewhere.
package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Env names the environment variable with the absolute path of a cells program
// to use instead of building one.
const Env = "WARPBOOK_CELLS"

// Location says where the cells program is, or will be once it is built.
type Location struct {
	Path  string
	Built bool

	// Empty where Env names the program.
	Root string // folder of this module's go.mod
	Go   string // version of the toolchain that builds, such as "go1.26.8"
}

// Locate finds the cells program for the source as it is now and the toolchain
// that would build it. It builds nothing.
func Locate(ctx context.Context) (Location, error) {
	if path := os.Getenv(Env); path != "" {
		return override(path)
	}
	root, err := moduleRoot()
	if err != nil {
		return Location{}, err
	}
	tools, err := toolchain(ctx, root)
	if err != nil {
		return Location{}, err
	}
	hash, err := hashSource(root)
	if err != nil {
		return Location{}, err
	}
	dir, err := cacheDir()
	if err != nil {
		return Location{}, err
	}
	path := filepath.Join(dir, prefix+tools.key()+"-"+hash)
	return Location{Path: path, Built: executable(path), Root: root, Go: tools.Version}, nil
}

func override(path string) (Location, error) {
	switch {
	case !filepath.IsAbs(path):
		return Location{}, fmt.Errorf("program: %s=%s: a relative path, expected an absolute one", Env, path)
	case !executable(path):
		return Location{}, fmt.Errorf("program: %s=%s: no executable file, expected a cells program", Env, path)
	}
	return Location{Path: path, Built: true}, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Cells returns the path of the cells program. Where it must be built first,
// progress is told so at once, and again every few seconds.
func Cells(ctx context.Context, progress io.Writer) (string, error) {
	at, err := Locate(ctx)
	if err != nil || at.Root == "" {
		return at.Path, err
	}
	if at.Built {
		now := time.Now()
		os.Chtimes(at.Path, now, now) // pruning keeps what was used last; no harm if not
		return at.Path, nil
	}
	return at.Path, install(ctx, at, progress)
}
