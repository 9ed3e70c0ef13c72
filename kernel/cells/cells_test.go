package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// interrupt lets the running cell run for a while and interrupts it.
func (c *client) interrupt(running chan cellproto.Event) cellproto.Event {
	c.t.Helper()
	select {
	case e := <-running:
		c.t.Fatalf("the cell ended before the interrupt: %+v, %v", e, e.Error)
	case <-time.After(150 * time.Millisecond):
	}
	c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
	return c.wait(running)
}

func TestInterrupt(t *testing.T) {
	for name, code := range map[string]string{
		"loop":            "for { n++ }",
		"loop in a call":  "func spin() { for { n++ } }\nspin()",
		"goto":            "func spin() {\nagain:\n n++\n goto again\n}\nspin()",
		"recursion":       "func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }\nfib(60)",
		"receive":         "<-make(chan int)",
		"receive ok":      "v, ok := <-make(chan int)\n_, _ = v, ok",
		"send":            "make(chan int) <- 1",
		"range":           "for range make(chan int) {}",
		"select":          "select { case <-make(chan int): case make(chan int) <- 1: }",
		"select, default": "again:\nfor { select { case <-make(chan int): break again; default: continue again } }",
		"empty select":    "select {}",
		"nil channel":     "var none chan int\n<-none",
		"sleep":           "import \"time\"\ntime.Sleep(time.Hour)",
		"goroutine":       "go func() { for { n++ } }()\nselect {}",
		"generic receive": "func first[T any](c chan T) T { return <-c }\nfirst(make(chan string))",
		"iterator":        "func forever(yield func(int) bool) { for yield(1) {} }\nfor range forever { n++ }",
		"lock":            "import \"sync\"\nvar mu sync.Mutex\nmu.Lock()\ndefer mu.Unlock()\nmu.Lock()",
		"read lock":       "import \"sync\"\ntype T struct{ sync.RWMutex }\nt := &T{}\nt.Lock()\nt.RLock()",
		"wait group":      "import \"sync\"\nvar wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()",
		"subprocess":      "import \"os/exec\"\nfailed := exec.Command(\"sleep\", \"100\").Run()",
		"callback":        "import \"slices\"\nslices.SortFunc([]int{1, 2, 3}, func(a, b int) int { for { n++ } })",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t)
			c.value("n, kept := 0, []string{\"state\"}")
			e := c.interrupt(c.startCell(code))
			if e.Error == nil || e.Error.Name != "interrupted" || e.Error.Value != "the cell was stopped, its variables are kept" {
				t.Fatalf("the answer is %+v, %v", e, e.Error)
			}
			if got := c.value("kept[0]"); got != "state" {
				t.Errorf("state is %q after the interrupt", got)
			}
			if got := c.value("for i := range 1000 { n = i }\nn"); got != "999" {
				t.Errorf("a loop counts to %q after the interrupt", got)
			}
			if s := c.err.take(); s != "" {
				t.Errorf("stderr %q", s)
			}
		})
	}
}

// TestInterruptEndsSorts: a sort whose function only compares, which is not called, ends at
// an interrupt and loses no element.
func TestInterruptEndsSorts(t *testing.T) {
	c := start(t)
	elements := 6_000_000
	if raceEnabled { // each takes ten times as long
		elements = 600_000
	}
	c.value(fmt.Sprintf(`import ("cmp"; "math/rand/v2"; "slices"; "sort")
type numbers []int
func (x numbers) Len() int           { return len(x) }
func (x numbers) Less(i, j int) bool { return x[i] < x[j] }
func (x numbers) Swap(i, j int)      { x[i], x[j] = x[j], x[i] }
xs := make(numbers, %d)
func sum() (s int) { for _, x := range xs { s += x }; return s }
before := 0`, elements))
	for _, code := range []string{
		"sort.Sort(xs)",
		"sort.Slice(xs, func(i, j int) bool { return xs[i] < xs[j] })",
		"slices.Sort(xs)",
		"slices.SortFunc(xs, func(a, b int) int { return cmp.Compare(b, a) })",
		"slices.SortStableFunc(xs, func(a, b int) int { return a - b })",
	} {
		c.value("for i := range xs { xs[i] = rand.IntN(1_000_000_000) }\nbefore = sum()")
		e := c.interrupt(c.startCell(code))
		if e.Error == nil || e.Error.Name != "interrupted" || e.Error.Value != "the cell was stopped, its variables are kept" {
			t.Errorf("%s: the answer is %+v, %v", code, e, e.Error)
		}
		if got := c.value("sum() == before"); got != "true" {
			t.Errorf("%s: elements are lost", code)
		}
	}
}

