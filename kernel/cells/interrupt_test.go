package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// endlessCell defines launch, which launches a kernel that never ends, and variables
// that record how far a cell came.
const endlessCell = `import ("warpbook/gpu"; "warpbook/gpu/device")
dev := device.MustOpen("emu")
words, _ := dev.Alloc(gpu.Uint32, 4)
_ = words.Upload(make([]uint32, 4))
entry, _ := endless.On(dev)
grid := gpu.Launch{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{words}}
func launch() error {
	if err := dev.Launch(grid); err != nil {
		after = "in the function"
		return err
	}
	return dev.Sync()
}
after, cleaned, kept := "", false, "state"`

// begin starts a cell and returns after the first of its two parts has run.
func (c *client) begin(first, then string) chan cellproto.Event {
	c.t.Helper()
	c.out.take()
	running := c.startCell("import \"fmt\"\n" + first + "fmt.Print(\"begun\")\n" + then)
	deadline := time.Now().Add(patience)
	for out := ""; out != "begun"; out += c.out.take() {
		if time.Now().After(deadline) {
			c.t.Fatalf("the cell has not begun, it prints %q", out)
		}
		time.Sleep(time.Millisecond)
	}
	return running
}

// TestInterruptEndsTheCellAtTheCall: when an interrupt makes a compiled call return an
// error, the cell ends there, whatever the cell does with errors. Deferred calls run,
// in compiled code too.
func TestInterruptEndsTheCellAtTheCall(t *testing.T) {
	c := start(t)
	c.value(faultyCell)
	c.value(endlessCell)
	c.value("import (\"reflect\"; \"time\")")
	for _, x := range []struct{ what, code string }{
		{"a statement", "launch()\nafter = \"next statement\""},
		{"the last expression", "launch()"},
		{"an error that is shown", "if err := launch(); err != nil { after = fmt.Sprint(err) }"},
		{"a method in a statement", "dev.Launch(grid)\ndev.Sync()\nafter = \"next statement\""},
		{"a method in a condition", "if dev.Launch(grid) != nil { after = \"condition\" }"},
		{"a method in a switch", "switch err := dev.Launch(grid); { case err != nil: after = \"case\" }"},
		{"an assignment", "failed := dev.Launch(grid)\nafter = fmt.Sprint(failed)"},
		{"two results", "took, _ := dev.Time(gpu.Timing{Repeats: 1}, grid)\nafter = fmt.Sprint(took)"},
		{"a closure", "try := func() (err error) { err = launch(); after = \"closure\"; return err }\ntry()\nafter = \"next statement\""},
		{"a recover", "func() { defer func() { if v := recover(); v != nil { after = fmt.Sprint(v) } }(); launch() }()\nafter = \"next statement\""},
		{"a launch after a long call", "reflect.Select([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(time.After(time.Second/2))}})\nif dev.Launch(grid) != nil { after = \"condition\" }"},
		{"a subprocess", "import \"os/exec\"\n_, _ = exec.Command(\"sleep\", \"100\").Output()\nafter = \"next statement\""},
	} {
		c.value("after, cleaned = \"\", false")
		e := c.interrupt(c.begin("defer func() { for range 3 {}; cleaned = words.Upload([]uint32{7, 7, 7, 7}) == nil }()\n", x.code))
		if e.Error == nil || e.Error.Name != "interrupted" || e.Error.Value != "the cell was stopped, its variables are kept" {
			t.Errorf("%s: the answer is %+v, %v", x.what, e, e.Error)
		}
		if got := c.value("after"); got != "" {
			t.Errorf("%s: the cell went on to %q", x.what, got)
		}
		if got := c.value("cleaned"); got != "true" {
			t.Errorf("%s: the deferred call did not run to its end", x.what)
		}
		if got := c.value("kept"); got != "state" {
			t.Errorf("%s: state is %q", x.what, got)
		}
		if s := c.err.take(); s != "" {
			t.Errorf("%s: stderr %q", x.what, s)
		}
	}
}

