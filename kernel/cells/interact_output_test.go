package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInteractAbandoned: the reader sees the interruption of a function that is given up
// in a compiled call, and nothing that it shows later.
func TestInteractAbandoned(t *testing.T) {
	c := start(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	x := c.interact(`import ("os"; "warpbook/kernel/display")
fifo := `+strconv.Quote(fifo)+`
display.Interact(func(n int) any {
	if n == 2 {
		h := display.New("waiting")
		os.Open(fifo)
		h.Update("too late")
		display.Show("too late")
	}
	return n
}, display.Slider("n", 1, 9))`, "")
	if e := c.interrupt(x.follows("n", value(2))); e.Error == nil || !strings.Contains(e.Error.Value, "was given up") {
		t.Fatalf("the answer is %+v", e.Error)
	}
	if e := c.next(); e.Display != x.result || !strings.Contains(textOf(e), "was given up") {
		t.Errorf("the reader sees %+v", e)
	}
	if e := c.run("must := func(_ *os.File, err error) { if err != nil { panic(err) } }\nmust(os.OpenFile(fifo, os.O_WRONLY, 0))"); e.Error != nil { // the function goes on
		t.Fatal(e.Error)
	}
	if got := x.moved("n", value(3)); got != "3" {
		t.Errorf("the next result is %q", got)
	}
}

// TestInteractHandles: an update inside of the function replaces the display there; an
// update of a display elsewhere arrives there.
func TestInteractHandles(t *testing.T) {
	c := start(t)
	c.value(`import ("fmt"; "warpbook/kernel/display")
older := display.New("old")`)
	older := c.next().Display
	x := c.interact(`display.Interact(func(n int) any {
	fmt.Println("first")
	h := display.New("step 0")
	fmt.Println("then")
	for i := range n { h.Update(fmt.Sprint("step ", i+1)) }
	if n > 1 { updated := make(chan bool); go func() { older.Update(n); close(updated) }(); <-updated }
	return "end"
}, display.Slider("n", 1, 9))`, "")
	c.wait(x.follows("n", value(5)))
	if e := c.next(); e.Display != older || textOf(e) != "5" {
		t.Errorf("shown is %+v, want display %s with 5", e, older)
	}
	if e := c.next(); e.Display != x.result || textOf(e) != "first\nstep 5\nthen\nend" {
		t.Errorf("the result is %+v", e)
	}
}

// TestInteractPrintsMuch: of a function that prints without end the reader sees the first
// 2 MB, and that there was more.
func TestInteractPrintsMuch(t *testing.T) {
	c := start(t)
	x := c.interact(`import ("fmt"; "strings"; "warpbook/kernel/display")
lines := []int{0, 1, 100_000, 1e12}
line := strings.Repeat("€", 16) + "\n"
display.Interact(func(n int) {
	for range lines[n] { fmt.Print(line) }
}, display.Slider("n", 1, 3))`, "")
	began := time.Now()
	got := x.moved("n", value(2))
	t.Logf("100 000 lines took %v", time.Since(began))
	const most = 2_000_000
	text, last, _ := strings.Cut(got, "\ndisplay: ")
	if len(text) > most || len(text) < most-50 || last != "interact: the function has printed 4.9 MB, expected at most 2 MB: the rest is not shown" {
		t.Errorf("%d bytes are shown, and then %q", len(text), last)
	}
	if strings.ContainsRune(got, '\uFFFD') {
		t.Error("the text ends within a letter")
	}
	if e := c.interrupt(x.follows("n", value(3))); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("the answer is %+v", e.Error)
	}
	if text := textOf(c.next()); len(text) > most+1000 || !strings.Contains(text, "interrupted") {
		t.Errorf("an interrupted function that prints shows %d bytes", len(text))
	}
	if got := c.out.take(); got != "" {
		t.Errorf("printed beside the result: %.100q", got)
	}
}
