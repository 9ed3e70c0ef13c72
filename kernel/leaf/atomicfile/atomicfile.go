// Package atomicfile replaces files as a whole or not at all: the previous content
// stays until the new content is on disk. Write replaces one file, Make a file that
// another program makes, Together several files of a folder. Of two concurrent writers
// of one file the last one wins. It imports only the standard library.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write calls fill to write the content into a temporary file in the directory of path,
// and renames it to path when all of it is on disk. On an error the temporary file is
// removed and path is untouched.
func Write(path string, fill func(io.Writer) error) error { return WriteMode(path, 0o666, fill) }

// WriteMode is Write for a file with that mode, less the umask.
func WriteMode(path string, mode fs.FileMode, fill func(io.Writer) error) error {
	return Make(path, func(fresh string) error { return create(fresh, mode, fill) })
}

// Make calls a function that makes the file at a temporary path in the directory of
// path. No file exists there and no other process uses it. Make renames the file to
// path when all of it is on disk. On an error the temporary file is removed and path is
// untouched.
func Make(path string, at func(fresh string) error) error {
	target, err := resolve(path)
	if err != nil {
		return err
	}
	fresh := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+"."+rand.Text()[:8])
	defer os.Remove(fresh) // a no-op after the rename
	err = at(fresh)
	if err == nil {
		err = syncFile(fresh)
	}
	if err == nil {
		err = os.Rename(fresh, target)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(target))
	}
	if err != nil {
		return fmt.Errorf("atomicfile: write %s: %w", path, named(err, fresh, target))
	}
	return nil
}

// named makes an error about the temporary file one about the file of the caller, or
// about its folder if that does not exist.
func named(err error, fresh, target string) error {
	var of *fs.PathError
	if errors.As(err, &of) && of.Path == fresh {
		of.Path = target
		if folder := filepath.Dir(target); errors.Is(of, fs.ErrNotExist) {
			of.Path = folder
		}
	}
	return err
}

// syncFile waits until a file is on disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// resolve follows symbolic links, so that a link stays a link, and rejects paths that a
// rename would destroy: a device, a pipe, a directory.
func resolve(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, nil // the file is missing, or opening it reports the error
	}
	if err := Replaceable(target); err != nil {
		return "", fmt.Errorf("atomicfile: write %w", err)
	}
	return target, nil
}

func kind(mode fs.FileMode) string {
	if mode.IsDir() {
		return "directory"
	}
	return "device or pipe"
}
