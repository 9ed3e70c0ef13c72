package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// beside is the place of the shell of startBeside.
const beside = 1

// startBeside starts a cell of a subshell while a cell of the parent shell owns the pipes.
func (c *client) startBeside(code string) (id uint64, done chan cellproto.Event) {
	c.cell++
	done = c.send(cellproto.Request{Type: cellproto.Execute, Code: code, Cell: c.cell, Shell: beside})
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastID, done
}

// streamed collects the framed output of a cell during a short time.
func (c *client) streamed(id uint64, name string, until string) string {
	c.t.Helper()
	text := ""
	for !strings.Contains(text, until) {
		select {
		case e := <-c.shown:
			switch {
			case e.Type == cellproto.Stream && e.ID == id && e.Name == name:
				text += e.Text
			case e.Type == cellproto.Stream:
				c.t.Errorf("cell %d: %s %q", e.ID, e.Name, e.Text)
			}
		case <-time.After(patience):
			c.t.Fatalf("%s of cell %d is %q, want %q in it", name, id, text, until)
		}
	}
	return text
}

// Errors name the shell of a cell, and %history lists the cells of its own shell.
func TestCellsOfASubshellAreNamed(t *testing.T) {
	c := start(t)
	c.value("func third(x []int) int {\n\treturn x[3]\n}")
	in := func(number int, code string) cellproto.Event {
		return c.wait(c.send(cellproto.Request{Type: cellproto.Execute, Code: code, Cell: number, Pipes: true}))
	}
	if e := in(cellproto.CellNumber(2, 1), "func fourth(x []int) int { return x[4] }\nthird(nil)"); e.Error == nil ||
		!strings.Contains(strings.Join(e.Error.Traceback, "\n"), "cell 1, line 2, in third") ||
		!strings.Contains(strings.Join(e.Error.Traceback, "\n"), "subshell 2, cell 1, line 2") {
		t.Errorf("%+v", e.Error)
	}
	if e := in(cellproto.CellNumber(2, 2), "1 + \"x\""); e.Error == nil || !strings.Contains(strings.Join(e.Error.Traceback, "\n"), "subshell 2, cell 2:1:") {
		t.Errorf("%+v", e.Error)
	}
	c.out.take()
	in(cellproto.CellNumber(2, 3), "%history 2-")
	if got, want := c.out.take(), "subshell 2, cell 2  1 + \"x\"\nsubshell 2, cell 3  %history 2-\n"; got != want {
		t.Errorf("%%history prints %q, want %q", got, want)
	}
	in(cellproto.CellNumber(2, 4), "type P struct{ X int }\np := P{1}")
	in(cellproto.CellNumber(2, 5), "type P struct{ X, Y int }")
	if e := in(2, "import \"fmt\"\nfmt.Sprintf(\"%T\", p)"); e.Error != nil || e.Data["text/plain"] != "main.P·2-4" {
		t.Errorf("a type of a subshell that was declared again: %v, %v", e.Data, e.Error)
	}
	if e := in(3, "p = P{}"); e.Error == nil || !strings.Contains(e.Error.Value, "as P·2-4 value") {
		t.Errorf("%v", e.Error)
	}
	c.out.take()
	in(4, "%history")
	if got := c.out.take(); strings.Contains(got, "subshell") || !strings.Contains(got, "third") {
		t.Errorf("%%history of the parent shell prints %q", got)
	}
}

