package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproto"
	"warpbook/kernel/edited"
	"warpbook/kernel/leaf/release"
)

// tempDir is where the program under test is built.
var tempDir string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	os.Unsetenv(cellbuild.Env) // the program of these sources is tested
	var err error
	if tempDir, err = os.MkdirTemp("", "cells"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(tempDir)
	return m.Run()
}

// built is the program under test, which is built once for a state of the sources: to link it
// takes 3 s of processor time. The race detector has one of its own. These tests link no
// engine, so they need no flags.
var built = sync.OnceValues(func() (program string, err error) {
	if err := watchSources(); err != nil {
		return "", err
	}
	if raceEnabled {
		return builtWithRace()
	}
	program, err = cellbuild.Cells(context.Background(), io.Discard)
	if failed := (*cellbuild.BuildError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%w\n%s", err, failed.Output)
	}
	return program, err
})

// builtName is the name that the program under test says.
var builtName = sync.OnceValues(func() (name string, err error) {
	if raceEnabled {
		return release.Version, nil // a build without a stamp
	}
	hash, err := cellbuild.HashSource(filepath.Join("..", ".."))
	return release.With(hash), err
})

func builtWithRace() (program string, err error) {
	program = filepath.Join(tempDir, "cells")
	// The engine's unsafe.StringData, which log/slog needs, fails under checkptr.
	build, err := edited.Command(context.Background(), filepath.Join("..", ".."), "build", "-o", program, "-race", "-gcflags=github.com/goplus/ixgo=-d=checkptr=0", "./kernel/cells")
	if err != nil {
		return "", err
	}
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// watchSources opens the folders that the program is built from, so that the go command
// reruns these tests when a source changes.
func watchSources() error {
	for _, dir := range []string{"gpu", "kernel", "ops"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return err
		}
	}
	return nil
}

// client drives one cells program.
type client struct {
	t        testing.TB
	requests *os.File
	events   *os.File
	cmd      *exec.Cmd
	out, err *output

	mu      sync.Mutex // guards waiting and lastID
	waiting map[uint64]chan cellproto.Event
	lastID  uint64
	shown   chan cellproto.Event // displays and clears, in order
	cell    int
}

// output collects the data that the program writes to a pipe. As in package cellproc,
// its goroutine reads as data arrives, and take reads the data that is there now.
type output struct {
	conn syscall.RawConn

	mu  sync.Mutex // held while the pipe is read
	buf bytes.Buffer
}

func newOutput(t testing.TB) (*output, *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := r.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	o := &output{conn: conn}
	go func() {
		defer r.Close()
		conn.Read(o.drain)
	}()
	return o, w
}

// drain reads the data that the pipe holds, and reports whether the pipe has ended.
func (o *output) drain(fd uintptr) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for b := make([]byte, 64<<10); ; {
		n, err := syscall.Read(int(fd), b)
		if n <= 0 && err != syscall.EINTR {
			return err != syscall.EAGAIN
		}
		o.buf.Write(b[:max(n, 0)])
	}
}

// take returns the data written since the last call and, because goroutines may print
// after their cell, the data that arrives just after.
func (o *output) take() string {
	for last := -1; ; {
		o.conn.Control(func(fd uintptr) { o.drain(fd) }) // a closed pipe has already been read
		o.mu.Lock()
		n := o.buf.Len()
		if n == last {
			defer o.mu.Unlock()
			s := o.buf.String()
			o.buf.Reset()
			return s
		}
		o.mu.Unlock()
		last = n
		time.Sleep(2 * time.Millisecond)
	}
}

// start starts the program, with more variables in its environment.
func start(t testing.TB, env ...string) *client {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	reqR, reqW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	evR, evW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, requests: reqW, events: evR, waiting: map[uint64]chan cellproto.Event{}, shown: make(chan cellproto.Event, 1000)}
	var outW, errW *os.File
	c.out, outW = newOutput(t)
	c.err, errW = newOutput(t)
	c.cmd = exec.Command(program)
	c.cmd.Dir = t.TempDir()
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.ExtraFiles = []*os.File{reqR, evW}
	c.cmd.Stdout, c.cmd.Stderr = outW, errW
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as cellproc does
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{reqR, evW, outW, errW} {
		f.Close()
	}
	t.Cleanup(c.close)
	var ready cellproto.Event
	name, err := builtName()
	if err != nil {
		t.Fatal(err)
	}
	if err := cellproto.Read(evR, &ready); err != nil || ready.Type != cellproto.Ready || ready.Text != name {
		t.Fatalf("first event %+v, %v; stderr %s", ready, err, c.err.take())
	}
	go c.read()
	return c
}

func (c *client) close() {
	c.requests.Close()
	timer := time.AfterFunc(10*time.Second, func() {
		c.t.Error("the program did not end when its requests ended")
		c.cmd.Process.Kill()
	})
	c.cmd.Wait()
	timer.Stop()
}

func (c *client) read() {
	for {
		var e cellproto.Event
		if err := cellproto.Read(c.events, &e); err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, w := range c.waiting {
				close(w)
			}
			c.waiting = nil
			return
		}
		if e.Fence {
			c.post(cellproto.Request{ID: e.ID, Type: cellproto.Passed})
		}
		if e.Type == cellproto.Stream && e.Text == "" {
			continue // only a fence
		}
		if e.Type != cellproto.Done {
			c.shown <- e
			continue
		}
		c.mu.Lock()
		w := c.waiting[e.ID]
		delete(c.waiting, e.ID)
		c.mu.Unlock()
		if w != nil {
			w <- e
		}
	}
}

func (c *client) post(r cellproto.Request) {
	if err := cellproto.Write(c.requests, r); err != nil && err != io.ErrClosedPipe {
		c.t.Log(err)
	}
}

// send sends a request and returns the channel of its answer; the channel closes
// without an answer if the program ends.
func (c *client) send(r cellproto.Request) chan cellproto.Event {
	w := make(chan cellproto.Event, 1)
	c.mu.Lock()
	c.lastID++
	r.ID = c.lastID
	if c.waiting == nil {
		close(w)
	} else {
		c.waiting[r.ID] = w
	}
	c.mu.Unlock()
	c.post(r)
	return w
}

// patience is how long a cell may take: a stack overflow took 1 min with the race
// detector on a busy machine.
const patience = 3 * time.Minute

func (c *client) wait(w chan cellproto.Event) cellproto.Event {
	c.t.Helper()
	select {
	case e, ok := <-w:
		if !ok {
			c.t.Fatalf("the program ended; stderr:\n%.2000s", c.err.take())
		}
		return e
	case <-time.After(patience):
		c.cmd.Process.Kill()
		c.t.Fatalf("no answer within %v", patience)
	}
	panic("unreachable")
}

func (c *client) startCell(code string) chan cellproto.Event {
	c.cell++
	return c.send(cellproto.Request{Type: cellproto.Execute, Code: code, Cell: c.cell, Pipes: true})
}

// run executes a cell and returns its answer.
func (c *client) run(code string) cellproto.Event {
	c.t.Helper()
	return c.wait(c.startCell(code))
}

// value executes a cell that must not fail and returns its value as text.
func (c *client) value(code string) string {
	c.t.Helper()
	e := c.run(code)
	if e.Error != nil {
		c.t.Fatalf("%s\n%v\n%v", code, e.Error, e.Error.Traceback)
	}
	s, _ := e.Data["text/plain"].(string)
	return s
}
