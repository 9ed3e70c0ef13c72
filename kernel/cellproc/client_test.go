package cellproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

// recorder is a sink and a Late that keeps the events it receives. Its mutex protects
// the test's reads: a Client calls one sink at a time.
type recorder struct {
	mu     sync.Mutex
	events []string // "stdout:text", "display:text"; streams are joined
	begun  bool     // Begun came first; any other is an event
	first  chan struct{}
	once   sync.Once
}

func newRecorder() *recorder { return &recorder{first: make(chan struct{})} }

func (r *recorder) sink(e cellproto.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Type == cellproto.Begun && !r.begun && len(r.events) == 0 {
		r.begun = true
		return
	}
	defer r.once.Do(func() { close(r.first) })
	switch e.Type {
	case cellproto.Stream:
		prefix := e.Name + ":"
		if n := len(r.events); n > 0 && strings.HasPrefix(r.events[n-1], prefix) {
			r.events[n-1] += e.Text
			return
		}
		r.events = append(r.events, prefix+e.Text)
	case cellproto.Display:
		r.events = append(r.events, fmt.Sprint("display:", e.Data["text/plain"]))
	default:
		r.events = append(r.events, e.Type)
	}
}

func (r *recorder) late(cell int, e cellproto.Event) {
	e.Text = fmt.Sprintf("[%d]%s", cell, e.Text)
	r.sink(e)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.events, "|")
}

// start starts a Client on the fake program. At the end of the test it checks that no
// process or descriptor is left.
func start(t *testing.T, config Config) *Client {
	t.Helper()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config.Program = self
	if config.Env == nil {
		// Without this the race detector makes each child sleep for 1 s at its end.
		config.Env = append(os.Environ(), fakeEnv+"=1", "GORACE=atexit_sleep_ms=0")
	}
	s, err := Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		pid := s.current.Load().command.Process.Pid
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("process %d after Close: %v, expected none", pid, err)
		}
		eventually(t, "goroutines and descriptors are as before", func() bool {
			return runtime.NumGoroutine() <= goroutines && openFiles(t) <= files
		})
	})
	return s
}

// openFiles counts the open descriptors where the system lists them, and otherwise
// returns 0.
func openFiles(t *testing.T) int {
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

// run executes a script and returns the text that its sink received, and the cell's
// error.
func run(t *testing.T, s *Client, cell int, script string) (string, *cellproto.Error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := newRecorder()
	e, err := s.Execute(ctx, script, cell, r.sink)
	if err != nil {
		t.Fatalf("cell %d: %v", cell, err)
	}
	if ctx.Err() != nil {
		t.Fatalf("cell %d: not answered in %v", cell, patience)
	}
	if !r.begun {
		t.Errorf("cell %d: no %s came first", cell, cellproto.Begun)
	}
	return r.text(), e.Error
}

func TestOrder(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"displays", "out a\ndisplay b\nerr c\ndisplay d\nout e", "stdout:a|display:b|stderr:c|display:d|stdout:e"},
		{"framed", "out a\nframed b\ndisplay c\nframed d", "stdout:ab|display:c|stdout:d"},
		{"split UTF-8", `out \xe4
sleep 30
out \xbd\xa0\xf0\x9f
sleep 30
out \x98
sleep 30
out \x80!`, "stdout:你😀!"},
		{"split on each stream", "out \\xe4\nerr \\xf0\\x9f\ndisplay a\nout \\xbd\nerr \\x98\ndisplay b\nout \\xa0\ndisplay c\nerr \\x80", "display:a|display:b|stdout:你|display:c|stderr:😀"},
		{"not UTF-8", `out a\xff\xfeb`, "stdout:a�b"},
		{"unfinished at the end", `out a\xe4\xbd`, "stdout:a�"},
	}
	s := start(t, Config{})
	for i, test := range tests {
		got, failure := run(t, s, i+1, test.script)
		if failure != nil {
			t.Errorf("%s: %v", test.name, failure)
		}
		if got != test.want {
			t.Errorf("%s: %q, expected %q", test.name, got, test.want)
		}
	}
}