// Cells run at the same time on the same variables, and each gets its own output.
func TestCellsAtOnce(t *testing.T) {
	c := start(t)
	c.value("import (\"fmt\"; \"log\"; \"time\")\nimport \"warpbook/kernel/display\"\nx, ready := 1, make(chan int)")
	c.value("log.SetFlags(0)")
	first := c.startCell("<-ready\nfmt.Println(\"first\", x)\nx")
	id, second := c.startBeside(`x = 5
fmt.Println("second")
for _, b := range []byte("é😀\n") { fmt.Printf("%s", []byte{b}); time.Sleep(2 * time.Millisecond) }
println("builtin")
display.Show("shown")
go func() { time.Sleep(50 * time.Millisecond); log.Print("late"); fmt.Println("later") }()
func double() int { return 2 * x }
double()`)
	if e := c.wait(second); e.Error != nil || e.Data["text/plain"] != "10" {
		t.Fatalf("the second is answered %v, %v", e.Data, e.Error)
	}
	if got := c.streamed(id, "stdout", "😀\n"); got != "second\né😀\n" {
		t.Errorf("stdout of the second: %q", got)
	}
	if got := c.streamed(id, "stderr", "\n"); got != "builtin\n" {
		t.Errorf("stderr of the second: %q", got)
	}
	if e := <-c.shown; e.Type != cellproto.Display || e.ID != id {
		t.Errorf("display %+v, want one of cell %d", e, id)
	}
	if got := c.streamed(id, "stderr", "late\n") + c.streamed(id, "stdout", "later\n"); got != "late\nlater\n" {
		t.Errorf("after its end: %q", got)
	}
	if got := c.out.take(); got != "" {
		t.Errorf("the pipe has %q", got)
	}
	_, third := c.startBeside("ready <- 1")
	c.wait(third)
	if e := c.wait(first); e.Error != nil || e.Data["text/plain"] != "5" {
		t.Errorf("the first is answered %v, %v", e.Data, e.Error)
	}
	if got := c.out.take(); got != "first 5\n" {
		t.Errorf("stdout of the first: %q", got)
	}
}

// Output and displays of a goroutine that outlives its cell belong to the last cell of
// its shell, while that runs and after. The goroutine shows i when the file i appears.
func TestLateOutputOfAGoroutine(t *testing.T) {
	c := start(t)
	c.value(`import ("fmt"; "os"; "time"; "warpbook/kernel/display")
until := func(file string) { for { if _, err := os.Stat(file); err == nil { return }; time.Sleep(time.Millisecond) } }`)
	touch := func(file int) {
		if err := os.WriteFile(filepath.Join(c.cmd.Dir, fmt.Sprint(file)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shown := func(number int, id uint64) {
		t.Helper()
		touch(number)
		if e := <-c.shown; e.Type != cellproto.Display || e.ID != id || e.Data["text/plain"] != fmt.Sprint(number) {
			t.Errorf("display %d is %+v, want one of cell %d", number, e, id)
		}
		if got, want := c.streamed(id, "stdout", "\n"), fmt.Sprintf("printed %d\n", number); got != want {
			t.Errorf("cell %d prints %q, want %q", id, got, want)
		}
	}
	loop := func(from int) string {
		return fmt.Sprintf("go func() { for i := %d; i < %[1]d + 3; i++ { until(fmt.Sprint(i)); display.Show(i); fmt.Println(\"printed\", i); os.Create(fmt.Sprint(\"done\", i)) } }()", from)
	}
	c.value(loop(0))
	first := c.lastID
	shown(0, first) // between cells
	c.value("1")
	shown(1, c.lastID) // after a later cell

	// While a cell runs, what the goroutine prints goes through the cell's pipes, so that
	// it stays in order with what the cell prints.
	next := c.begin("", `until("done2"); fmt.Println("after")`)
	running := c.lastID
	touch(2)
	if e := <-c.shown; e.Type != cellproto.Display || e.ID != running {
		t.Errorf("display beside a running cell is %+v, want one of cell %d", e, running)
	}
	if e := c.wait(next); e.Error != nil {
		t.Error(e.Error)
	}
	if got := c.out.take(); got != "printed 2\nafter\n" {
		t.Errorf("the running cell prints %q, want the goroutine's line before its own", got)
	}

	// A cell of another shell and a silent cell take nothing.
	other, done := c.startBeside(loop(3))
	c.wait(done)
	c.wait(c.send(cellproto.Request{Type: cellproto.Execute, Code: "2", Silent: true}))
	shown(3, other)
	c.value("3")
	shown(4, other)
	next = c.send(cellproto.Request{Type: cellproto.Execute, Code: `until("6")`, Silent: true})
	shown(5, other)
	touch(6)
	c.wait(next)
}

// An interrupt ends all running cells, and each shell can then run another cell.
func TestInterruptEndsCellsAtOnce(t *testing.T) {
	c := start(t)
	c.value("kept := 1")
	for range 3 {
		first := c.startCell("for {}")
		_, second := c.startBeside("select {}")
		if e := c.interrupt(first); e.Error == nil || e.Error.Name != "interrupted" {
			t.Errorf("the first is answered %+v", e)
		}
		if e := c.wait(second); e.Error == nil || e.Error.Name != "interrupted" {
			t.Errorf("the second is answered %+v", e)
		}
		if got := c.value("for i := range 1000 { kept = i }\nkept"); got != "999" {
			t.Errorf("kept is %s", got)
		}
	}
}

// A cell that returns from a compiled call is stopped, although another cell has ended
// meanwhile.
func TestInterruptWaitsForTheLast(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the cell makes a system call of Linux")
	}
	c := start(t)
	c.value("import \"syscall\"")
	first := c.startCell("pause := syscall.Timespec{Nsec: 900e6}\nsyscall.Nanosleep(&pause, nil)\nfor {}")
	_, second := c.startBeside("for {}")
	if e := c.interrupt(second); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("the loop is answered %+v", e)
	}
	if e := c.wait(first); e.Error == nil || e.Error.Value != "the cell was stopped, its variables are kept" {
		t.Errorf("the other is answered %+v, %v", e, e.Error)
	}
}

// An abandoned cell does not block the other cells.
func TestAbandonBesideACell(t *testing.T) {
	c := start(t)
	c.value("import \"syscall\"\npipe := make([]int, 2)\n_ = syscall.Pipe(pipe)\nx := 1")
	first := c.begin("", "syscall.Write(pipe[1], make([]byte, 1<<20))")
	_, second := c.startBeside("for {}")
	if e := c.interrupt(second); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("the loop is answered %+v", e)
	}
	if e := c.wait(first); e.Error == nil || !strings.Contains(e.Error.Value, "given up") {
		t.Errorf("the blocked cell is answered %+v", e)
	}
	if got := c.value("x"); got != "1" {
		t.Errorf("x is %s", got)
	}
}

