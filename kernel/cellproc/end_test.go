package cellproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpbook/kernel/cellproc/fakecells"
	"warpbook/kernel/cellproto"
	"warpbook/kernel/leaf/release"
)

func TestProgramEnds(t *testing.T) {
	tests := []struct{ script, name, value string }{
		{"out a\nexit 3", "program ended", "exit status 3;"},
		{"exit 0", "program ended", "exit status 0;"},
		{"signal 15", "program ended", "signal: terminated;"},
		{"signal 9", "program ended", "signal: killed (not for lack of memory)"},
		{"race", "program ended", "exit status 2, fatal error: concurrent map writes;"},
		{"panic oh dear", "program ended", "panic: oh dear;"},
		{`garbage \x00\x00\x00\x03}}}`, "program ended", "broke its protocol (cellproto: decode"},
		{`garbage \xff\xff\xff\xff`, "program ended", "broke its protocol (cellproto: read: 4294967295 bytes"},
		{"spawn\nexit 4", "program ended", "exit status 4;"},
	}
	s := start(t, Config{})
	for i, test := range tests {
		_, failure := run(t, s, i+1, test.script)
		if failure == nil || failure.Name != test.name || !strings.Contains(failure.Value, test.value) {
			t.Errorf("%q: %v, expected %s with %q", test.script, failure, test.name, test.value)
			continue
		}
		if !strings.Contains(failure.Value, "variables are gone") {
			t.Errorf("%q: %q does not say that variables are gone", test.script, failure.Value)
		}
		if got, failure := run(t, s, 100, "out alive"); got != "stdout:alive" || failure != nil {
			t.Errorf("cell after %q: %q, %v", test.script, got, failure)
		}
	}
}

// TestUpgradeWhileTheKernelRuns: the program that an upgrade has put in the place of the one
// that ended is not given a cell, because its protocol may differ: neither one of another
// version nor one of another build.
func TestUpgradeWhileTheKernelRuns(t *testing.T) {
	ourName = func() string { return release.With("a") }
	t.Cleanup(func() { ourName = release.Name })
	for name, named := range map[string]string{"99.1.0": "99.1.0", "": "an earlier version", release.With("b"): release.With("b"), release.With("a"): "", release.Version: ""} {
		s := start(t, Config{Env: append(os.Environ(), fakeEnv+"=run")})
		if got, failure := run(t, s, 1, "out a"); got != "stdout:a" || failure != nil {
			t.Fatalf("%q, %v, expected a cell that runs", got, failure)
		}
		s.config.Env = append(s.config.Env, fakecells.VersionEnv+"="+name)
		run(t, s, 2, "exit 3")
		want := fmt.Sprintf("the cells program %s is of warpbook %s, this process of %s, as after an upgrade: restart the kernel, or install warpbook again", s.config.Program, named, ourName())
		for cell := 3; cell <= 4; cell++ {
			got, failure := run(t, s, cell, "out b")
			if named == "" { // it is of this build, as far as its name says
				if got != "stdout:b" || failure != nil {
					t.Errorf("name %q, cell %d: %q, %v, expected a cell that runs", name, cell, got, failure)
				}
			} else if failure == nil || failure.Value != want || got != "" {
				t.Errorf("name %q, cell %d: %q, %v, expected %s", name, cell, got, failure, want)
			}
		}
	}
}

func TestEndBetweenCells(t *testing.T) {
	s := start(t, Config{})
	run(t, s, 1, "out a")
	dead := s.current.Load()
	dead.command.Process.Signal(syscall.SIGKILL)
	<-dead.done
	got, failure := run(t, s, 2, "out b")
	if failure != nil || !strings.HasSuffix(got, "|stdout:b") || !strings.Contains(got, "variables are gone") {
		t.Errorf("%q, %v, expected a notice and the cell's output", got, failure)
	}
	if got, _ := run(t, s, 3, "out c"); got != "stdout:c" {
		t.Errorf("%q, expected no second notice", got)
	}
}

