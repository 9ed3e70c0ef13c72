// Package atomicfile writes a file whole or not at all: what stood at the path
// before stays there until everything is written. It does not lock: of two
// writers the last one wins.
package atomicfile

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write has fill write the content into a temporary file in the directory of
// path, and renames it to path when all of it is on disk. When anything goes
// wrong the temporary file is removed and path is untouched.
func Write(path string, fill func(io.Writer) error) error {
	target, err := resolve(path)
	if err != nil {
		return err
	}
	// Not os.CreateTemp, whose files only their owner can read.
	name := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+"."+rand.Text()[:8])
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("atomicfile: write %s: %w", path, err)
	}
	if err := fillFile(file, fill); err != nil {
		os.Remove(name)
		return fmt.Errorf("atomicfile: write %s: %w", path, err)
	}
	if err := os.Rename(name, target); err != nil {
		os.Remove(name)
		return fmt.Errorf("atomicfile: write %s: %w", path, err)
	}
	return nil
}

// resolve follows symbolic links, so that a link stays a link, and refuses what
// a rename would destroy: a device, a pipe, a directory.
func resolve(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, nil // not there yet, or opening it says what is wrong
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", fmt.Errorf("atomicfile: write %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("atomicfile: write %s: it is a %s, expected a file or nothing", path, kind(info.Mode()))
	}
	return target, nil
}

func kind(mode fs.FileMode) string {
	if mode.IsDir() {
		return "directory"
	}
	return "device or pipe"
}

// fillFile writes through a buffer and closes file in every case.
func fillFile(file *os.File, fill func(io.Writer) error) error {
	buffer := bufio.NewWriter(file)
	err := fill(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}
