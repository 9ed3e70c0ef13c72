package cellproc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// TestInterruptOfAStoppedProgram: a program stopped by SIGSTOP continues, so that it
// reads the interrupt.
func TestInterruptOfAStoppedProgram(t *testing.T) {
	s := start(t, Config{})
	run(t, s, 1, "out a")
	r, answer := newRecorder(), make(chan cellproto.Event, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		e, _ := s.Execute(ctx, "out begun\nhang", 2, r.sink)
		answer <- e
	}()
	<-r.first
	s.current.Load().command.Process.Signal(syscall.SIGSTOP)
	time.Sleep(50 * time.Millisecond)
	s.Interrupt()
	select {
	case e := <-answer:
		if e.Error == nil || e.Error.Name != "interrupted" {
			t.Errorf("error %v, expected interrupted", e.Error)
		}
	case <-time.After(patience):
		t.Fatal("a stopped program was interrupted and did not answer")
	}
	if got, failure := run(t, s, 3, "out on"); got != "stdout:on" || failure != nil {
		t.Errorf("afterwards: %q, %v", got, failure)
	}
}

// TestUnansweredInterruptIsReported: when the program does not answer an interrupt, its
// cell says that only a kill ends it.
func TestUnansweredInterruptIsReported(t *testing.T) {
	before := deafAfter
	deafAfter = 50 * time.Millisecond
	defer func() { deafAfter = before }()
	s := start(t, Config{})
	r, answer := newRecorder(), make(chan cellproto.Event, 1)
	go func() {
		e, _ := s.Execute(context.Background(), "mute\nout begun\nhang", 1, r.sink)
		answer <- e
	}()
	<-r.first
	s.Interrupt()
	eventually(t, "the cell reports the unanswered interrupt", func() bool {
		return strings.Contains(r.text(), "has not answered the interrupt for 50ms: restart the kernel")
	})
	s.Kill()
	<-answer
}

// TestKilledBy: the error names the system as the killer only when the system's count
// has grown.
func TestKilledBy(t *testing.T) {
	before := oomCounter
	defer func() { oomCounter = before }()
	oomCounter = filepath.Join(t.TempDir(), "vmstat")
	count := func(n int) {
		if err := os.WriteFile(oomCounter, fmt.Appendf(nil, "nr_free_pages 1\noom_kill %d\nzswpin 0\n", n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	count(7)
	begun := filepath.Join(t.TempDir(), "begun")
	for i, test := range []struct {
		script string
		count  func()
		value  string
	}{
		{"signal 9", func() {}, "the cells program ended: signal: killed (not for lack of memory);"},
		{"touch " + begun + "\nwait killed", func() { count(8) }, "the cells program ended: signal: killed by the system, because memory ran out;"},
		{"signal 9", func() { os.Remove(oomCounter) }, "the cells program ended: signal: killed (by the system, if memory ran out);"},
	} {
		s := start(t, Config{})
		run(t, s, 1, "out a")
		test.count()
		if strings.Contains(test.script, "wait") {
			go func() {
				for _, err := os.Stat(begun); err != nil; _, err = os.Stat(begun) {
					time.Sleep(time.Millisecond)
				}
				s.current.Load().command.Process.Signal(syscall.SIGKILL)
			}()
		}
		if _, failure := run(t, s, i+1, test.script); failure == nil || !strings.HasPrefix(failure.Value, test.value) {
			t.Errorf("%d: %v, expected %s", i, failure, test.value)
		}
		count(7)
	}
	s := start(t, Config{})
	if _, failure := run(t, s, 1, "close\nwait killed"); failure == nil || !strings.HasPrefix(failure.Value, "the cells program closed its events and was ended;") {
		t.Errorf("%v, expected that it has closed its events", failure)
	}
}