// TestDumpIsSaved: when the runtime ends the program, the user gets the reason, and a
// file holds the goroutines. Output that the cell printed is kept, even if it looks
// like a dump.
func TestDumpIsSaved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := start(t, Config{})
	for i, end := range []string{"unlock", "panic oh dear"} {
		got, failure := run(t, s, i+1, `err a\npanic: no, a cell\n`+"\nsleep 50\n"+end)
		if !strings.HasPrefix(got, "stderr:a\npanic: no, a cell\n") || strings.Contains(got, "goroutine ") || strings.Contains(got, ".go:") {
			t.Errorf("%s: the user gets %q, expected what the cell printed and the reason", end, got)
		}
		_, path, ok := strings.Cut(strings.Join(failure.Traceback, "\n"), "the Go runtime's stacks are in ")
		if !ok {
			t.Errorf("%s: no file in %q", end, failure.Traceback)
			continue
		}
		if dump, err := os.ReadFile(path); err != nil || !strings.Contains(string(dump), "goroutine ") {
			t.Errorf("%s: %s has %q, %v, expected stacks", end, path, dump, err)
		}
	}
	if got, failure := run(t, s, 3, `err fatal error: no\n`); got != "stderr:fatal error: no\n" || failure != nil {
		t.Errorf("%q, %v, expected what the cell printed", got, failure)
	}
}

// TestDumpStart: the cell's output and the runtime's are separated, however much of the
// two pipes has been read.
func TestDumpStart(t *testing.T) {
	const stack = "\ngoroutine 7 [running]:\nmain.main()\n"
	for _, x := range []struct{ cell, dump, said string }{
		{"a\npanic: no\n", "", ""},
		{"a\npanic: no\n", "", "panic: oh dear\n"},
		{"a\npanic: no\n", "", stack},
		{"a\n", "", "panic: oh dear\n"},
		{"a\npanic: no\n", "panic: oh dear\n" + stack, "panic: oh dear\n"},
		{"a\nfatal error: no\n", "panic: oh dear\n" + stack, "panic: oh dear\n" + stack},
		{"a\npanic: oh dear\n", "panic: oh dear\n" + stack, "panic: oh dear\n"},
		{"a\npanic: no\n", "panic: oh", "panic: oh dear\n"},
		{"a\npanic: no\n", "panic: oh dear\n", "panic: o"},
		{"a\npanic: no\n", "fatal error: sync: unlock of unlocked mutex\n" + stack, stack},
		{"a\nruntime: no, a cell\nb\n", "runtime: goroutine stack exceeds 1000 bytes\nruntime: sp=0\nfatal error: stack overflow\n\nruntime stack:\n", "\nruntime stack:\n"},
		{"a\n", "SIGABRT: abort\nPC=0x1\n" + stack, "SIGABRT: abort\nPC"},
		{"a: \n", stack[1:], stack}, // its first line was read earlier, when the crash pipe was still empty
	} {
		if got := dumpStart([]byte(x.cell+x.dump), []byte(x.said)); got != len(x.cell) {
			t.Errorf("%q and %q: %d, expected %d", x.cell+x.dump, x.said, got, len(x.cell))
		}
	}
}

// TestLastWordsBlockNothing: a cell that prints lines like the runtime's fatal errors
// delays no other request. The machine may be busy, so the best of several tries counts.
func TestLastWordsBlockNothing(t *testing.T) {
	const most, tries = time.Second, 5
	least := time.Hour
	for try := 0; try < tries && least > most; try++ {
		least = min(least, besideLastWords(t))
	}
	if least > most {
		t.Errorf("completions took %v beside the cell, expected less than %v", least, most)
	}
}

// besideLastWords returns the time that completions take beside such a cell.
func besideLastWords(t *testing.T) (took time.Duration) {
	const lines, requests = 1500, 40
	s := start(t, Config{})
	r := newRecorder()
	answer := make(chan cellproto.Event, 1)
	go func() {
		e, _ := s.Execute(context.Background(), fmt.Sprintf("words %d\ndisplay end\nerr panic: y", lines), 1, r.sink)
		answer <- e
	}()
	<-r.first
	begin := time.Now()
	for range requests {
		if _, err := s.Ask(context.Background(), cellproto.Request{Type: cellproto.Complete, Code: "Prin", Cursor: 4}); err != nil {
			t.Fatal(err)
		}
	}
	took = time.Since(begin)
	t.Logf("%d completions took %v", requests, took)
	e := <-answer
	if want := "stderr:" + strings.Repeat("fatal error: x\n", lines) + "|display:end|stderr:panic: y"; e.Error != nil || r.text() != want {
		t.Errorf("%v, %d bytes that end in %.60q, expected the %d that the cell printed", e.Error, len(r.text()), r.text()[max(0, len(r.text())-60):], len(want))
	}
	return took
}