// TestInterruptedLockIsFree: a goroutine that is interrupted while it waits for a lock
// does not get the lock later.
func TestInterruptedLockIsFree(t *testing.T) {
	c := start(t)
	c.value("import \"sync\"\nvar mu sync.RWMutex\nmu.Lock()")
	c.interrupt(c.startCell("mu.Lock()"))
	c.interrupt(c.startCell("mu.RLock()"))
	if got := c.value("mu.Unlock()\nmu.Lock()\nmu.Unlock()\n1"); got != "1" {
		t.Errorf("afterwards: %s", got)
	}
}

// TestInterruptRunsDefers: a deferred call unlocks the cell's locks.
func TestInterruptRunsDefers(t *testing.T) {
	c := start(t)
	c.value(`import "sync"
var mu sync.Mutex
done := make(chan string, 1)
func work() {
	mu.Lock()
	defer func() {
		for i := 0; i < 3; i++ {}
		mu.Unlock()
		done <- "cleaned"
	}()
	for {}
}`)
	c.interrupt(c.begin("", "work()"))
	if got := c.value("mu.Lock()\n<-done"); got != "cleaned" {
		t.Errorf("deferred calls left %q", got)
	}
}

// TestAbandon: a cell in a compiled call that cannot be interrupted is abandoned.
func TestAbandon(t *testing.T) {
	c := start(t)
	c.value("import \"syscall\"\npipe := make([]int, 2)\n_ = syscall.Pipe(pipe)\nx := 1")
	e := c.interrupt(c.begin("x = 2\n", "syscall.Read(pipe[0], make([]byte, 1))"))
	if e.Error == nil || e.Error.Name != "interrupted" || !strings.HasPrefix(e.Error.Value, "the cell is blocked in a compiled call, was given up") {
		t.Fatalf("the answer is %+v, %v", e, e.Error)
	}
	if got := strings.Join(e.Error.Traceback[1:], "\n"); got != "cell 2, line 4\n    syscall.Read(pipe[0], make([]byte, 1))" {
		t.Errorf("the cell waits at %q", got)
	}
	if got := c.value("x"); got != "2" {
		t.Errorf("x is %s", got)
	}
}

