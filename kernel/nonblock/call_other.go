//go:build !linux || race

// The race detector derives the order of events from these calls.

package nonblock

import "syscall"

func read(fd int, p []byte) (int, error)  { return syscall.Read(fd, p) }
func write(fd int, p []byte) (int, error) { return syscall.Write(fd, p) }
