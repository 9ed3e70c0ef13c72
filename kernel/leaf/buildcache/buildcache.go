// Package buildcache keeps the programs that this module builds for itself in the
// user's cache folder: the cells program, the nvrtc program, the CUDA worker. Each is
// built once, however many processes request it, is stored complete or not at all, and
// is built again when its file is damaged.
//
// Its main type is Program; its callers are the packages that build a program. Of this
// module it imports only atomicfile, so that both gpu and kernel may use it.
package buildcache

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"warpbook/kernel/leaf/atomicfile"
)

// interval is the time between two lines of progress.
const interval = 5 * time.Second

// Program is one version of a program.
type Program struct {
	Prefix string // the beginning of the file names of all versions, such as "cells-"
	Key    string // distinguishes versions: the file is Prefix + Key
	Title  string // the name in progress messages, such as "the cells program"
	Keep   int    // how many versions stay in the cache, the most recently used first

	// Build makes the program at a path. Its temporary files may lie in the same
	// folder, which is removed afterwards.
	Build func(ctx context.Context, path string, progress io.Writer) error
}

// Dir returns the cache folder, which may not exist yet.
func Dir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("buildcache: %w: set XDG_CACHE_HOME to a folder", err)
	}
	return filepath.Join(base, "warpbook"), nil
}

// Path returns the program's path, before and after it is built.
func (p Program) Path() (string, error) {
	dir, err := Dir()
	return filepath.Join(dir, p.Prefix+p.Key), err
}

// Get returns the path of the program. A missing or damaged program is built first;
// progress gets a line at once, and more lines during a long build.
func (p Program) Get(ctx context.Context, progress io.Writer) (string, error) {
	path, err := p.Path()
	if err != nil {
		return "", err
	}
	if Verify(path) == nil {
		used(path)
		return path, nil
	}
	return path, p.renew(ctx, path, progress, func() bool {
		err := Verify(path) // another process may have built it meanwhile
		if err != nil && exists(path) {
			fmt.Fprintf(progress, "warpbook: %v: building it again\n", err)
		}
		return err == nil
	})
}

// Renew builds the program even if it exists.
func (p Program) Renew(ctx context.Context, progress io.Writer) (string, error) {
	path, err := p.Path()
	if err != nil {
		return "", err
	}
	return path, p.renew(ctx, path, progress, func() bool { return false })
}

// renew builds the program with the lock held, unless another process has built it.
func (p Program) renew(ctx context.Context, path string, progress io.Writer, done func() bool) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("buildcache: %w", err)
	}
	unlock, err := p.lock(ctx, dir, progress)
	if err != nil {
		return err
	}
	defer unlock()
	if done() {
		return nil
	}
	building := "." + p.Prefix + "building"
	for _, left := range glob(dir, building+"*") { // from a killed process
		os.RemoveAll(left)
	}
	scratch, err := os.MkdirTemp(dir, building)
	if err != nil {
		return fmt.Errorf("buildcache: %w", err)
	}
	defer os.RemoveAll(scratch)
	made := filepath.Join(scratch, strings.TrimSuffix(p.Prefix, "-"))
	if err := p.Build(ctx, made, progress); err != nil {
		return err
	}
	if err := Put(path, func(fresh string) error { return os.Rename(made, fresh) }); err != nil {
		return err
	}
	p.prune(dir, path)
	return nil
}

// lock waits for another process that builds a program with this prefix. The file says which
// one: programs of users share prefixes.
func (p Program) lock(ctx context.Context, dir string, progress io.Writer) (unlock func(), err error) {
	path := filepath.Join(dir, "."+p.Prefix+"lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("buildcache: %w", err)
	}
	var said time.Time
	err = atomicfile.Lock(ctx, f, func() {
		if time.Since(said) >= interval {
			said = time.Now()
			title, _ := os.ReadFile(path) // empty before the first build
			fmt.Fprintln(progress, "warpbook: waiting for another warpbook that builds", cmp.Or(string(title), p.Title))
		}
	})
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("buildcache: %w", err)
	}
	if f.Truncate(0) == nil { // without the title the message has another one
		f.WriteAt([]byte(p.Title), 0)
	}
	return func() { f.Close() }, nil
}

// prune removes all versions except the most recently used. A running program continues
// to run.
func (p Program) prune(dir, newest string) {
	paths := slices.DeleteFunc(glob(dir, p.Prefix+"*"), func(path string) bool { return path == newest })
	slices.SortFunc(paths, func(a, b string) int { return LastUse(b).Compare(LastUse(a)) })
	for _, path := range paths[min(p.Keep-1, len(paths)):] {
		Remove(path) // after an error the next build tries again; the file may be another user's
	}
}

// Newest returns the most recently used version, "" if there is none.
func Newest(dir, prefix string) string {
	paths := glob(dir, prefix+"*")
	if len(paths) == 0 {
		return ""
	}
	return slices.MaxFunc(paths, func(a, b string) int { return LastUse(a).Compare(LastUse(b)) })
}

func glob(dir, pattern string) []string {
	paths, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are well-formed
	return paths
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
