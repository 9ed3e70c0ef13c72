package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
)

// soon is how long the next cell may take after the program has ended, in the best of
// several tries. A user should wait for less than 1 s; a busy machine may be slower.
const soon, soonTries = 5 * time.Second, 3

// TestProgramEnds: whatever a cell does to its process, the cell is answered with the
// reason, and the next cell runs.
func TestProgramEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("cells make system calls of Linux")
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir()) // for dumps
	s, err := cellproc.Start(cellproc.Config{Program: program, Env: append(os.Environ(), "GORACE=atexit_sleep_ms=0")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, x := range []struct {
		what, code string
		reason     string
		kept       bool // definitions of earlier cells
	}{
		{"os.Exit", "import \"os\"\nos.Exit(3)", "the cell called os.Exit(3); the session goes on", true},
		{"log.Fatal", "import \"log\"\nlog.Fatal(\"no\")", "the cell called os.Exit(1); the session goes on", true},
		{"endless recursion", "func f(n int) int { return f(n+1) + 1 }\nf(0)", "stack overflow", true},
		{"wrong address", "import \"unsafe\"\n*(*int)(unsafe.Pointer(uintptr(8))) = 1", "invalid memory address", true},
		{"exit in compiled code", "import \"syscall\"\nsyscall.RawSyscall(syscall.SYS_EXIT_GROUP, 3, 0, 0)", "exit status 3", false},
		{"another program in its place", "import \"syscall\"\nsyscall.Exec(\"/bin/sleep\", []string{\"sleep\", \"100\"}, nil)", "the cells program closed its events and was ended", false},
		{"recursion of compiled code", "import (\"encoding/gob\"; \"io\")\ntype N struct{ A int; Next *N }\nn := &N{}\nn.Next = n\ngob.NewEncoder(io.Discard).Encode(n)", "stack overflow", false},
		{"concurrent map writes", "m2 := map[int]int{}\nfor range 8 { go func() { for { m2[1]++ } }() }\nselect {}", "fatal error: concurrent map", false},
		{"no memory", "make([]byte, 1<<45)", "out of memory", false},
		{"fatal error of a compiled goroutine", "import \"time\"\ntime.AfterFunc(1, nil)\nselect {}", "fatal error: go of nil func value", false},
		{"a fault in C", "import \"syscall\"\nsyscall.Kill(syscall.Getpid(), syscall.SIGSEGV)\nselect {}", "SIGSEGV: segmentation violation", false},
		{"abort in C", "import \"syscall\"\nsyscall.Kill(syscall.Getpid(), syscall.SIGABRT)\nselect {}", "SIGABRT: abort", false},
		{"killed", "import \"syscall\"\nsyscall.Kill(syscall.Getpid(), syscall.SIGKILL)\nselect {}", "signal: killed (not for lack of memory)", false},
	} {
		t.Run(x.what, func(t *testing.T) {
			if raceEnabled && (x.what == "wrong address" || x.what == "no memory") {
				t.Skip("the race detector ends the program itself, for another reason")
			}
			if raceEnabled && x.reason == "stack overflow" {
				t.Skip("one goroutine fills its stack, which takes a quarter of a minute with the race detector and has nothing to race")
			}
			least := time.Hour
			for try := 0; try < soonTries && least > soon; try++ {
				least = min(least, endsProgram(t, s, x.what, x.code, x.reason, x.kept))
			}
			if t.Logf("next cell after %v", least); least > soon {
				t.Errorf("the next cell took %v", least)
			}
		})
	}
}

// endsProgram runs a cell that ends its program, and returns how long the next cell took.
func endsProgram(t *testing.T, s *cellproc.Client, what, code, reason string, kept bool) time.Duration {
	t.Helper()
	if e, _ := execute(t, s, "kept := 1"); e.Error != nil {
		t.Fatal(e.Error)
	}
	e, printed := execute(t, s, code)
	if e.Error == nil || !strings.Contains(e.Error.Value, reason) {
		t.Fatalf("the answer is %v, want the reason %q", e.Error, reason)
	}
	if gone := strings.Contains(e.Error.Value, "variables are gone"); gone == kept {
		t.Errorf("%q: variables are kept: %v", e.Error.Value, kept)
	}
	if all := printed + strings.Join(e.Error.Traceback, "\n"); !raceEnabled && (strings.Contains(all, "goroutine ") || strings.Contains(all, ".go:")) {
		t.Errorf("the cell shows stacks of the engine:\n%s", all)
	}
	if calls := "in a call of encoding/gob.(*Encoder).Encode"; what == "recursion of compiled code" && !strings.Contains(strings.Join(e.Error.Traceback, "\n"), calls) {
		t.Errorf("%q does not say %q", e.Error.Traceback, calls)
	}
	start := time.Now()
	e, _ = execute(t, s, "kept")
	if (e.Error == nil) != kept {
		t.Errorf("kept is %v, %v", e.Data, e.Error)
	}
	return time.Since(start)
}

// TestSubprocessesEndWithTheSession: subprocesses that a cell left running end with the
// program, also when the session was killed and can end nothing.
func TestSubprocessesEndWithTheSession(t *testing.T) {
	c := start(t)
	pid, err := strconv.Atoi(c.value("import \"os/exec\"\nleft := exec.Command(\"sleep\", \"1000\")\nleft.Start()\nleft.Process.Pid"))
	if err != nil {
		t.Fatal(err)
	}
	c.requests.Close()
	c.cmd.Wait()
	awaitEnd(t, pid)
}

// awaitEnd waits until a process has ended.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("a subprocess lives on")
		}
	}
}

// startsOthers is a cell that waits for a program, which has started another one and has
// written its number into the file pid.
const startsOthers = `import "os/exec"
exec.Command("sh", "-c", "setsid sleep 1000 & echo $! > new; mv new pid; wait").Run()`

// pidOf reads the number of a process when a cell has written it.
func pidOf(t *testing.T, dir string) int {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(dir, "pid"))
		if err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		if time.Now().After(deadline) {
			t.Fatal("no number was written")
		}
	}
}

// TestInterruptEndsSubprocesses: an interrupt ends the programs that a cell waits for, and
// what they have started.
func TestInterruptEndsSubprocesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are listed on Linux only")
	}
	c := start(t)
	running := c.startCell(startsOthers)
	pid := pidOf(t, c.cmd.Dir)
	if e := c.interrupt(running); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("answered %+v", e.Error)
	}
	awaitEnd(t, pid)
}

// TestSessionsEndWithTheKernel: a program that left its group, as with setsid, ends when
// the kernel is shut down.
func TestSessionsEndWithTheKernel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are listed on Linux only")
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, err := cellproc.Start(cellproc.Config{Program: program, Dir: dir, Env: append(os.Environ(), "GORACE=atexit_sleep_ms=0")})
	if err != nil {
		t.Fatal(err)
	}
	execute(t, s, strings.Replace(startsOthers, "; wait", "", 1))
	pid := pidOf(t, dir)
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("before the shutdown: %v", err)
	}
	s.Close()
	awaitEnd(t, pid)
}

// execute runs a cell and returns its answer and its printed text.
func execute(t *testing.T, s *cellproc.Client, code string) (answer cellproto.Event, printed string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := s.Execute(ctx, code, 1, func(e cellproto.Event) { printed += e.Text })
	if err != nil || ctx.Err() != nil {
		t.Fatalf("%s: %v, %v", code, err, ctx.Err())
	}
	return answer, printed
}
