package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/jupyter/jupytertest"
	"warpbook/kernel/zmtp"
)

// While a cell runs, control answers, and so does kernel_info on shell.
func TestAnswersDuringACell(t *testing.T) {
	k := start(t)
	c := k.connect()
	c.send("shell", "execute_request", cell("block"))
	<-k.cells.running
	for _, q := range [][2]string{
		{"control", "kernel_info_request"}, {"shell", "kernel_info_request"}, {"control", "connect_request"},
	} {
		id := c.send(q[0], q[1], `{}`)
		if got := c.reply(q[0], id); !strings.Contains(got, `"status":"ok"`) {
			t.Errorf("%v: %s", q, got)
		}
	}
	k.cells.Interrupt()
}

func TestConnectAnswersPorts(t *testing.T) {
	k := start(t)
	c := k.connect()
	at := k.connection
	want := fmt.Sprintf(`connect_reply {"control_port":%d,"hb_port":%d,"iopub_port":%d,"shell_port":%d,"status":"ok","stdin_port":%d}`,
		at.Control, at.Heartbeat, at.IOPub, at.Shell, at.Stdin)
	if got := c.reply("shell", c.send("shell", "connect_request", `{}`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHeartbeat(t *testing.T) {
	k := start(t)
	k.connect()
	req := zmq4.NewReq(context.Background())
	defer req.Close()
	if err := req.Dial(fmt.Sprintf("tcp://%s:%d", k.connection.IP, k.connection.Heartbeat)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := req.Send(zmq4.NewMsgString("ping")); err != nil {
			t.Fatal(err)
		}
		if msg, err := req.Recv(); err != nil || string(msg.Frames[0]) != "ping" {
			t.Errorf("got %v, %v", msg, err)
		}
	}
}

// All clients see the output of one client's cell, and only that client gets the reply.
func TestTwoClients(t *testing.T) {
	k := start(t)
	one, two := k.connect(), k.connect()
	id := one.send("shell", "execute_request", cell("print a"))
	one.reply("shell", id)
	want := []string{busy, inputOf("print a", 1), `stream {"name":"stdout","text":"a"}`, idle}
	equal(t, "one", one.published(id), want)
	equal(t, "two", two.published(id), want)
	if len(two.inbox["shell"]) > 0 {
		t.Errorf("two received %s", line(two.next("shell")))
	}
}

// Clients of one KernelManager have one session and one identity: each gets its replies.
func TestClientsOfOneSession(t *testing.T) {
	k := start(t)
	one := k.connect()
	two := k.connectBeside(one)
	for _, c := range []*client{one, two, one} {
		for _, channel := range []string{"shell", "control"} {
			id := c.send(channel, "kernel_info_request", `{}`)
			if got := c.reply(channel, id); got != info {
				t.Errorf("%s: %s", channel, got)
			}
		}
	}
}

// Output that arrives after its cell's end belongs to the last cell of its shell, while
// that runs and after.
func TestLateOutputGoesToTheLastCell(t *testing.T) {
	k := start(t)
	c := k.connect()
	late := func(number int, want string) {
		t.Helper()
		k.Late(number, cellproto.Event{Type: cellproto.Stream, Name: "stdout", Text: "late"})
		m := c.next("iopub")
		if line(m) != `stream {"name":"stdout","text":"late"}` || parentOf(m) != want {
			t.Errorf("cell %d: got %s with parent %s, want the parent %s", number, line(m), parentOf(m), want)
		}
	}
	c.published(c.send("shell", "execute_request", cell("print a")))
	c.published(c.send("shell", "execute_request", `{"code":"print b","store_history":false}`))
	sub := c.newSubshell()
	other := c.sendTo(sub, "execute_request", cell("print c"))
	c.published(other)
	running := k.block(c, "")
	late(0, running)
	late(1, running)
	late(cellproto.CellNumber(1, 1), other)
	k.cells.end("interrupted")
	c.published(running)
	c.published(c.send("shell", "execute_request", `{"code":"print d","silent":true}`))
	late(1, running)
	last := c.send("shell", "execute_request", `{"code":"print e","store_history":false}`)
	c.published(last)
	late(1, last)
}

func TestHeaders(t *testing.T) {
	c := start(t).connect()
	header, frames := c.request("execute_request", cell("print a"))
	c.transmit("shell", frames)
	reply := c.next("shell")
	ids := map[string]bool{}
	for m := reply; ; m = c.next("iopub") {
		h := m.Header
		if h.Session == header.Session || h.Session != reply.Header.Session || h.Version != jupyter.Version || ids[h.ID] {
			t.Errorf("%s: header %+v", line(m), h)
		}
		if d := time.Since(h.Time()); d < 0 || d > time.Minute || !strings.HasSuffix(h.Date, "Z") || !strings.Contains(h.Date, ".") {
			t.Errorf("%s: date %s", line(m), h.Date)
		}
		if !bytes.Equal(m.Parent, frames[2]) {
			t.Errorf("%s: parent %s, want %s", line(m), m.Parent, frames[2])
		}
		if topic := m.Identities; m.Header.ID != reply.Header.ID && (len(topic) != 1 || !strings.HasSuffix(string(topic[0]), "."+h.Type)) {
			t.Errorf("%s: topic %q", line(m), topic)
		}
		ids[h.ID] = true
		if line(m) == idle {
			break
		}
	}
}

func TestShutdown(t *testing.T) {
	for _, channel := range []string{"control", "shell"} {
		for _, restart := range []string{"true", "false"} {
			k := start(t)
			c := k.connect()
			id := c.send(channel, "shutdown_request", `{"restart":`+restart+`}`)
			want := `shutdown_reply {"restart":` + restart + `,"status":"ok"}`
			if got := c.reply(channel, id); got != want {
				t.Errorf("%s: got %s, want %s", channel, got, want)
			}
			equal(t, "iopub", c.published(id), []string{busy, idle})
			<-k.stopped()
		}
	}
}

// At shutdown a running cell is killed and its client gets an answer before the kernel
// ends.
func TestShutdownDuringACell(t *testing.T) {
	k := start(t)
	c := k.connect()
	cellID := c.send("shell", "execute_request", cell("block"))
	<-k.cells.running
	id := c.send("control", "shutdown_request", `{"restart":false}`)
	c.reply("control", id)
	want := failed("killed", "while blocked", `["line 1"]`, 1)
	if got := c.reply("shell", cellID); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	<-k.stopped()
}

// The kernel asks the cells program to end before it kills it, so that the program can
// remove its files.
func TestShutdownClosesTheCells(t *testing.T) {
	k := start(t)
	c := k.connect()
	cellID := c.send("shell", "execute_request", cell("block"))
	<-k.cells.running
	c.send("control", "shutdown_request", `{"restart":false}`)
	c.reply("shell", cellID)
	<-k.stopped()
	if got := k.cells.ending(); got != "Close" {
		t.Errorf("the server called %s, want Close", got)
	}
}

// Output that arrives before the sockets listen has no subscriber and is dropped.
func TestOutputBeforeListening(t *testing.T) {
	at := jupytertest.Connection(t)
	server, err := New(at, forgetful(t), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	late := func() { server.Late(0, cellproto.Event{Type: cellproto.Stream, Name: "stdout", Text: "early"}) }
	late()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	done := make(chan struct{})
	go func() { // while Run opens the sockets, which the race detector watches
		defer close(done)
		for ctx.Err() == nil {
			late()
		}
	}()
	if err := server.Run(ctx, newFakeCells()); err != nil {
		t.Error(err)
	}
	<-done
}

// Without a key, anyone who reaches the ports could run code.
func TestEmptyKeyWarns(t *testing.T) {
	for _, test := range []struct {
		change func(*jupyter.Connection)
		want   bool
	}{
		{func(c *jupyter.Connection) {}, false},
		{func(c *jupyter.Connection) { c.Secret = "" }, true},
		{func(c *jupyter.Connection) { c.Secret, c.Transport, c.IP = "", "ipc", filepath.Join(t.TempDir(), "k") }, false},
	} {
		at := jupytertest.Connection(t)
		test.change(&at)
		var log bytes.Buffer
		if _, err := New(at, forgetful(t), slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "empty key"); got != test.want {
			t.Errorf("%s, key %q: logged %q", at.Transport, at.Secret, log.String())
		}
	}
}

// A client may send ten thousand cells before it reads the first reply.
func TestManyCellsAtOnce(t *testing.T) {
	const count = 10_000
	c := start(t).connect()
	go func() {
		for range count {
			_, frames := c.request("execute_request", cell("value 1"))
			if err := c.sockets["shell"].SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
				t.Error(err)
			}
		}
	}()
	idles := 0
	for got := 0; got < count || idles < count; {
		select {
		case m := <-c.inbox["shell"]:
			got++
			if want := ok(got); line(m) != want {
				t.Fatalf("reply %d: %s, want %s", got, line(m), want)
			}
		case m := <-c.inbox["iopub"]:
			if line(m) == idle {
				idles++
			}
		case <-time.After(patience):
			t.Fatalf("%d replies and %d idles of %d", got, idles, count)
		}
	}
}

// Whatever arrives on any channel, the kernel survives and logs nothing above debug
// level.
func TestHostileFrames(t *testing.T) {
	k := start(t)
	c := k.connect()
	_, good := c.request("execute_request", cell("print never"))
	change := func(i int, to string) [][]byte {
		frames := append([][]byte{}, good...)
		frames[i] = []byte(to)
		return frames
	}
	hostile := [][][]byte{
		{{}}, {[]byte("hello")}, good[1:], good[:3], change(0, "<IDS|MSG"), change(1, ""), change(1, "00"),
		change(2, "{"), change(5, `{"code":"print other"}`), {delimiterFrame, {}, {}, {}, {}, {}},
		c.encode(jupyter.Message{Header: jupyter.Header{}, Content: []byte(`{}`)}),
		c.encode(jupyter.Message{Header: jupyter.NewHeader("s", "execute_request"), Content: []byte(`[]`)}),
		c.encode(jupyter.Message{Header: jupyter.NewHeader("s", "execute_request"), Content: []byte(`{"code":`)}),
		c.encode(jupyter.Message{Header: jupyter.NewHeader("s", "x"), Content: []byte(strings.Repeat(`{"a":`, 20000))}),
		make([][]byte, 100),
	}
	for _, channel := range []string{"shell", "control", "stdin"} {
		for _, frames := range hostile {
			c.transmit(channel, frames)
		}
	}
	c.transmit("iopub", [][]byte{{2, 3}, {4}})
	c.transmit("shell", good)
	c.transmit("shell", good) // replayed
	got := c.next("shell")
	if line(got) != ok(1) {
		t.Errorf("got %s", line(got))
	}
	c.published(parentOf(got))
	if reply, _ := c.execute("print a"); reply != ok(2) {
		t.Errorf("got %s, want %s", reply, ok(2))
	}
	k.stop("the test ends")
	<-k.stopped()
	if log := k.log.String(); strings.Count(log, "level=INFO") != 1 || // the end
		strings.Contains(log, "level=WARN") ||
		strings.Contains(log, "level=ERROR") || !strings.Contains(log, "bad signature") {
		t.Errorf("log:\n%s", log)
	}
}

var delimiterFrame = []byte("<IDS|MSG>")

func TestBuffersAreTolerated(t *testing.T) {
	c := start(t).connect()
	m := jupyter.Message{Header: jupyter.NewHeader(c.session, "comm_info_request"), Content: []byte(`{}`), Buffers: [][]byte{{1}, {}}}
	c.transmit("shell", c.encode(m))
	if got := c.reply("shell", m.Header.ID); got != `comm_info_reply {"comms":{},"status":"ok"}` {
		t.Errorf("got %s", got)
	}
}

func TestLargeCell(t *testing.T) {
	c := start(t).connect()
	text := strings.Repeat("x", 20<<20)
	id := c.send("shell", "execute_request", cell("print "+text))
	if got := c.reply("shell", id); got != ok(1) {
		t.Errorf("got %s", got)
	}
	if got := c.published(id); len(got) != 4 || len(got[2]) < len(text) {
		t.Errorf("%d messages", len(got))
	}
}

func TestPortInUse(t *testing.T) {
	at := jupytertest.Connection(t)
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", at.IP, at.Control))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, change := range map[string]func(*jupyter.Connection){
		"address already in use": func(*jupyter.Connection) {},
		"requested address":      func(c *jupyter.Connection) { c.IP = "192.0.2.1" },
	} {
		c := at
		change(&c)
		server, err := New(c, forgetful(t), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		err = server.Run(context.Background(), newFakeCells())
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q in one line", err, name)
		}
	}
}

func TestUnixSockets(t *testing.T) {
	at := jupytertest.Connection(t)
	at.Transport, at.IP = "ipc", filepath.Join(t.TempDir(), "k")
	server, err := New(at, forgetful(t), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- server.Run(context.Background(), newFakeCells()) }()
	k := &client{t: t, key: server.key}
	dealer := zmq4.NewDealer(context.Background(), zmq4.WithDialerRetry(time.Millisecond*10), zmq4.WithDialerMaxRetries(-1))
	defer dealer.Close()
	if err := dealer.Dial(fmt.Sprintf("ipc://%s-%d", at.IP, at.Control)); err != nil {
		t.Fatal(err)
	}
	_, frames := k.request("shutdown_request", `{}`)
	if err := dealer.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		t.Fatal(err)
	}
	if _, err := dealer.Recv(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(at.IP)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestListensOnTheGivenAddressOnly(t *testing.T) {
	k := start(t)
	k.connect()
	at := k.connection
	for port, socket := range map[int]*zmtp.Socket{
		at.Shell: k.shell, at.IOPub: k.iopub, at.Stdin: k.stdin, at.Control: k.control, at.Heartbeat: k.heartbeat,
	} {
		if got, want := socket.Addr().String(), fmt.Sprintf("%s:%d", at.IP, port); got != want {
			t.Errorf("listens on %s, expected %s", got, want)
		}
	}
}

// With an empty key nothing is signed and everything is accepted.
func TestEmptyKey(t *testing.T) {
	k := startAt(t, func(at *jupyter.Connection) { at.Secret, at.Scheme = "", "" }, forgetful(t))
	c := k.connect()
	reply, published := c.execute("print a")
	if reply != ok(1) {
		t.Errorf("got %s", reply)
	}
	equal(t, "iopub", published, []string{busy, inputOf("print a", 1), `stream {"name":"stdout","text":"a"}`, idle})
}