// TestWaitsEnd: an interrupt ends the waits for conditions and for connections. The lock
// of a condition is held again, and the address of a listener is free.
func TestWaitsEnd(t *testing.T) {
	c := withWaits(t)
	c.value(`import ("bufio"; "compress/gzip"; "context"; "encoding/gob"; "encoding/json"; "fmt"; "io"; "log"; "net"; "net/http"; "net/http/httptest"; "net/rpc"; "os"; "os/exec"; "reflect"; "strings"; "sync"; "time")
_ = os.WriteFile("index.html", make([]byte, 1<<22), 0o600)
files := httptest.NewServer(http.FileServer(http.Dir(".")))
mu := &sync.Mutex{}
cond := sync.NewCond(mu)
l, err := net.Listen("tcp", "127.0.0.1:0")
address := l.Addr().String()
l.Close()
server := &http.Server{Addr: address}
listen := func() net.Listener { l, err := net.Listen("tcp", address); if err != nil { panic(err) }; return l }
func wait() { mu.Lock(); defer mu.Unlock(); for { cond.Wait() } }
func hold() { l := listen(); for { time.Sleep(time.Hour); l.Addr() } }`)
	const left = "if n, err := r.Read(packet); string(packet[:n]) != \"left\" { panic(err) }"
	const free, freePacket = "l = listen()\nl.Close()", "packets := listenPacket()\npackets.Close()"
	c.value(`listenPacket := func() net.PacketConn { p, err := net.ListenPacket("udp", address); if err != nil { panic(err) }; return p }
packet := make([]byte, 10)`)
	for _, x := range []struct{ what, code, after string }{
		{"a condition", "mu.Lock()\ncond.Wait()", "if mu.TryLock() { panic(\"the lock is not held\") }\nmu.Unlock()"},
		{"a condition and a deferred call", "wait()", "if !mu.TryLock() { panic(\"the lock is held\") }\nmu.Unlock()"},
		{"a condition in a goroutine", "go wait()\nwait()", "if !mu.TryLock() { panic(\"the lock is held\") }\nmu.Unlock()"},
		{"a lock through an interface", "var lock sync.Locker = mu\nlock.Lock()\nlock.Lock()", "mu.Unlock()"},
		{"a write to a pipe", "r, w := io.Pipe()\nw.Write([]byte(\"left\"))", left},
		{"a write by an interface", "r, w := io.Pipe()\nvar to io.Writer = struct{ io.Writer }{w}\nto.Write([]byte(\"left\"))", left},
		{"Fprint to a pipe", "r, w := io.Pipe()\nfmt.Fprint(w, \"left\")", left},
		{"WriteString to a pipe", "r, w := io.Pipe()\nio.WriteString(w, \"left\")", left},
		{"Copy to a pipe", "r, w := io.Pipe()\nio.Copy(w, strings.NewReader(\"left\"))", left},
		{"Encode to a pipe", "r, w := io.Pipe()\njson.NewEncoder(w).Encode(1)", "if n, err := r.Read(packet); n != 2 { panic(err) }"},
		{"Flush to a pipe", "r, w := io.Pipe()\nb := bufio.NewWriter(w)\nb.WriteString(\"left\")\nb.Flush()", left},
		{"Flush to a pipe, again", "r, w := io.Pipe()\nb := bufio.NewWriter(w)\nb.WriteString(\"left\")\nb.Flush()", "go func() { b.WriteString(\" over\"); b.Flush(); w.Close() }()\nif all, err := io.ReadAll(r); string(all) != \"left over\" { panic(fmt.Sprintf(\"%q, %v\", all, err)) }"},
		{"a loop after a request", "answer, _ := http.Get(files.URL)\nfor {}", "if all, err := io.ReadAll(answer.Body); len(all) != 1<<22 { panic(err) }"},
		{"Accept", "l = listen()\nconn, err := l.Accept()", free},
		{"Accept in a package", "waits.Accept(listen())", free},
		{"AcceptTCP", "listen().(*net.TCPListener).AcceptTCP()", free},
		{"ListenAndServe", "http.ListenAndServe(address, nil)", free},
		{"ListenAndServe in a goroutine", "go http.ListenAndServe(address, nil)\nselect {}", free},
		{"a server", "server.ListenAndServe()", free},
		{"a server again", "server.ListenAndServe()", free},
		{"Serve", "http.Serve(listen(), nil)", free},
		{"rpc", "rpc.Accept(listen())", free},
		{"a listener that no variable holds", "hold()", free},
		{"ReadFrom", "p := listenPacket()\n_, _, err = p.ReadFrom(packet)", freePacket},
		{"ReadFromUDP in a goroutine", "go listenPacket().(*net.UDPConn).ReadFromUDP(packet)\nselect {}", freePacket},
		{"ReadFrom of a connection with a peer", "p := listenPacket()\nback, _ := net.Dial(\"udp\", address)\n_, _, err = back.(*net.UDPConn).ReadFrom(packet)", "p.Close()\nback.Close()"},
		{"a read of net.Pipe", "one, other := net.Pipe()\none.Read(packet)", "go other.Write([]byte(\"left\"))\nif n, err := one.Read(packet); string(packet[:n]) != \"left\" { panic(err) }"},
		{"reads of two goroutines", "r, w := io.Pipe()\nbegun := make(chan int)\ngo func() { begun <- 1; r.Read(packet) }()\n<-begun\ntime.Sleep(20 * time.Millisecond)\nr.Read(make([]byte, 3))", "go func() { w.Write([]byte(\"left\")); w.Write([]byte(\"over\")); w.Close() }()\nif all, err := io.ReadAll(r); len(all) != 8 { panic(fmt.Sprintf(\"%q, %v\", all, err)) }"},
		{"a write to net.Pipe", "w, r := net.Pipe()\nw.Write([]byte(\"left\"))", left},
		{"a write to net.Pipe by Fprint", "w, r := net.Pipe()\nfmt.Fprint(w, \"left\")", left},
		{"a decoder of a pipe", "r, w := io.Pipe()\nvar number int\ngob.NewDecoder(r).Decode(&number)", "go gob.NewEncoder(w).Encode(1)\ngob.NewDecoder(r).Decode(&number)\nif number != 1 { panic(number) }"},
		{"compressed to a pipe", "r, w := io.Pipe()\nz := gzip.NewWriter(w)\nz.Write([]byte(\"x\"))\nz.Close()", "if n, err := r.Read(packet); n == 0 { panic(err) }"},
		{"several writers", "r, w := io.Pipe()\nio.MultiWriter(io.Discard, w).Write([]byte(\"left\"))", left},
		{"a logger of a pipe", "r, w := io.Pipe()\nlog.New(w, \"\", 0).Print(\"left\")", "if n, err := r.Read(packet); string(packet[:n]) != \"left\\n\" { panic(err) }"},
		{"a write to os.Pipe", "r, w, _ := os.Pipe()\nw.Write(make([]byte, 1<<20))", "r.Close()"},
		{"a file that reads into os.Pipe", "r, w, _ := os.Pipe()\nw.ReadFrom(strings.NewReader(strings.Repeat(\"x\", 1<<20)))", "r.Close()"},
		{"Get", "l = listen()\nhttp.Get(\"http://\" + address)", "l.Close()"},
		{"Do", "l = listen()\nq, _ := http.NewRequest(\"GET\", \"http://\" + address, nil)\nhttp.DefaultClient.Do(q)", "l.Close()"},
		{"a call by rpc", "l = listen()\nclient, _ := rpc.Dial(\"tcp\", address)\nclient.Call(\"a.b\", 1, nil)", "client.Close()\nl.Close()"},
		{"Select of reflect", "reflect.Select([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(make(chan int))}})", ""},
		{"Recv of reflect", "c := reflect.ValueOf(make(chan int))\nc.Recv()", "go c.Send(reflect.ValueOf(1))\nif x, ok := c.Recv(); !ok || x.Int() != 1 { panic(x) }"},
		{"Send of reflect", "c = reflect.ValueOf(make(chan int))\nc.Send(reflect.ValueOf(1))", "if x, ok := c.TryRecv(); ok { panic(x) }"},
		{"a lock of RLocker", "var rw sync.RWMutex\nrw.Lock()\nrw.RLocker().Lock()", "rw.Unlock()"},
		{"a command with a context", "exec.CommandContext(context.Background(), \"sleep\", \"1000\").Run()", ""},
		{"a command without New", "(&exec.Cmd{Path: \"/bin/sleep\", Args: []string{\"sleep\", \"1000\"}}).Run()", ""},
		{"a process", "process, _ := os.StartProcess(\"/bin/sleep\", []string{\"sleep\", \"1000\"}, &os.ProcAttr{})\nprocess.Wait()", ""},
		{"ReadMsgUDP", "listenPacket().(*net.UDPConn).ReadMsgUDP(packet, nil)", freePacket},
	} {
		e := c.interrupt(c.startCell(x.code))
		if e.Error == nil || e.Error.Value != "the cell was stopped, its variables are kept" {
			t.Errorf("%s: the answer is %+v, %v", x.what, e, e.Error)
			continue
		}
		if e := c.run(x.after + "\nkept"); e.Error != nil {
			t.Errorf("%s: afterwards %v", x.what, e.Error)
		}
	}
	if got := c.err.take(); got != "" {
		t.Errorf("stderr is %q", got)
	}
}

