package nonblock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// Pipe is the reading end of a pipe. The runtime's poller wakes a thread at each
// write to a pipe, even when no goroutine waits for it. So each pipe has its own
// epoll, which is armed while a goroutine waits, and the poller watches the epoll.
type Pipe struct {
	file, epoll *os.File
	pipe, ready syscall.RawConn // of the pipe and its epoll
}

// NewPipe makes a pipe. Its writing end may block.
func NewPipe() (r *Pipe, w *os.File, err error) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	r, w = &Pipe{file: os.NewFile(uintptr(ends[0]), "|0")}, os.NewFile(uintptr(ends[1]), "|1")
	if err := r.watch(ends[0]); err != nil {
		r.Close()
		w.Close()
		return nil, nil, err
	}
	return r, w, nil
}

// watch makes the epoll. os takes the pipe's file for a blocking one and does not give
// it to the poller; it gives the poller the epoll, which does not block.
func (p *Pipe) watch(fd int) error {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	err = errors.Join(syscall.SetNonblock(epoll, true), syscall.SetNonblock(fd, true))
	p.epoll = os.NewFile(uintptr(epoll), "epoll")
	if err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{}); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	if p.pipe, err = p.file.SyscallConn(); err == nil {
		p.ready, err = p.epoll.SyscallConn()
	}
	if err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	return nil
}

// Whenever calls read each time the pipe may have data. read takes all data and
// reports whether the pipe has ended. Closing the pipe also ends Whenever.
func (p *Pipe) Whenever(read func(fd int) (ended bool)) {
	for ended := false; !ended; {
		if err := p.Control(func(fd int) { ended = read(fd) }); err != nil {
			return
		}
		if !ended && p.wait() != nil {
			return
		}
	}
}

// wait returns when the pipe has data. The epoll is armed for one event.
func (p *Pipe) wait() error {
	watched := false
	return p.ready.Read(func(epoll uintptr) bool {
		if !watched {
			watched = true
			event := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLONESHOT}
			p.Control(func(fd int) { syscall.EpollCtl(int(epoll), syscall.EPOLL_CTL_MOD, fd, &event) })
		}
		return epollReady(epoll)
	})
}

// epollReady reports whether the epoll has a pending event. As in Read and Write, the
// scheduler is not notified.
func epollReady(epoll uintptr) bool {
	var event syscall.EpollEvent
	n, _, _ := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, epoll, uintptr(unsafe.Pointer(&event)), 1, 0, 0, 0)
	return n == 1
}

// Control calls f with the descriptor, which does not block.
func (p *Pipe) Control(f func(fd int)) error {
	return p.pipe.Control(func(fd uintptr) { f(int(fd)) })
}

// Close ends Whenever, also while Whenever waits.
func (p *Pipe) Close() error {
	if p.epoll != nil {
		p.epoll.Close()
	}
	return p.file.Close()
}

// Grow lets a pipe hold more than 64 KB, so that writer and reader take turns less often.
// It fails silently where Linux allows no more: the pipe then works as before.
func Grow(pipe syscall.Conn, bytes int) {
	const setSize = 1031 // F_SETPIPE_SZ
	if c, err := pipe.SyscallConn(); err == nil {
		c.Control(func(fd uintptr) { syscall.Syscall(syscall.SYS_FCNTL, fd, setSize, uintptr(bytes)) })
	}
}

// SyscallConn returns the pipe's descriptor.
func (p *Pipe) SyscallConn() (syscall.RawConn, error) { return p.pipe, nil }