// TestBegin: the caller of Begin gets all events before the answer, and exactly one
// answer, also when the program is killed.
func TestBegin(t *testing.T) {
	s := start(t, Config{})
	begin := func(script string) (*recorder, chan cellproto.Event) {
		t.Helper()
		r, answered := newRecorder(), make(chan cellproto.Event, 2)
		if err := s.Begin(cellproto.Request{Code: script, Cell: 1}, r.sink, func(e cellproto.Event) {
			if !r.begun {
				t.Errorf("%s: answered before %s", script, cellproto.Begun)
			}
			answered <- e
		}); err != nil {
			t.Fatal(err)
		}
		return r, answered
	}
	answer := func(answered chan cellproto.Event) (e cellproto.Event) {
		t.Helper()
		select {
		case e = <-answered:
		case <-time.After(patience):
			t.Fatalf("not answered in %v", patience)
		}
		return e
	}
	for range 200 {
		if r, answered := begin("out a\nframed b"); answer(answered).Error != nil || r.text() != "stdout:ab" {
			t.Fatalf("%q, expected stdout:ab", r.text())
		}
	}
	r, answered := begin("out a\nhang")
	eventually(t, "the cell has begun", func() bool { return r.text() != "" })
	s.Kill()
	if e := answer(answered); e.Error == nil || e.Error.Name != "killed" {
		t.Errorf("%v, expected killed", e.Error)
	}
	time.Sleep(gather)
	if len(answered) > 0 {
		t.Error("answered twice")
	}
}

// TestAnswerBeforeBegun: the answer arrives before the requesting goroutine has
// delivered Begun; the sink still gets Begun once.
func TestAnswerBeforeBegun(t *testing.T) {
	r := newRecorder()
	c := &child{config: &Config{}, outputs: map[uint64]*cellOutput{}, pending: map[uint64]*call{7: {id: 7, sink: r.sink}}}
	theirs, err := c.makePipes() // silent
	if err != nil {
		t.Fatal(err)
	}
	defer c.closeRead()
	defer c.requests.file.Close()
	defer closeAll(theirs...)
	asked := c.pending[7]
	if c.receive(cellproto.Event{ID: 7, Type: cellproto.Done}) != asked || !r.begun {
		t.Error("answered without Begun")
	}
	if asked.take(cellproto.Event{Type: cellproto.Begun}); r.text() != "" {
		t.Errorf("told %s, expected Begun once", r.text())
	}
}

func TestOrderOfManyLines(t *testing.T) {
	const n = 100_000
	s := start(t, Config{})
	got, failure := run(t, s, 1, fmt.Sprintf("lines %d\ndisplay end", n))
	if failure != nil {
		t.Fatal(failure)
	}
	var want strings.Builder
	want.WriteString("stdout:")
	for i := range n {
		fmt.Fprintf(&want, "line %d\n", i)
	}
	want.WriteString("|display:end")
	if got != want.String() {
		t.Errorf("%d bytes that differ from the %d expected", len(got), want.Len())
	}
}

func TestLargeOutput(t *testing.T) {
	const n = 20_000_000
	s := start(t, Config{})
	bytes, other := 0, 0
	e, err := s.Execute(context.Background(), fmt.Sprintf("fill %d\ndisplay end\nfill 5", n), 1, func(e cellproto.Event) {
		switch {
		case e.Type == cellproto.Begun:
		case e.Type == cellproto.Stream && strings.Count(e.Text, "x") == len(e.Text):
			bytes += len(e.Text)
		case bytes != n:
			t.Errorf("%s after %d bytes, expected after %d", e.Type, bytes, n)
		default:
			other++
		}
	})
	if err != nil || e.Error != nil || bytes != n+5 || other != 1 {
		t.Errorf("%d bytes, %d other events, %v, %v", bytes, other, e.Error, err)
	}
}

