// Package cellbuild finds the cells program, the one that links the Go engine, and
// builds it into the user's cache if it is missing. Its main function is Cells; the
// commands that run cells call it.
//
// It starts no cells program, and must import neither the engine nor package cellproc.
// The build needs the go command and this module's source. An installation has the
// program beside the others, and the variable WARPBOOK_CELLS names one built elsewhere.
package cellbuild

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"warpbook/kernel/leaf/buildcache"
)

// Env names the environment variable with the absolute path of a cells program
// to use instead of building one.
const Env = "WARPBOOK_CELLS"

const (
	prefix = "cells-" // of programs in the cache
	keep   = 3        // versions that the cache keeps
)

// Location is the place of the cells program, before or after it is built.
type Location struct {
	Path  string
	Built bool
	key   string // of the version
	link  string // the linker's flags

	// Root and Go are empty for an installed program and one that Env names.
	Root string // folder of this module's go.mod
	Go   string // version of the toolchain that builds, such as "go1.26.8"
}

// Locate returns the location of the cells program for the current source and
// toolchain. It builds nothing.
func Locate(ctx context.Context) (Location, error) {
	if path := os.Getenv(Env); path != "" {
		return override(path)
	}
	if path := buildcache.Installed("cells"); path != "" {
		return installed(path)
	}
	root, err := moduleRoot()
	if err != nil {
		return Location{}, err
	}
	tools, err := toolchain(ctx, root)
	if err != nil {
		return Location{}, err
	}
	hash, err := HashSource(root)
	if err != nil {
		return Location{}, err
	}
	at := Location{Root: root, Go: tools.Version, key: tools.key() + "-" + hash, link: tools.link(hash)}
	if at.Path, err = at.program().Path(); err != nil {
		return Location{}, fmt.Errorf("cellbuild: %w, or %s to a built cells program", err, Env)
	}
	at.Built = buildcache.Verify(at.Path) == nil
	return at, nil
}

// program returns the cells program as an entry of the cache.
func (at Location) program() buildcache.Program {
	return buildcache.Program{
		Prefix: prefix, Key: at.key, Title: "the cells program", Keep: keep,
		Build: func(ctx context.Context, path string, progress io.Writer) error {
			return build(ctx, at, path, progress)
		},
	}
}

func override(path string) (Location, error) {
	switch {
	case !filepath.IsAbs(path):
		return Location{}, fmt.Errorf("cellbuild: %s=%s: a relative path, expected an absolute one", Env, path)
	}
	if err := buildcache.Verify(path); err != nil {
		return Location{}, fmt.Errorf("cellbuild: %s=%w, expected a cells program: go run ./install makes a new one", Env, err)
	}
	return Location{Path: path, Built: true}, nil
}

// installed is the location of a program that was installed with this one.
func installed(path string) (Location, error) {
	if err := buildcache.Verify(path); err != nil {
		return Location{}, fmt.Errorf("cellbuild: %w, expected the installed cells program: install warpbook again", err)
	}
	return Location{Path: path, Built: true}, nil
}

// Cells returns the path of the cells program. If it must be built first, also because
// its file is damaged, progress gets a line at once and every few seconds.
func Cells(ctx context.Context, progress io.Writer) (string, error) {
	at, err := Locate(ctx)
	if err != nil || at.Root == "" {
		return at.Path, err
	}
	return at.program().Get(ctx, progress)
}
