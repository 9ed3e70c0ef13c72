package nonblock

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// take reads all available data and reports whether the pipe has ended.
func take(fd int, got *bytes.Buffer) (ended bool) {
	for p := make([]byte, 1<<10); ; {
		n, err := Read(fd, p)
		if n <= 0 || err != nil {
			return err != syscall.EAGAIN
		}
		got.Write(p[:n])
	}
}

// TestPipeGivesAll: data arrives when it is written at once, in pieces, and just before
// the end.
func TestPipeGivesAll(t *testing.T) {
	r, w, err := NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := bytes.Repeat([]byte("0123456789"), 1<<17)
	go func() {
		defer w.Close()
		for from, n := 0, 1; from < len(want); n *= 2 {
			to := min(from+n, len(want))
			w.Write(want[from:to])
			time.Sleep(time.Millisecond)
			from = to
		}
	}()
	var got bytes.Buffer
	r.Whenever(func(fd int) bool { return take(fd, &got) })
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d of %d bytes read", got.Len(), len(want))
	}
}

// TestPipeMissesNothing: each byte is written after the previous one was taken, so it
// often arrives just before the reader waits.
func TestPipeMissesNothing(t *testing.T) {
	const n = 30_000
	r, w, err := NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	taken := make(chan bool, 1)
	go func() {
		for range taken {
			w.Write([]byte("x"))
		}
	}()
	taken <- true
	stuck := time.AfterFunc(5*time.Minute, func() { r.Close() })
	var got bytes.Buffer
	r.Whenever(func(fd int) (ended bool) {
		before := got.Len()
		if ended = take(fd, &got); got.Len() > before {
			taken <- true
		}
		return ended || got.Len() >= n
	})
	close(taken)
	if !stuck.Stop() {
		t.Errorf("no byte was seen after %d of %d", got.Len(), n)
	}
	r.Close()
}

// TestPipeCloses: Close ends a waiting reader, and a later one.
func TestPipeCloses(t *testing.T) {
	for _, delay := range []time.Duration{0, 10 * time.Millisecond} {
		r, w, err := NewPipe()
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(delay, func() { r.Close() })
		r.Whenever(func(fd int) bool { return take(fd, new(bytes.Buffer)) })
		w.Close()
	}
}

// TestIdlePipeWakesNoThread: a write wakes no thread while no goroutine waits. Threads of
// the runtime wait too, more often on a busy machine: the best of several tries counts.
func TestIdlePipeWakesNoThread(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere than on Linux the poller watches the pipe, and wakes a thread")
	}
	const writes, most, tries = 2000, 200, 10
	least := writes
	for try := 0; try < tries && least > most; try++ {
		least = min(least, sleepsDuring(t, writes))
	}
	if least > most {
		t.Errorf("threads went to sleep %d times during %d writes without a waiting reader", least, writes)
	}
}

// sleepsDuring counts how often threads wait during writes to a pipe without a reader.
func sleepsDuring(t *testing.T, writes int) (n int) {
	t.Helper()
	r, w, err := NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	other, _ := pipe(t)
	go other.Read(make([]byte, 1)) // so that a thread waits for the poller
	busy, written := make(chan bool), make(chan bool)
	var got bytes.Buffer
	go func() {
		<-busy
		for range writes {
			w.Write([]byte("x"))
			for start := time.Now(); time.Since(start) < 20*time.Microsecond; {
			}
		}
		close(written)
	}()
	w.Write([]byte("x"))
	r.Whenever(func(fd int) bool {
		take(fd, &got)
		before := sleeps(t)
		close(busy)
		<-written
		n = sleeps(t) - before
		return true
	})
	return n
}

// sleeps counts how often the threads of this process have waited.
func sleeps(t *testing.T) (n int) {
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Fatal("no threads: ", err)
	}
	for _, name := range files {
		status, _ := os.ReadFile(name) // the thread may have ended
		if m := regexp.MustCompile(`\nvoluntary_ctxt_switches:\s+(\d+)`).FindSubmatch(status); m != nil {
			times, _ := strconv.Atoi(string(m[1]))
			n += times
		}
	}
	return n
}

// TestGrow: a pipe that was made larger takes more before its writer waits.
func TestGrow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pipes have one size: SKIPPED, only Linux has larger ones")
	}
	r, w, err := NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	const bytes = 256 << 10
	Grow(r, bytes)
	written := make(chan error, 1)
	go func() {
		_, err := w.Write(make([]byte, bytes))
		written <- err
	}()
	select {
	case err := <-written:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Errorf("the pipe does not take %d bytes", bytes)
	}
}
