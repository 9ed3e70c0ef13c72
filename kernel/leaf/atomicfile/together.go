package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// File is one file of a set.
type File struct {
	Name string // in the folder of the set
	Fill func(io.Writer) error
}

// A set is written into its own folder inside the destination. The suffix of that
// folder's name is the state of the set.
const (
	setPrefix  = ".set-"
	unfinished = ".new"  // the files are being written: incomplete
	finished   = ".move" // all files are on disk: they move to their places
)

// Together replaces files of a folder together or not at all, and never at the same
// time as another process. If a process was killed during a set, the next call finishes
// or removes the set. A link in the place of a file is replaced.
func Together(ctx context.Context, dir string, files []File) error {
	err := together(ctx, dir, files)
	if err != nil {
		return fmt.Errorf("atomicfile: write %d files in %s: %w", len(files), dir, err)
	}
	return nil
}

func together(ctx context.Context, dir string, files []File) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close() // releases the lock
	switch err := Lock(ctx, folder, nil); {
	case err == nil:
		if err := recoverSets(dir); err != nil {
			return err
		}
	case !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.ENOLCK): // some network folders lack locks
		return err
	}
	for _, f := range files {
		if err := Replaceable(filepath.Join(dir, f.Name)); err != nil {
			return err
		}
	}
	stage, err := os.MkdirTemp(dir, setPrefix+"*"+unfinished)
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage) // a no-op after the rename
	for _, f := range files {
		if err := create(filepath.Join(stage, f.Name), 0o666, f.Fill); err != nil {
			return err
		}
	}
	ready := strings.TrimSuffix(stage, unfinished) + finished
	if err := errors.Join(syncFolder(stage), os.Rename(stage, ready), folder.Sync()); err != nil {
		return err
	}
	return errors.Join(moveSet(ready, dir), folder.Sync())
}

// recoverSets completes the sets that another process began. The caller holds the lock,
// so that process has ended.
func recoverSets(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case !e.IsDir() || !strings.HasPrefix(e.Name(), setPrefix):
		case strings.HasSuffix(e.Name(), unfinished):
			err = errors.Join(err, os.RemoveAll(path))
		case strings.HasSuffix(e.Name(), finished):
			err = errors.Join(err, moveSet(path, dir))
		}
	}
	return err
}

// moveSet moves the files of a finished set to their places.
func moveSet(ready, dir string) error {
	entries, err := os.ReadDir(ready)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(ready, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Remove(ready)
}

// Replaceable returns why a path cannot be written, nil if it is a file or does not
// exist.
func Replaceable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil // the path is missing, or opening it reports the error
	}
	return fmt.Errorf("%s: it is a %s, expected a file or nothing", path, kind(info.Mode()))
}

// lockRetry is the time between two attempts to get a lock that another process holds.
const lockRetry = 20 * time.Millisecond

// Lock waits until no other process holds the lock of the file or folder. waiting,
// if set, is called before each wait. The lock ends when f is closed.
func Lock(ctx context.Context, f *os.File, waiting func()) error {
	for {
		err := flock(f)
		switch {
		case err == nil:
			return nil
		case err == syscall.EINTR:
			continue
		case err != syscall.EWOULDBLOCK:
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		if waiting != nil {
			waiting()
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return fmt.Errorf("lock %s: %w", f.Name(), ctx.Err())
		}
	}
}

// syncFolder waits until the names in a folder are on disk.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// create makes a new file and waits until it is on disk.
func create(path string, mode os.FileMode, fill func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriter(file)
	err = fill(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
