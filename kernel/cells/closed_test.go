package main

import (
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// TestClosedStreams: after a cell closes os.Stdout or os.Stderr, later cells still
// print, no file gets the descriptors that the runtime writes to, and a failed write
// reports an error.
func TestClosedStreams(t *testing.T) {
	c := start(t)
	c.value("import (\"fmt\"; \"io\"; \"log\"; \"os\"; \"os/exec\"; \"syscall\")\nout := os.Stdout\nos.Stdout.Close()\nos.Stderr.Close();")
	c.value("f, err := os.Create(\"file\")\nif err != nil { panic(err) }\nfmt.Println(\"printed\")\nfmt.Fprintln(os.Stdout, \"to it\")\nfmt.Fprintln(os.Stderr, \"err\")\nlog.SetFlags(0)\nlog.Print(\"logged\")\nprintln(\"built in\")\nsyscall.Write(1, []byte(\"raw\\n\"));")
	if got, want := c.out.take(), "printed\nto it\nraw\n"; got != want {
		t.Errorf("stdout is %q, want %q", got, want)
	}
	if got, want := c.err.take(), "err\nlogged\nbuilt in\n"; got != want {
		t.Errorf("stderr is %q, want %q", got, want)
	}
	if got := c.value("f.Close()\ntext, _ := os.ReadFile(\"file\")\nstring(text)"); got != "" {
		t.Errorf("a file that was made later holds %q", got)
	}
	if e := c.run("os.Stdout.WriteString(\"lost\")"); e.Error == nil || !strings.Contains(e.Error.Value, "already closed") {
		t.Errorf("a write to the closed file: %v", e.Error)
	}
	if e := c.run("cmd := exec.Command(\"echo\", \"x\")\ncmd.Stdout = os.Stdout\ncmd.Run()"); e.Error == nil {
		t.Error("a subprocess with the closed file runs, and says nothing")
	}
	// A cell that assigns another file to os.Stdout prints there, as in Go.
	if got := c.value("r, w, _ := os.Pipe()\nos.Stdout = w\nfmt.Println(\"caught\")\nos.Stdout = out\nw.Close()\ncaught, _ := io.ReadAll(r)\nstring(caught)"); got != "caught\n" {
		t.Errorf("a pipe in place of os.Stdout gets %q", got)
	}
	c.value("fmt.Println(\"again\")")
	if got := c.out.take(); got != "again\n" {
		t.Errorf("stdout is %q", got)
	}
}

// TestInterruptBetweenCells: the interrupt ends goroutines that cells have left
// running, and names those that it cannot end.
func TestInterruptBetweenCells(t *testing.T) {
	c := start(t)
	c.value("import (\"sync/atomic\"; \"syscall\")\nvar n, begun, ended atomic.Int64\nwork := func() { defer ended.Add(1); begun.Add(1); for { n.Add(1) } }\nkept := \"state\"")
	c.value("for range 3 { go work() }\nwaits := make(chan int)\ngo func() { defer ended.Add(1); begun.Add(1); <-waits }()\nfor begun.Load() < 4 {}")
	c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
	if got := c.value("ended.Load()"); got != "4" {
		t.Errorf("%s of 4 goroutines have ended when the next cell runs", got)
	}
	before := c.value("n.Load()")
	time.Sleep(20 * time.Millisecond)
	if now := c.value("n.Load()"); now != before {
		t.Errorf("a goroutine goes on: %s, then %s", before, now)
	}
	if got := c.err.take(); got != "" {
		t.Errorf("stderr is %q", got)
	}
	// A reader that got the first byte knows that the goroutine is in Write.
	c.value("pipe := make([]int, 2)\n_ = syscall.Pipe(pipe)\ngo func() { begun.Add(1); syscall.Write(pipe[1], make([]byte, 1<<20)); ended.Add(1) }()\n_, err := syscall.Read(pipe[0], make([]byte, 1))")
	c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
	const want = "warning: goroutines that an interrupt cannot end go on: 1, started at cell 6, line 3, waiting at cell 6, line 3; they are in compiled calls\n"
	if got := c.warned(want); got != want {
		t.Errorf("stderr is %q, want %q", got, want)
	}
	if got := c.value("_ = syscall.Close(pipe[0])\nkept"); got != "state" {
		t.Errorf("state is %q", got)
	}
	if e := c.interrupt(c.startCell("for { n.Add(1) }")); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("a cell after that: %v", e.Error)
	}
}