// Two cells ask at the same time, and each gets the answer to its own question.
func TestCellsAskAtOnce(t *testing.T) {
	c := start(t)
	c.value(`import "warpbook/kernel/display"`)
	first := c.startCell(`display.Ask("first")`)
	one := c.question()
	_, second := c.startBeside(`display.Ask("second")`)
	two := c.question()
	c.post(cellproto.Request{ID: two.ID, Type: cellproto.Reply, Text: "b"})
	if e := c.wait(second); e.Data["text/plain"] != "b" {
		t.Errorf("the second got %v, %v", e.Data, e.Error)
	}
	c.post(cellproto.Request{ID: one.ID, Type: cellproto.Reply, Text: "a"})
	if e := c.wait(first); e.Data["text/plain"] != "a" {
		t.Errorf("the first got %v, %v", e.Data, e.Error)
	}
}

// Two shells define, redefine and use names concurrently, without pause.
func TestShellsDefineAtOnce(t *testing.T) {
	c := start(t)
	c.value("import (\"fmt\"; \"sort\"; \"strings\")\nshared := 0\nfunc scale() int { return 1 }")
	var shells sync.WaitGroup
	for shell := range 2 {
		shells.Go(func() {
			for i := range 40 {
				code := fmt.Sprintf(`type T%[1]d []int
func (t T%[1]d) Len() int { return len(t) }
func (t T%[1]d) Less(i, j int) bool { return t[i] < t[j] }
func (t T%[1]d) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t T%[1]d) String() string { return strings.Repeat("x", t[0]) }
func scale() int { return %[2]d }
shared++
v%[1]d := T%[1]d{3, 1, 2}
sort.Sort(v%[1]d)
fmt.Sprint(v%[1]d, scale(), len(v%[1]d))`, shell, i)
				e := c.wait(c.send(cellproto.Request{Type: cellproto.Execute, Code: code, Cell: 100*shell + i + 2}))
				if text, _ := e.Data["text/plain"].(string); e.Error != nil || !strings.HasPrefix(text, "x ") || !strings.HasSuffix(text, " 3") {
					t.Errorf("shell %d, cell %d: %v, %v", shell, i, e.Data, e.Error)
				}
			}
		})
	}
	shells.Wait()
	if got := c.value("len(v0) + len(v1) + min(1, shared)"); got != "7" {
		t.Errorf("afterwards: %s", got)
	}
}
