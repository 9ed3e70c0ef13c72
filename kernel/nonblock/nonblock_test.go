package nonblock

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

func pipe(t *testing.T) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// TestAllArrives: the data exceeds the pipe's size, so that either end waits for the
// other.
func TestAllArrives(t *testing.T) {
	r, w := pipe(t)
	sent := bytes.Repeat([]byte("0123456789"), 1<<18)
	go func() {
		if n, err := New(w).Write(sent); n != len(sent) || err != nil {
			t.Errorf("%d of %d bytes written: %v", n, len(sent), err)
		}
		w.Close()
	}()
	got, err := io.ReadAll(New(r))
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes read: %v", len(got), len(sent), err)
	}
}

func TestNothingToRead(t *testing.T) {
	r, _ := pipe(t)
	conn, err := r.SyscallConn() // Fd would make it blocking
	if err != nil {
		t.Fatal(err)
	}
	conn.Control(func(fd uintptr) {
		if n, err := Read(int(fd), make([]byte, 1)); n != 0 || err != syscall.EAGAIN {
			t.Errorf("%d bytes of an empty pipe: %v, expected EAGAIN", n, err)
		}
	})
}

// TestEnds: a stream that is closed, past its deadline or without a reader ends as an
// os.File does.
func TestEnds(t *testing.T) {
	r, w := pipe(t)
	r.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := New(r).Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read after the deadline: %v", err)
	}
	s := New(w)
	r.Close()
	if _, err := s.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write to a closed pipe: %v", err)
	}

	r, _ = pipe(t)
	s = New(r)
	time.AfterFunc(10*time.Millisecond, func() { r.Close() })
	if _, err := s.Read(make([]byte, 1)); err == nil || err == io.EOF {
		t.Errorf("read of a stream that is closed meanwhile: %v", err)
	}
}

func TestSocket(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		if _, err := io.Copy(c, io.LimitReader(c, 4)); err != nil {
			t.Error(err)
		}
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := New(c.(syscall.Conn))
	s.Write([]byte("echo"))
	if got, err := io.ReadAll(s); string(got) != "echo" || err != nil {
		t.Errorf("%q, %v, expected echo", got, err)
	}
}

// TestInterrupted: a call that a signal interrupts is repeated.
func TestInterrupted(t *testing.T) {
	calls := 0
	n, err := again(func(int, []byte) (int, error) {
		if calls++; calls < 3 {
			return -1, syscall.EINTR
		}
		return 7, nil
	}, 0, nil)
	if n != 7 || err != nil || calls != 3 {
		t.Errorf("%d, %v after %d calls, expected 7 after 3", n, err, calls)
	}
}
