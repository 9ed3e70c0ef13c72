package cellproc

import (
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/nonblock"
)

// TestPipefulIsFewEvents: of what the pipe of stdout holds, each buffer is one event, of
// less than 1 MB. A user without privileges may get a small pipe: it is one event.
func TestPipefulIsFewEvents(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pipes have one size: SKIPPED, only Linux has larger ones")
	}
	var sizes []int
	c := &child{config: &Config{Late: func(_ int, e cellproto.Event) { sizes = append(sizes, len(e.Text)) }},
		pending: map[uint64]*call{}, outputs: map[uint64]*cellOutput{}}
	c.stdout = newOutput(c, "stdout")
	r, w, err := nonblock.NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	c.stdout.pipe = r
	nonblock.Grow(r, stdoutPipe)
	left := holds(t, r)
	if _, err := w.WriteString(strings.Repeat("x", left)); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	c.stdout.drain()
	c.mu.Unlock()
	var want []int
	for ; left > 0; left -= want[len(want)-1] {
		want = append(want, min(left, stdoutBuffer))
	}
	if !slices.Equal(sizes, want) {
		t.Errorf("events of %v bytes, want %v", sizes, want)
	}
}

// holds is the size of a pipe on Linux.
func holds(t *testing.T, pipe syscall.Conn) (bytes int) {
	const getSize = 1032 // F_GETPIPE_SZ
	conn, err := pipe.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	conn.Control(func(fd uintptr) {
		size, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, getSize, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		bytes = int(size)
	})
	return bytes
}