// TestGoroutinesWhileCellsRun: goroutines of one cell call methods, make
// types into interfaces and print while later cells define types.
func TestGoroutinesWhileCellsRun(t *testing.T) {
	c := start(t)
	c.value(`import ("fmt"; "sync/atomic"; "encoding/json")
type W struct{ N int }
func (w W) String() string { return fmt.Sprint(w.N) }
stop := make(chan bool)
var rounds atomic.Int64
for g := range 4 {
	go func() {
		for i := 0; ; i++ {
			select { case <-stop: return; default: }
			var s fmt.Stringer = W{i}
			m := map[W]string{{i}: s.String()}
			f := func() string { return m[W{i}] }
			b, err := json.Marshal([]any{W{i}, g})
			if f() != fmt.Sprint(i) || err != nil || len(b) == 0 { panic("wrong") }
			rounds.Add(1)
		}
	}()
}`)
	for i := range 40 {
		code := fmt.Sprintf("type Q%d struct{ a, b int }\nfunc (q Q%d) String() string { return fmt.Sprint(\"q\", q.a) }\nfmt.Sprint(Q%d{%d, 2}, []any{struct{ X%d int }{1}})", i, i, i, i, i)
		if got, want := c.value(code), fmt.Sprintf("q%d [{1}]", i); got != want {
			t.Fatalf("cell %d shows %q, want %q", i, got, want)
		}
	}
	before := c.value("rounds.Load()")
	if got := c.value("import \"time\"\nfor until := time.Now().Add(time.Minute); rounds.Load() <= " + before + " && time.Now().Before(until); {\n\ttime.Sleep(time.Millisecond)\n}\nclose(stop)\nrounds.Load() > " + before); got != "true" {
		t.Errorf("the goroutines stopped: %s", got)
	}
	if s := c.err.take(); s != "" {
		t.Errorf("stderr %q", s)
	}
}

