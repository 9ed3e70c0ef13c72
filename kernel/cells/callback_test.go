package main

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestCallbackPanics: when compiled code calls a cell's function on another goroutine
// and the function panics, the error names the cell and the line, and the session
// continues.
func TestCallbackPanics(t *testing.T) {
	c := start(t)
	c.value(`import ("context"; "io"; "net"; "net/http"; "net/http/httptest"; "os/exec"; "sort"; "sync"; "time")
kept := "state"
var none map[string]int
func tick() {
	panic("tock")
}
func fault() {
	none["x"] = 1
}
type handler struct{}
func (handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	none["x"] = 1
}
get := func(h http.Handler) { s := httptest.NewServer(h); defer s.Close(); http.Get(s.URL) }`)
	const called, goroutine = "panic in a function that compiled code called: ", "panic in a goroutine: "
	for _, x := range []struct{ what, code, want string }{
		{"a literal", "time.AfterFunc(1, func() {\n\tpanic(\"boom\")\n})", called + "boom\n    cell N, line 2, in func1\n"},
		{"a fault in a literal", "time.AfterFunc(1, func() {\n\n\tnone[\"x\"] = 1\n})", called + "assignment to entry in nil map\n    cell N, line 3, in func1\n"},
		{"a function", "\ntime.AfterFunc(1, tick)", called + "tock\n    cell 1, line 5, in tick\n"},
		{"a function that a literal calls", "time.AfterFunc(1, func() {\n\tfault()\n})", called + "assignment to entry in nil map\n    cell 1, line 8, in fault\n    cell N, line 2, in func1\n"},
		{"a fault in a function", "\ntime.AfterFunc(1, fault)", called + "assignment to entry in nil map\n    cell 1, line 8, in fault\n"},
		{"through an interface", "var f any = fault\ntime.AfterFunc(1, f.(func()))", called + "assignment to entry in nil map\n    cell 1, line 8, in fault\n"},
		{"a variadic function of a variable", "after := time.AfterFunc\nafter(1, fault)", called + "assignment to entry in nil map\n    cell 1, line 8, in fault\n"},
		{"an error", "time.AfterFunc(1, func() { panic(io.EOF) })", called + "EOF\n    cell N, line 1, in func1\n"},
		{"a recovered one", "time.AfterFunc(1, func() {\n\tdefer func() { println(recover().(string)) }()\n\tpanic(\"mine\")\n})", "mine\n"},
		{"a context", "ctx, cancel := context.WithCancel(context.Background())\ncontext.AfterFunc(ctx, func() { panic(\"boom\") })\ncancel()", called + "boom\n    cell N, line 2, in func1\n"},
		{"a handler", "get(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n\tnone[\"x\"] = 1\n}))", called + "assignment to entry in nil map\n    cell N, line 2, in func1\n"},
		{"a method", "get(handler{})", called + "assignment to entry in nil map\n    cell 1, line 12, in handler.ServeHTTP\n"},
		{"a field", "l, _ := net.Listen(\"tcp\", \"127.0.0.1:0\")\nserver := http.Server{\n\tConnContext: func(c context.Context, _ net.Conn) context.Context { defer func() { _ = recover() }(); return c },\n" +
			"\tHandler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(\"boom\") })}\ngo server.Serve(l)\n_, _ = http.Get(\"http://\" + l.Addr().String())", called + "boom\n    cell N, line 4, in func2\n"},
		{"an assigned field", "cx, end := context.WithCancel(context.Background())\ncommand, called := exec.CommandContext(cx, \"cat\"), make(chan int)\nstdin, _ := command.StdinPipe()\n" +
			"command.Cancel = func() error {\n\tclose(called)\n\tpanic(\"boom\")\n}\n_ = command.Start()\nend()\n<-called\n_ = stdin.Close()\n_ = command.Wait()", called + "boom\n    cell N, line 6, in func1\n"},
		{"a wait group", "var wg sync.WaitGroup\nwg.Go(func() {\n\tnone[\"x\"] = 1\n})\nwg.Wait()", goroutine + "assignment to entry in nil map\n    cell N, line 3, in func1\n"},
		{"sort in a goroutine", "go sort.Slice([]int{1, 2}, func(i, j int) bool {\n\tpanic(\"boom\")\n})", goroutine + "boom\n    cell N, line 2, in func1.func2\n    cell N, line 1, in func1\n"},
	} {
		c.value(x.code + ";")
		want := strings.ReplaceAll(x.want, "N", strconv.Itoa(c.cell))
		if got := c.warned(want); got != want {
			t.Errorf("%s: stderr is %q, want %q", x.what, got, want)
		}
		if kept := c.value("kept"); kept != "state" {
			t.Errorf("%s: state is %q", x.what, kept)
		}
	}
}

