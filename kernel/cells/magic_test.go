package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// TestBashLive: output of a script arrives before the script ends, and an interrupt
// ends the script's subprocesses too.
func TestBashLive(t *testing.T) {
	c := start(t)
	running := c.startCell("%%bash\necho begun; (sleep 300; echo late) & sleep 300")
	for got := ""; !strings.Contains(got, "begun"); got += c.out.take() {
		select {
		case e := <-running:
			t.Fatalf("the script ended: %+v, %v", e, e.Error)
		case <-time.After(time.Millisecond):
		}
	}
	c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
	if e := c.wait(running); e.Error == nil || e.Error.Name != "interrupted" {
		t.Fatalf("the answer is %+v, %v", e, e.Error)
	}
	if got := c.value("6 * 7"); got != "42" {
		t.Errorf("6 * 7 is %s", got)
	}
}

// TestLoad: the contents of a file replace the cell, once.
func TestLoad(t *testing.T) {
	c := start(t)
	file := filepath.Join(t.TempDir(), "some cell.go")
	if err := os.WriteFile(file, []byte("x := 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := c.run("%load " + file); e.Error != nil || e.Next != "x := 1\n" {
		t.Errorf("the answer is %+v, %v", e, e.Error)
	}
	if e := c.run("1"); e.Next != "" {
		t.Errorf("the next cell offers %q", e.Next)
	}
	if e := c.run("%load nothing.go"); e.Error == nil || e.Error.Value != "cell 3:1:7: %load: nothing.go: no such file or directory" {
		t.Errorf("the answer is %+v, %v", e, e.Error)
	}
	for _, code := range []string{"%load", "%reset", "%time f(", "%%timeit"} {
		c.run(code) // none of these may run anything or end the program
	}
	if got := c.value("1"); got != "1" {
		t.Errorf("1 is %s", got)
	}
}

// TestInterruptTimeit: timed code can be interrupted.
func TestInterruptTimeit(t *testing.T) {
	c := start(t)
	if e := c.interrupt(c.startCell("%timeit for {}")); e.Error == nil || e.Error.Name != "interrupted" {
		t.Fatalf("the answer is %+v, %v", e, e.Error)
	}
}