// TestFaultyRequests: no faulty request ends the program.
func TestFaultyRequests(t *testing.T) {
	c := start(t)
	for _, r := range []cellproto.Request{
		{Type: "nonsense"},
		{Type: cellproto.Complete, Code: "x.", Cursor: 99},
		{Type: cellproto.Complete, Code: "x.", Cursor: -1},
		{Type: cellproto.Inspect, Code: "", Cursor: 5},
		{Type: cellproto.Execute, Code: "\x00"},
		{Type: cellproto.Execute, Code: "func ("},
		{Type: cellproto.Execute, Code: "__cell()"},
		{Type: cellproto.Execute, Code: "import \"\""},
		{Type: cellproto.Execute, Code: "import"},
		{Type: cellproto.Execute, Code: "L:"},
		{Type: cellproto.Execute, Code: "func (x T) M() {}"},
		{Type: cellproto.Execute, Code: "func (x int) M() {}"},
		{Type: cellproto.Execute, Code: "type T T"},
		{Type: cellproto.Execute, Code: "var x = x"},
		{Type: cellproto.Execute, Code: "return 1"},
		{Type: cellproto.Execute, Code: "break"},
		{Type: cellproto.Execute, Code: "x := nil"},
		{Type: cellproto.Execute, Code: strings.Repeat("(", 10000)},
	} {
		if e := c.wait(c.send(r)); r.Type == cellproto.Execute && e.Error == nil {
			t.Errorf("%.20q ended well", r.Code)
		}
	}
	if got := c.value("6 * 7"); got != "42" {
		t.Errorf("6 * 7 is %s", got)
	}
}

// TestSubprocessHasNoFrames: a subprocess that outlives its cell holds neither end of
// the request and event pipes.
func TestSubprocessHasNoFrames(t *testing.T) {
	c := start(t)
	got := c.value("import \"os/exec\"\nexec.Command(\"sh\", \"-c\", \"true >&4\").Run() == nil")
	if got != "false" {
		t.Errorf("a subprocess can write events: %s", got)
	}
}

// TestGoexit: a cell that ends its own goroutine is still answered.
func TestGoexit(t *testing.T) {
	c := start(t)
	if e := c.run("import \"runtime\"\nruntime.Goexit()"); e.Error == nil || !strings.Contains(e.Error.Value, "Goexit") {
		t.Errorf("the answer is %+v, %v", e, e.Error)
	}
	if got := c.value("1"); got != "1" {
		t.Errorf("1 is %s", got)
	}
}

// TestEarlyInterrupt: an interrupt sent directly after its cell is not lost, and an
// interrupt without a running cell does not end the next cell.
func TestEarlyInterrupt(t *testing.T) {
	c := start(t)
	for range 20 {
		running := c.startCell("for {}")
		c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
		if e := c.wait(running); e.Error == nil || e.Error.Name != "interrupted" {
			t.Fatalf("the answer is %+v, %v", e, e.Error)
		}
		c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
		if got := c.value("s := 0\nfor i := range 10000 { s += i }\ns"); got != "49995000" {
			t.Fatalf("s is %s", got)
		}
	}
}

// TestInterruptDisplay: a value whose method never ends can be interrupted.
func TestInterruptDisplay(t *testing.T) {
	c := start(t)
	c.value("type T struct{}\nfunc (T) String() string { for {} }")
	if e := c.interrupt(c.startCell("T{}")); e.Error == nil || e.Error.Name != "interrupted" {
		t.Fatalf("the answer is %+v, %v", e, e.Error)
	}
	if got := c.value("1"); got != "1" {
		t.Errorf("1 is %s", got)
	}
}
