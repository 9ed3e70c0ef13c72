//go:build !js

package atomicfile

import (
	"os"
	"syscall"
)

// flock locks a file or a folder for this process, or fails at once.
func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
