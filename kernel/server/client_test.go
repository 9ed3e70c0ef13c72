package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/google/uuid"

	"warpbook/kernel/history"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/jupyter/jupytertest"
	"warpbook/kernel/zmtp"
)

// patience is how long a test waits for an expected message. With the race detector a
// cell of 20 MB takes 6 s.
const patience = 60 * time.Second

// kernel is a server that runs for one test.
type kernel struct {
	*Server
	t     testing.TB
	cells *fakeCells
	done  chan error // what Run returned
	log   *bytes.Buffer
}

// start runs a kernel on free ports with fake cells.
func start(t testing.TB) *kernel {
	t.Helper()
	return startAt(t, func(*jupyter.Connection) {}, forgetful(t))
}

// forgetful is a history in memory.
func forgetful(t testing.TB) *history.History {
	t.Helper()
	h, err := history.Open("")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func startAt(t testing.TB, change func(*jupyter.Connection), past *history.History) *kernel {
	t.Helper()
	at := jupytertest.Connection(t)
	change(&at)
	k := &kernel{t: t, cells: newFakeCells(), done: make(chan error, 1), log: &bytes.Buffer{}}
	server, err := New(at, past, slog.New(slog.NewTextHandler(k.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	k.Server = server
	ctx, cancel := context.WithCancel(context.Background())
	go func() { k.done <- server.Run(ctx, k.cells) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-k.stopped():
		case <-time.After(patience):
			t.Error("the kernel did not stop")
		}
	})
	return k
}

// stopped is closed once Run has returned.
func (k *kernel) stopped() <-chan struct{} {
	stopped := make(chan struct{})
	go func() {
		err := <-k.done
		k.done <- err
		close(stopped)
	}()
	return stopped
}

// client is one client of a kernel.
type client struct {
	t       testing.TB
	key     *jupyter.Key
	session string
	sockets map[string]zmq4.Socket
	inbox   map[string]chan jupyter.Message
}

// connect makes a client that has received its iopub_welcome.
func (k *kernel) connect() *client {
	k.t.Helper()
	return k.connectBeside(&client{session: uuid.NewString()})
}

// connectBeside connects a client of the session of another, which may be connected.
func (k *kernel) connectBeside(other *client) *client {
	k.t.Helper()
	key, err := jupyter.NewKey(k.connection.Scheme, k.connection.Secret)
	if err != nil {
		k.t.Fatal(err)
	}
	c := &client{
		t: k.t, key: key, session: other.session,
		sockets: map[string]zmq4.Socket{}, inbox: map[string]chan jupyter.Message{},
	}
	id := zmq4.WithID(zmq4.SocketIdentity(c.session))
	patient := zmq4.WithDialerRetry(10 * time.Millisecond)
	for name, port := range map[string]int{
		"shell": k.connection.Shell, "control": k.connection.Control,
		"stdin": k.connection.Stdin, "iopub": k.connection.IOPub,
	} {
		socket := zmq4.NewDealer(context.Background(), id, patient, zmq4.WithDialerMaxRetries(-1))
		if name == "iopub" {
			socket = zmq4.NewSub(context.Background(), patient, zmq4.WithDialerMaxRetries(-1))
		}
		k.t.Cleanup(func() { socket.Close() })
		if err := socket.Dial(fmt.Sprintf("tcp://%s:%d", k.connection.IP, port)); err != nil {
			k.t.Fatal(err)
		}
		c.sockets[name] = socket
		inbox := make(chan jupyter.Message, 1000)
		c.inbox[name] = inbox
		go c.receive(socket, inbox)
	}
	c.sockets["iopub"].SetOption(zmq4.OptionSubscribe, "")
	if got := c.next("iopub"); line(got) != `iopub_welcome {"subscription":""}` {
		k.t.Fatalf("first on iopub: %s", line(got))
	}
	for _, name := range []string{"shell", "control", "stdin"} {
		socket := map[string]*zmtp.Socket{"shell": k.shell, "control": k.control, "stdin": k.stdin}[name]
		// Probes go to the newest peer of the session: to the other client until the server
		// knows this one. Each of them arrives somewhere.
		for known, sent := false, 0; !known || sent > 0; {
			if !known && socket.Send(c.session, c.encode(jupyter.Message{Header: jupyter.NewHeader("", "probe")})) {
				sent++
			}
			select {
			case <-c.inbox[name]:
				known, sent = true, sent-1
			case <-other.inbox[name]: // nil if it is not connected
				sent--
			case <-time.After(time.Millisecond):
			}
		}
	}
	return c
}

func (c *client) receive(socket zmq4.Socket, inbox chan<- jupyter.Message) {
	for {
		msg, err := socket.Recv()
		if err != nil {
			return
		}
		m, err := c.key.Decode(msg.Frames)
		if err != nil {
			c.t.Errorf("%v in %v", err, msg)
			continue
		}
		inbox <- m
	}
}

// request makes a signed request of a type with a content, and its frames.
func (c *client) request(msgType, content string) (jupyter.Header, [][]byte) {
	header := jupyter.NewHeader(c.session, msgType)
	return header, c.encode(jupyter.Message{Header: header, Content: json.RawMessage(content)})
}

func (c *client) encode(m jupyter.Message) [][]byte {
	frames, err := c.key.Encode(m)
	if err != nil {
		c.t.Fatal(err)
	}
	return frames
}

func (c *client) transmit(channel string, frames [][]byte) {
	if err := c.sockets[channel].SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		c.t.Fatal(err)
	}
}

// send sends a request and returns its msg_id.
func (c *client) send(channel, msgType, content string) string {
	header, frames := c.request(msgType, content)
	c.transmit(channel, frames)
	return header.ID
}

func (c *client) next(channel string) jupyter.Message {
	c.t.Helper()
	select {
	case m := <-c.inbox[channel]:
		return m
	case <-time.After(patience):
		c.t.Fatalf("nothing on %s", channel)
		return jupyter.Message{}
	}
}

// reply returns the next message on a channel, which must answer the request.
func (c *client) reply(channel, id string) string {
	c.t.Helper()
	m := c.next(channel)
	if parentOf(m) != id {
		c.t.Errorf("%s: %s has the parent %q, want %q", channel, line(m), parentOf(m), id)
	}
	return line(m)
}

// published collects the messages on iopub for a request, until idle.
func (c *client) published(id string) (lines []string) {
	c.t.Helper()
	for {
		m := c.next("iopub")
		if parentOf(m) != id {
			c.t.Errorf("iopub: %s has the parent %q, want %q", line(m), parentOf(m), id)
		}
		if got := line(m); got != idle {
			lines = append(lines, got)
			continue
		}
		return append(lines, idle)
	}
}

// execute sends a cell and returns its reply and its messages on iopub.
func (c *client) execute(code string) (reply string, published []string) {
	c.t.Helper()
	id := c.send("shell", "execute_request", cell(code))
	return c.reply("shell", id), c.published(id)
}

func cell(code string) string {
	return fmt.Sprintf(`{"code":%q,"silent":false,"store_history":true,"user_expressions":{},"allow_stdin":true,"stop_on_error":true}`, code)
}

func parentOf(m jupyter.Message) string {
	var h jupyter.Header
	json.Unmarshal(m.Parent, &h)
	return h.ID
}

const (
	busy = `status {"execution_state":"busy"}`
	idle = `status {"execution_state":"idle"}`
)

// line formats a message as one line: its type and its content; for a reply, with the
// names in order.
func line(m jupyter.Message) string {
	content := m.Content
	if fields := map[string]json.RawMessage{}; strings.HasSuffix(m.Header.Type, "_reply") && json.Unmarshal(content, &fields) == nil {
		content = marshal(fields)
	}
	return m.Header.Type + " " + string(content)
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if a, b := strings.Join(got, "\n\t"), strings.Join(want, "\n\t"); a != b {
		t.Errorf("%s:\n\t%s\nwant\n\t%s", what, a, b)
	}
}