// TestPanicsOfHandlers: a client sees of a panic in a handler what it sees in Go: the
// connection is closed. The functions that compiled code calls with an error as result
// return one, and a panic that compiled code recovers or passes on stays a panic.
func TestPanicsOfHandlers(t *testing.T) {
	c := start(t)
	c.value(`import ("context"; "fmt"; "io"; "iter"; "net"; "net/http"; "net/http/httptest"; "strings"; "time")
func fault() { var none map[string]int; none["x"] = 1 }
func get(h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	defer s.Close()
	r, err := http.Get(s.URL)
	if err != nil { return strings.ReplaceAll(err.Error(), s.URL, "URL") }
	b, err := io.ReadAll(r.Body)
	return fmt.Sprint(r.StatusCode, " ", string(b), " ", err)
}
type named struct{}
func (named) String() string { panic("in String") }`)
	c.err.take()
	const called = "panic in a function that compiled code called: "
	for _, x := range []struct{ what, code, value, reported string }{
		{"a fault", "get(func(http.ResponseWriter, *http.Request) { fault() })", `Get "URL": EOF`, called + "assignment to entry in nil map"},
		{"ErrAbortHandler", "get(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })", `Get "URL": EOF`, ""},
		{"after a flush", "get(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, \"begun\"); w.(http.Flusher).Flush(); panic(\"boom\") })", "200 begun unexpected EOF", called + "boom"},
		{"a handler with a limit", "get(http.TimeoutHandler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(\"boom\") }), time.Minute, \"late\").ServeHTTP)", `Get "URL": EOF`, called + "boom"},
		{"a handler that recovers", "get(func(w http.ResponseWriter, _ *http.Request) { defer func() { fmt.Fprint(w, recover()) }(); strings.Map(func(rune) rune { panic(\"mapped\") }, \"x\") })", "200 mapped <nil>", ""},
		{"fmt in a handler", "get(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, named{}) })", "200 %!v(PANIC=String method: in String) <nil>", ""},
		{"an error as result", "var t http.Transport\nt.DialContext = func(context.Context, string, string) (c net.Conn, err error) { fault(); return }\n_, err := (&http.Client{Transport: &t}).Get(\"http://localhost\")\nfmt.Sprint(err)",
			`Get "http://localhost": panic: assignment to entry in nil map at cell 1, line 2, in fault`, called + "assignment to entry in nil map"},
		{"a pulled sequence", "next, _ := iter.Pull(func(func(int) bool) { panic(\"pulled\") })\nfunc() (v any) { defer func() { v = recover() }(); next(); return }()", "pulled", ""},
	} {
		if got := c.value(x.code); got != x.value {
			t.Errorf("%s: the client gets %q, want %q", x.what, got, x.value)
		}
		if got := c.warnedUntil(func(got string) bool { return strings.HasPrefix(got, x.reported) }); x.reported == "" && got != "" {
			t.Errorf("%s: stderr is %q", x.what, got)
		}
	}
}

