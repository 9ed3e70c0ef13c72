package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"syscall"
	"time"
)

const (
	prefix = "cells-"   // of finished programs in the cache
	making = "building" // prefix of folders in which one is being built
	keep   = 3          // programs that pruning leaves
)

// cacheDir makes the folder of built programs if need be.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("program: cache: %w: set XDG_CACHE_HOME, or %s to a built cells program", err, Env)
	}
	return filepath.Join(base, "warpbook"), nil
}

// install builds the program at its place in the cache: whole or not at all,
// and once, however many processes ask for it.
func install(ctx context.Context, at Location, progress io.Writer) error {
	dir := filepath.Dir(at.Path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("program: cache: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(dir, "lock"), progress)
	if err != nil {
		return err
	}
	defer unlock()
	if executable(at.Path) { // by the process that held the lock
		return nil
	}
	removeAll(filepath.Join(dir, making+"*")) // of a process that was killed
	tmp, err := os.MkdirTemp(dir, making)
	if err != nil {
		return fmt.Errorf("program: cache: %w", err)
	}
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, "cells")
	if err := build(ctx, at, made, progress); err != nil {
		return err
	}
	if err := os.Rename(made, at.Path); err != nil {
		return fmt.Errorf("program: cache: %w", err)
	}
	return prune(dir)
}

// lock waits for the lock file and returns what releases it. The system
// releases it too when the process ends.
func lock(ctx context.Context, path string, progress io.Writer) (func(), error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("program: cache: %w", err)
	}
	const retry = 200 * time.Millisecond
	for tries := 0; ; tries++ {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != syscall.EWOULDBLOCK {
			f.Close()
			return nil, fmt.Errorf("program: lock %s: %w", path, err)
		}
		if tries%int(interval/retry) == 0 {
			fmt.Fprintln(progress, "warpbook: waiting for another warpbook that builds the cells program")
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("program: lock %s: %w", path, ctx.Err())
		}
	}
}

// prune removes all but the programs used last.
func prune(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil {
		return fmt.Errorf("program: cache: %w", err)
	}
	used := map[string]time.Time{}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			used[path] = info.ModTime()
		}
	}
	sort.Slice(paths, func(i, j int) bool { return used[paths[i]].After(used[paths[j]]) })
	for _, path := range paths[min(keep, len(paths)):] {
		os.Remove(path) // or the next build does
	}
	return nil
}

func removeAll(pattern string) {
	paths, _ := filepath.Glob(pattern)
	for _, path := range paths {
		os.RemoveAll(path)
	}
}