// BenchmarkOutput is raw output through the pipe to a sink.
func BenchmarkOutput(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	s, err := Start(Config{Program: self, Env: append(os.Environ(), fakeEnv+"=1")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, script := range []string{"fill 50000000", "lines 100000", "out x"} {
		b.Run(strings.ReplaceAll(script, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Execute(context.Background(), script, 1, func(cellproto.Event) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestLiveOutput(t *testing.T) {
	s := start(t, Config{})
	r := newRecorder()
	ctx, cancel := context.WithCancel(context.Background())
	answer := make(chan cellproto.Event, 1)
	go func() {
		e, _ := s.Execute(ctx, "out now\nhang", 1, r.sink)
		answer <- e
	}()
	select {
	case <-r.first:
	case <-time.After(patience):
		t.Fatal("output did not arrive while the cell ran")
	}
	cancel()
	if e := <-answer; e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("error %v, expected interrupted", e.Error)
	}
	if got, failure := run(t, s, 2, "out on"); got != "stdout:on" || failure != nil {
		t.Errorf("after the interrupt: %q, %v", got, failure)
	}
}

func TestLateOutput(t *testing.T) {
	late := newRecorder()
	s := start(t, Config{Late: late.late})
	run(t, s, 5, "late a")
	s.Interrupt()
	eventually(t, "late output", func() bool {
		return late.text() == "stdout:[5]raw late\n[5]framed late\n" || late.text() == "stdout:[5]framed late\n[5]raw late\n"
	})
	// While another cell runs, framed output keeps the number of its own cell.
	run(t, s, 6, "late b")
	r := newRecorder()
	answer := make(chan cellproto.Event, 1)
	go func() {
		e, _ := s.Execute(context.Background(), "out begun\nwait b", 7, r.sink)
		answer <- e
	}()
	<-r.first
	s.Interrupt()
	<-answer
	if r.text() != "stdout:begunraw late\n" || !strings.HasSuffix(late.text(), "[6]framed late\n") {
		t.Errorf("running cell got %q and the one before %q, expected the raw line and the framed one", r.text(), late.text())
	}
}

func TestEndlessWriterBlocksNothing(t *testing.T) {
	s := start(t, Config{})
	run(t, s, 1, "endless")
	for cell := 2; cell < 5; cell++ {
		if got, failure := run(t, s, cell, "display d"); failure != nil || !strings.Contains(got, "display:d") {
			t.Fatalf("cell %d: %.40q, %v", cell, got, failure)
		}
	}
}

func TestRequestsBesideACell(t *testing.T) {
	s := start(t, Config{})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := newRecorder()
	answer := make(chan cellproto.Event, 1)
	go func() {
		e, _ := s.Execute(ctx, "out a\nhang", 1, r.sink)
		answer <- e
	}()
	<-r.first
	e, err := s.Ask(ctx, cellproto.Request{Type: cellproto.Complete, Code: "Prin", Cursor: 4})
	if err != nil || len(e.Matches) != 1 || e.Matches[0].Text != "Prin()" || e.Start != 4 {
		t.Errorf("complete: %+v, %v", e, err)
	}
	short, stop := context.WithTimeout(ctx, 20*time.Millisecond)
	defer stop()
	if _, err := s.Ask(short, cellproto.Request{Type: cellproto.Inspect, Code: "x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("inspect without an answer: %v, expected a deadline", err)
	}
	s.Interrupt()
	if e := <-answer; e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("error %v, expected interrupted", e.Error)
	}
}

// Cells run at the same time. The pipes belong to the first cell while it runs;
// afterwards output on the pipes counts as the other cell's.
func TestCellsAtOnce(t *testing.T) {
	s := start(t, Config{})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	first, second := newRecorder(), newRecorder()
	answers := make(chan cellproto.Event, 2)
	go func() {
		e, _ := s.Execute(ctx, "pipes\nwait a\nout \\xe4\nopen b\nwait c\nout \\xbd\\xa0\ndisplay a", 1, first.sink)
		answers <- e
	}()
	<-first.first
	if got, failure := run(t, s, 2, "pipes\nopen a\nwait b\ndisplay b"); failure != nil || got != "stdout:false|display:b" {
		t.Errorf("between them: %q, %v", got, failure)
	}
	go func() {
		e, _ := s.Execute(ctx, "framed x\nopen c\npause\nout raw\nhang", 3, second.sink)
		answers <- e
	}()
	<-second.first
	<-answers
	s.Interrupt()
	if got := first.text(); got != "stdout:true你|display:a" {
		t.Errorf("the first: %q", got)
	}
	eventually(t, "raw output of the second", func() bool { return second.text() == "stdout:xraw" })
	got, failure := run(t, s, 4, "pipes\nout mine")
	if failure != nil || got != "stdout:truemine" && got != "stdout:minetrue" {
		t.Errorf("the next: %q, %v, expected it to have the pipes", got, failure)
	}
	s.Interrupt()
	<-answers
}

func TestInput(t *testing.T) {
	s := start(t, Config{})
	r := newRecorder()
	sink := func(e cellproto.Event) {
		if e.Type == cellproto.Input {
			s.Reply(e.ID, "42")
		}
		r.sink(e)
	}
	e, err := s.Execute(context.Background(), "input name?", 1, sink)
	if err != nil || e.Error != nil || r.text() != "input|stdout:got 42\n" {
		t.Errorf("%q, %+v, %v", r.text(), e, err)
	}
}

func TestWorkingDirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Dir: dir})
	if got, _ := run(t, s, 1, "dir"); got != "stdout:"+dir+"\n" {
		t.Errorf("%q, expected %q", got, dir)
	}
}

// The outputs of old requests are dropped, so that memory stays bounded in a long
// session.
func TestOutputsAreBounded(t *testing.T) {
	s := start(t, Config{})
	for cell := range keptOutputs + 50 {
		run(t, s, cell+1, "out x")
	}
	c := s.current.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.outputs); n > keptOutputs {
		t.Errorf("%d outputs are kept, want at most %d", n, keptOutputs)
	}
}