// TestLastWordsOfACellAreNoReason: text that a cell printed is not reported as the
// reason for the program's end.
func TestLastWordsOfACellAreNoReason(t *testing.T) {
	s := start(t, Config{})
	got, failure := run(t, s, 1, `err panic: a cell\n`+"\nexit 3")
	if want := "the cells program ended: exit status 3; its variables"; got != "stderr:panic: a cell\n" || failure == nil || !strings.HasPrefix(failure.Value, want) {
		t.Errorf("%q, %v, expected the text and %q", got, failure, want)
	}
}

// TestSendAfterEnd covers the race between finding a program alive and sending to it:
// the request must not wait for an answer that never comes.
func TestSendAfterEnd(t *testing.T) {
	s := start(t, Config{})
	dead := s.current.Load()
	s.Kill()
	<-dead.done
	if dead.send(cellproto.Request{ID: 1, Type: cellproto.Execute}, &call{id: 1}) {
		t.Error("the request was taken")
	}
}

// TestDetachedSubprocess: a subprocess that leaves the group and keeps the pipes open
// does not delay the answer.
func TestDetachedSubprocess(t *testing.T) {
	s := start(t, Config{})
	got, failure := run(t, s, 1, "detach\nexit 3")
	if failure == nil || !strings.Contains(failure.Value, "exit status 3") {
		t.Errorf("%v, expected the exit status", failure)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(got, "stdout:")))
	if err != nil {
		t.Fatal(err)
	}
	syscall.Kill(pid, syscall.SIGKILL)
}

func TestSubprocessesEndWithTheProgram(t *testing.T) {
	s := start(t, Config{})
	got, _ := run(t, s, 1, "spawn")
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(got, "stdout:")))
	if err != nil {
		t.Fatal(err)
	}
	s.Kill()
	eventually(t, "the subprocess is gone", func() bool { return !running(pid) })
}

func TestKill(t *testing.T) {
	s := start(t, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	r := newRecorder()
	answer := make(chan cellproto.Event, 1)
	go func() {
		e, _ := s.Execute(ctx, "out deaf\ndeaf", 1, r.sink)
		answer <- e
	}()
	<-r.first
	cancel()
	select {
	case e := <-answer:
		t.Fatalf("a cell that ignores interrupts answered %+v", e)
	case <-time.After(100 * time.Millisecond):
	}
	s.Kill()
	if e := <-answer; e.Error == nil || e.Error.Name != "killed" {
		t.Errorf("error %v, expected killed", e.Error)
	}
	if got, failure := run(t, s, 2, "out b"); got != "stdout:b" || failure != nil {
		t.Errorf("after Kill: %q, %v, expected no notice", got, failure)
	}
}

// TestKillFromSink: a sink may call the methods that do not wait.
func TestKillFromSink(t *testing.T) {
	s := start(t, Config{})
	e, err := s.Execute(context.Background(), "out a\nhang", 1, func(cellproto.Event) { s.Interrupt(); s.Kill() })
	if err != nil || e.Error == nil {
		t.Errorf("%+v, %v, expected an error event", e, err)
	}
}

func TestExitAtStart(t *testing.T) {
	s := start(t, Config{Env: append(os.Environ(), fakeEnv+"=stillborn")})
	for range 2 {
		e, err := s.Execute(context.Background(), "out a", 1, func(cellproto.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		want := "the cells program did not start: exit status 7, no such device"
		if e.Error == nil || e.Error.Value != want {
			t.Errorf("%v, expected %q", e.Error, want)
		}
	}
}

func TestStartErrors(t *testing.T) {
	_, err := Start(Config{Program: filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "cellproc: start ") {
		t.Errorf("%v, expected cellproc: start ... not exist", err)
	}
}

func TestCloseWhileACellRuns(t *testing.T) {
	s := start(t, Config{})
	r := newRecorder()
	answer := make(chan cellproto.Event, 1)
	go func() {
		e, _ := s.Execute(context.Background(), "out a\ndeaf", 1, r.sink)
		answer <- e
	}()
	<-r.first
	s.Close()
	if e := <-answer; e.Error == nil {
		t.Error("no error, expected the end of the program")
	}
	if _, err := s.Execute(context.Background(), "out b", 2, r.sink); err == nil {
		t.Error("a closed session executes")
	}
}

// running reports whether a process exists and is not a zombie. An orphan may stay a
// zombie for a while where init does not reap.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		_, rest, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(rest, "Z")
	}
	return syscall.Kill(pid, 0) == nil
}