// TestInterruptEndsTheHost: an interrupt stops a bench's computation on the CPU as it
// stops a launch, and the bench stays usable.
func TestInterruptEndsTheHost(t *testing.T) {
	if raceEnabled {
		t.Skip("with the race detector on a busy machine, its loops may look less often than every 2 s, when the cell is given up")
	}
	c := start(t)
	c.value(`import ("warpbook/ops"; "warpbook/gpu/device")
dev := device.MustOpen("emu")
small := ops.MustBench(dev, ops.GemmBatched, 1, 1, 64, 64, 64)
kept := "state"`)
	for _, code := range []string{
		"large, failed := ops.NewBench(dev, ops.GemmBatched, 1, 1, 3072, 3072, 3072)\nkept = \"next statement\"", // a minute of one core
		"large := ops.MustBench(dev, ops.GemmBatched, 1, 1, 3072, 3072, 3072)",
	} {
		e := c.interrupt(c.begin("", code))
		if e.Error == nil || e.Error.Name != "interrupted" || e.Error.Value != "the cell was stopped, its variables are kept" {
			t.Fatalf("the answer is %+v, %v", e, e.Error)
		}
		if text, want := strings.Join(e.Error.Traceback, "\n"), "the call that was stopped: ops: gemm_batched: reference: interrupted on the host"; !strings.Contains(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
		if got := c.value("checks, _ := small.Check(ops.GemmBatched.Variants[1].Name)\nfmt.Sprint(kept, \" \", checks.Passed())"); got != "state true" {
			t.Errorf("afterwards: %s", got)
		}
	}
}

// TestInterruptGivesDefersTime: deferred calls get their full time from the moment they
// begin, however long the call took to end; an endless one is ended.
func TestInterruptGivesDefersTime(t *testing.T) {
	c := start(t)
	c.value("import (\"context\"; \"os/exec\"; \"time\")\ncleaned, block := \"\", make(chan int)")
	running := c.begin("defer func() { for range 3 {}; cleaned = \"cleaned\" }()\n", "_ = exec.CommandContext(context.Background(), \"sleep\", \"0.5\").Run()")
	c.interrupt(running)
	if got := c.value("cleaned"); got != "cleaned" {
		t.Errorf("deferred calls left %q", got)
	}
	for _, code := range []string{"for {}", "<-block", "time.Sleep(time.Hour)", "select {}"} {
		if e := c.interrupt(c.begin("defer func() { "+code+" }()\n", "for {}")); e.Error == nil || e.Error.Value != "the cell was stopped, its variables are kept" {
			t.Errorf("defer %s: the answer is %v", code, e.Error)
		}
	}
}

// TestInterruptWhileCompiling: when a cell is interrupted, its compiler finishes in the
// background, and the session continues.
func TestInterruptWhileCompiling(t *testing.T) {
	c := start(t)
	c.value("x, kept := 1, \"state\"\nfunc f() int { return 1 }")
	long, stopped := "x = 1\nfunc f() int { return 2 }\n"+strings.Repeat("x = x + 1\n", 60_000), 0
	for _, after := range []time.Duration{0, 50, 200, 500} {
		const promised, tries = time.Second, 5 // 0.1 s on an idle machine; the best of several tries counts
		least := time.Hour
		for try := 0; try < tries && least > promised; try++ {
			running := c.startCell(long)
			time.Sleep(after * time.Millisecond)
			stop := time.Now()
			c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
			e, took := c.wait(running), time.Since(stop)
			least = min(least, took)
			if e.Error == nil {
				t.Logf("stopped after %d ms: it had ended", after)
				continue
			}
			stopped++
			t.Logf("stopped after %d ms: ended %v later", after, took.Round(time.Millisecond))
			if e.Error.Name != "interrupted" || e.Error.Value != "the cell was stopped, its variables are kept" {
				t.Errorf("stopped after %d ms: the answer is %v", after, e.Error)
			}
			next := time.Now()
			if got := c.value("kept"); got != "state" {
				t.Errorf("state is %q", got)
			}
			t.Logf("the next cell took %v", time.Since(next).Round(time.Millisecond))
		}
		if least > promised {
			t.Errorf("stopped after %d ms: the cell ended %v later", after, least)
		}
	}
	if stopped == 0 {
		t.Error("every cell had ended before its interrupt, expected that one is stopped while it compiles")
	}
	e := c.run(strings.Repeat("x = x + 1\n", 2_000_000))
	if want := fmt.Sprintf("cell %d:166667:9: the cell has more than 1000000 tokens: put data in a file and read that, or split the cell", c.cell); e.Error == nil || e.Error.Value != want {
		t.Errorf("20 MB: %v, want %s", e.Error, want)
	}
	if got := c.value("x + 1"); got == "" {
		t.Error("x is gone")
	}
}
