package cuda

import (
	"os"

	"golang.org/x/sys/unix"
)

// The sizes that are tried for the arena: a limit on address space may forbid
// the first.
const (
	largest  = 1 << 39
	smallest = 1 << 30
)

func mapShared() (*os.File, []byte, error) {
	fd, err := unix.MemfdCreate("warpbook", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, os.NewSyscallError("memfd_create", err)
	}
	for size := int64(largest); ; size /= 2 {
		if err = unix.Ftruncate(fd, size); err != nil {
			err = os.NewSyscallError("ftruncate", err)
		} else {
			var memory []byte
			memory, err = unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
			if err == nil {
				return os.NewFile(uintptr(fd), "arena"), memory, nil
			}
			err = os.NewSyscallError("mmap", err)
		}
		if size <= smallest {
			unix.Close(fd)
			return nil, nil, err
		}
	}
}

// release returns the memory of a part to the system; the part then reads as
// zeros. If that fails, the part stays in memory.
func release(file *os.File, _ []byte, s span) {
	unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, s.offset, s.bytes)
}
