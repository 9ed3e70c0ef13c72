// Package nonblock reads and writes pipes and sockets that do not block without
// telling the scheduler of the runtime. A call that may block must tell it, and
// the first after a pause wakes the runtime's monitor, a thread that then looks
// every 20 µs for work on a core that another program wants to have: one in ten
// microseconds of a small cell.
//
// Who waits, waits in the runtime's poller. Files on a disk are not for it.
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

// New takes a pipe or a socket that does not block, such as those that the
// packages os and net make.
func New(c syscall.Conn) *Stream {
	conn, err := c.SyscallConn()
	return &Stream{conn, err}
}

// Read waits until there is something to read.
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

// Write waits until all is written.
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

// Read reads once from a descriptor that does not block. The error is EAGAIN when
// there is nothing.
func Read(fd int, p []byte) (int, error) { return again(read, fd, p) }

// Write writes once to a descriptor that does not block. The error is EAGAIN when
// nothing can be written.
func Write(fd int, p []byte) (int, error) { return again(write, fd, p) }

// again makes a call until no signal interrupts it.
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
