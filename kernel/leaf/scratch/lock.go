//go:build !js

package scratch

import (
	"os"
	"syscall"
)

// flock locks a folder for this process, or fails at once.
func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
