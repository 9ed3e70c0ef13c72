//go:build !linux

package nonblock

import (
	"os"
	"syscall"
)

// Pipe is the reading end of a pipe.
type Pipe struct {
	file *os.File
	pipe syscall.RawConn
}

// NewPipe makes a pipe. Its writing end may block.
func NewPipe() (r *Pipe, w *os.File, err error) {
	file, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	pipe, err := file.SyscallConn()
	if err != nil {
		file.Close()
		w.Close()
		return nil, nil, err
	}
	return &Pipe{file, pipe}, w, nil
}

// Whenever calls read each time the pipe may have data. read takes all data and
// reports whether the pipe has ended. Closing the pipe also ends Whenever.
func (p *Pipe) Whenever(read func(fd int) (ended bool)) {
	p.pipe.Read(func(fd uintptr) bool { return read(int(fd)) })
}

// Control calls f with the descriptor, which does not block.
func (p *Pipe) Control(f func(fd int)) error {
	return p.pipe.Control(func(fd uintptr) { f(int(fd)) })
}

// Close ends Whenever, also while it waits.
func (p *Pipe) Close() error { return p.file.Close() }

// Grow does nothing: pipes have one size here.
func Grow(syscall.Conn, int) {}

// SyscallConn returns the pipe's descriptor.
func (p *Pipe) SyscallConn() (syscall.RawConn, error) { return p.pipe, nil }
