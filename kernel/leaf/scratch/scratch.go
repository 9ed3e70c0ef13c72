// Package scratch gives a kernel a folder for files that are useless after its end:
// output of a cell that is too long to show, stacks of an ended program, modules that
// cells have added. The kernel removes the folder when it ends; the next kernel removes
// the folders of killed kernels.
//
// Its main type is Folder, which package cellproc owns; the programs that it starts
// find the folder by Dir. It imports no package of this module.
package scratch

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Env names the environment variable that passes the folder from a kernel to the
// programs that it starts.
const Env = "WARPBOOK_SCRATCH"

// prefix begins the names of the folders.
const prefix = "warpbook-scratch-"

// Folder is the folder of this process. Its lock shows that the process lives.
type Folder struct {
	Path string
	lock *os.File
}

// New makes a folder that only this user can read.
func New() (*Folder, error) {
	for {
		path, err := os.MkdirTemp("", prefix)
		if err != nil {
			return nil, fmt.Errorf("scratch: %w", err)
		}
		if f := take(path); f != nil {
			return f, nil
		} // another kernel has just removed it as a dead kernel's folder
	}
}

// take locks a folder that no process holds; it returns nil if a process holds it, or
// if it does not exist.
func take(path string) *Folder {
	lock, err := os.Open(path)
	if err != nil {
		return nil
	}
	err = flock(lock)
	opened, statErr := lock.Stat()
	now, nowErr := os.Lstat(path) // Lstat, because a link may point anywhere
	if err != nil || statErr != nil || nowErr != nil || !os.SameFile(opened, now) {
		lock.Close()
		return nil
	}
	return &Folder{path, lock}
}

// Leave releases the folder, so that the next kernel removes it; an empty folder is
// removed at once.
func (f *Folder) Leave() {
	os.Remove(f.Path)
	f.lock.Close()
}

// Remove removes the folder and its contents.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	f.lock.Close()
	return err
}

// Sweep removes the folders of this user's kernels that have ended without removing
// them.
func Sweep() {
	paths, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // the pattern is well-formed
	for _, path := range paths {
		if info, err := os.Lstat(path); err != nil || !info.IsDir() || !mine(info) {
			continue
		}
		if f := take(path); f != nil {
			f.Remove()
		}
	}
}

func mine(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// Dir returns the folder of the kernel that has started this process, otherwise the
// system's folder for temporary files.
func Dir() string {
	if dir := os.Getenv(Env); dir != "" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return os.TempDir()
}
