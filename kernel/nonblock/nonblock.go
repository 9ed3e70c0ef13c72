// Package nonblock reads and writes non-blocking pipes and sockets without notifying
// the scheduler of the runtime. The first notified call after a pause wakes the
// runtime's monitor, a thread that then runs every 20 µs on a core that another program
// needs. Without this package 100 000 lines of output take 1.6 times as long, a small
// cell 1.1 times. Its main types are Stream and Pipe. It imports no package of the
// kernel.
//
// A goroutine that has to wait does so in the runtime's poller. The package does not
// work for files on a disk.
package nonblock

import (
	"io"
	"syscall"
)

// Stream is a pipe or a socket. As with an os.File, one goroutine may read while
// another writes.
type Stream struct {
	conn syscall.RawConn
	err  error // why there is no conn
}

// New returns a Stream on a non-blocking pipe or socket, such as those of packages os
// and net.
func New(c syscall.Conn) *Stream {
	conn, err := c.SyscallConn()
	return &Stream{conn, err}
}

// Read waits until data is available.
func (s *Stream) Read(p []byte) (n int, err error) {
	if len(p) == 0 || s.err != nil {
		return 0, s.err
	}
	if waiting := s.conn.Read(func(fd uintptr) bool {
		n, err = Read(int(fd), p)
		return err != syscall.EAGAIN
	}); waiting != nil {
		return 0, waiting
	}
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Write waits until all data is written.
func (s *Stream) Write(p []byte) (written int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	if waiting := s.conn.Write(func(fd uintptr) bool {
		for written < len(p) {
			n := 0
			if n, err = Write(int(fd), p[written:]); err != nil {
				return err != syscall.EAGAIN
			}
			written += n
		}
		return true
	}); waiting != nil {
		return written, waiting
	}
	return written, err
}

// Read reads once from a non-blocking descriptor. The error is EAGAIN if no data is
// available.
func Read(fd int, p []byte) (int, error) { return again(read, fd, p) }

// Write writes once to a non-blocking descriptor. The error is EAGAIN if nothing can be
// written.
func Write(fd int, p []byte) (int, error) { return again(write, fd, p) }

// again repeats a call that a signal has interrupted.
func again(call func(int, []byte) (int, error), fd int, p []byte) (int, error) {
	for {
		n, err := call(fd, p)
		if err == nil {
			return n, nil
		}
		if err != syscall.EINTR {
			return 0, err
		}
	}
}