// warned waits for a limited time until standard error, of running and of ended cells,
// holds a text, and returns the content of standard error.
func (c *client) warned(text string) (got string) {
	c.t.Helper()
	return c.warnedUntil(func(got string) bool { return got == text })
}

// warnedUntil waits until enough reports true for standard error.
func (c *client) warnedUntil(enough func(got string) bool) (got string) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); !enough(got); {
		if time.Now().After(deadline) {
			c.t.Errorf("standard error after %v: %.2000q", patience, got)
			break
		}
		got += c.err.take()
		select {
		case e := <-c.shown:
			got += e.Text
		case <-time.After(time.Millisecond):
		}
	}
	return got
}

// TestDroppedErrors: a statement of a cell that drops an error prints one warning. A
// statement in a function drops it silently, as in Go, and an assigned error is not
// dropped.
func TestDroppedErrors(t *testing.T) {
	c := start(t)
	c.value("import (\"errors\"; \"fmt\"; \"os\"; \"strings\")\nfails := func() (int, error) { return 1, errors.New(\"first line\\nsecond\") }\n" +
		"func mixed() error { return errors.New(\"mixed up\") }\nvar b strings.Builder")
	const first = "warning: cell N, line 1 drops an error: first line; handle it, or assign it to _\n"
	for _, x := range []struct{ what, code, want string }{
		{"two results", "fails()\n1", first},
		{"one result", "\nmixed()\n1", "warning: cell N, line 2 drops an error: mixed up; handle it, or assign it to _\n"},
		{"compiled", "\n\nos.Remove(\"/no/such\")\n1", "warning: cell N, line 3 drops an error: remove /no/such: no such file or directory; handle it, or assign it to _\n"},
		{"a loop", "for range 3 { fails() }\n1", first},
		{"a label", "again: fails()\nif b.Len() > 99 { goto again }\n1", first},
		{"a header", "if fails(); b.Len() == 0 { fails() }\n1", first},
		{"hidden by a semicolon", "fails();", first},
		{"no error", "b.WriteString(\"x\")\nfmt.Println()\n1", ""},
		{"assigned", "_, _ = fails()\n_ = mixed()\n1", ""},
		{"in a function", "func() { fails() }()\n1", ""},
		{"not a call", "errs := make(chan error, 1)\nerrs <- mixed()\n<-errs\n1", ""},
		{"deferred", "defer mixed()\n1", ""},
	} {
		got := c.value(x.code)
		if want := "1"; got != want && !strings.HasSuffix(x.code, ";") {
			t.Errorf("%s: the cell shows %q, want %q", x.what, got, want)
		}
		if got, want := c.err.take(), strings.ReplaceAll(x.want, "N", strconv.Itoa(c.cell)); got != want {
			t.Errorf("%s: stderr is %q, want %q", x.what, got, want)
		}
	}
	if e := c.run("mixed()\nfails()"); e.Error == nil || e.Error.Value != "first line" {
		t.Errorf("the last expression fails with %v", e.Error)
	}
}

// TestPanicAfterSort: the traceback of a panic after a sort names no call of the goroutine
// that uses the memory of that sort again.
func TestPanicAfterSort(t *testing.T) {
	c := start(t)
	c.value(`import "sort"
entered, left := make(chan int), make(chan int)
func order(wait bool) {
	sort.Slice([]int{2, 1}, func(i, j int) bool {
		if wait {
			entered <- 1
			<-left
		}
		return false
	})
	if !wait {
		go order(true)
		<-entered
		panic("boom")
	}
}`)
	for range 5 { // the memory depends on the processor of the goroutine
		e := c.run("order(false)")
		want := "panic: boom\ncell 1, line 14, in order\n    panic(\"boom\")\ncell " + strconv.Itoa(c.cell) + ", line 1\n    order(false)"
		if e.Error == nil || strings.Join(e.Error.Traceback, "\n") != want {
			t.Errorf("the answer is %+v, expected the traceback %q", e, want)
		}
	}
}
