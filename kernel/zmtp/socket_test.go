package zmtp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// promptly is the longest wait for an answer, in the best of several tries. It is less
// than handshakeTime, for which a silent peer could delay others.
const promptly = 3 * time.Second

// best calls f until it takes at most promptly, at most 5 times, and returns the least
// time: a busy machine makes some calls longer, a defect makes all.
func best(f func()) time.Duration {
	least := time.Hour
	for try := 0; try < 5 && least > promptly; try++ {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}

// echo listens on a socket that answers each peer with what it sent.
func echo(t *testing.T) *Socket {
	t.Helper()
	s, err := Listen("tcp", "127.0.0.1:0", Config{
		Type:    zmq4.Router,
		Receive: func(p *Peer, frames [][]byte) bool { p.Send(frames); return true },
		Logf:    t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(0) })
	return s
}

func dialer(t *testing.T, s *Socket, options ...zmq4.Option) zmq4.Socket {
	t.Helper()
	d := zmq4.NewDealer(context.Background(), options...)
	t.Cleanup(func() { d.Close() })
	if err := d.Dial("tcp://" + s.Addr().String()); err != nil {
		t.Fatal(err)
	}
	return d
}

// answered fails unless a fresh peer is served promptly.
func answered(t *testing.T, s *Socket) {
	t.Helper()
	took := best(func() {
		d := dialer(t, s)
		if err := d.SendMulti(zmq4.NewMsgFromString([]string{"a", "", "c"})); err != nil {
			t.Fatal(err)
		}
		msg, err := d.Recv()
		if err != nil || len(msg.Frames) != 3 || string(msg.Frames[2]) != "c" {
			t.Fatalf("answer %v, error %v", msg, err)
		}
	})
	if took > promptly {
		t.Errorf("answered after %v", took)
	}
}

func TestEcho(t *testing.T) { answered(t, echo(t)) }

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s-1")
	s, err := Listen("unix", path, Config{
		Type: zmq4.Rep, Receive: func(p *Peer, frames [][]byte) bool { p.Send(frames); return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(0)
	req := zmq4.NewReq(context.Background())
	defer req.Close()
	if err := req.Dial("ipc://" + path); err != nil {
		t.Fatal(err)
	}
	if err := req.Send(zmq4.NewMsgString("ping")); err != nil {
		t.Fatal(err)
	}
	if msg, err := req.Recv(); err != nil || string(msg.Frames[0]) != "ping" {
		t.Errorf("answer %v, error %v", msg, err)
	}
}

func TestListenOnUsedPort(t *testing.T) {
	s := echo(t)
	_, err := Listen("tcp", s.Addr().String(), Config{Type: zmq4.Router})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("got %v", err)
	}
}

func TestSendByIdentity(t *testing.T) {
	s := echo(t)
	one := dialer(t, s, zmq4.WithID(zmq4.SocketIdentity("one")))
	two := dialer(t, s, zmq4.WithID(zmq4.SocketIdentity("two")))
	for _, d := range []zmq4.Socket{one, two} { // known once they are answered
		d.Send(zmq4.NewMsgString("hello"))
		d.Recv()
	}
	if s.Send("nobody", [][]byte{[]byte("lost")}) {
		t.Error("sent to nobody")
	}
	if !s.Send("one", [][]byte{[]byte("1")}) || !s.Send("two", [][]byte{[]byte("2")}) {
		t.Error("not sent")
	}
	for d, want := range map[zmq4.Socket]string{one: "1", two: "2"} {
		if msg, err := d.Recv(); err != nil || string(msg.Frames[0]) != want {
			t.Errorf("got %v, %v, want %s", msg, err, want)
		}
	}
}

// A client that reconnects with its identity gets the replies to its earlier
// requests.
func TestSendAfterReconnect(t *testing.T) {
	s := echo(t)
	id := zmq4.WithID(zmq4.SocketIdentity("one"))
	hello := func() zmq4.Socket {
		d := dialer(t, s, id)
		d.Send(zmq4.NewMsgString("hello"))
		d.Recv()
		return d
	}
	hello().Close()
	again := hello()
	if !s.Send("one", [][]byte{[]byte("1")}) {
		t.Fatal("not sent")
	}
	if msg, err := again.Recv(); err != nil || string(msg.Frames[0]) != "1" {
		t.Errorf("got %v, %v, want 1", msg, err)
	}
}

func publisher(t *testing.T) *Socket {
	t.Helper()
	s, err := Listen("tcp", "127.0.0.1:0", Config{
		Type:      zmq4.XPub,
		Subscribe: func(p *Peer, topic string) { p.Send([][]byte{[]byte(topic), []byte("welcome")}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(0) })
	return s
}

func subscriber(t *testing.T, s *Socket, topic string) zmq4.Socket {
	t.Helper()
	sub := zmq4.NewSub(context.Background())
	t.Cleanup(func() { sub.Close() })
	if err := sub.Dial("tcp://" + s.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if err := sub.SetOption(zmq4.OptionSubscribe, topic); err != nil {
		t.Fatal(err)
	}
	if msg, err := sub.Recv(); err != nil || string(msg.Frames[1]) != "welcome" {
		t.Fatalf("first message %v, %v, want the welcome", msg, err)
	}
	return sub
}

func TestPublishReachesSubscribers(t *testing.T) {
	s := publisher(t)
	all, some := subscriber(t, s, ""), subscriber(t, s, "b")
	message := func(topic string) [][]byte { return [][]byte{[]byte(topic), []byte("body")} }
	s.Publish(message("a"))
	s.Publish(message("c"), message("b.1"), message("a"))
	for _, want := range []string{"a", "c", "b.1", "a"} {
		if msg, err := all.Recv(); err != nil || string(msg.Frames[0]) != want {
			t.Errorf("all: got %v, %v, want %s", msg, err, want)
		}
	}
	if msg, err := some.Recv(); err != nil || string(msg.Frames[0]) != "b.1" {
		t.Errorf("some: got %v, %v, want b.1", msg, err)
	}
}

func TestSubscriptionsAreCounted(t *testing.T) {
	topics := topics{budget: NewBudget(), count: map[string]int{}}
	for i, step := range []struct {
		begin, want bool
	}{{true, true}, {true, true}, {false, true}, {false, false}, {false, false}, {true, true}} {
		if step.begin {
			topics.add("t")
		} else {
			topics.remove("t")
		}
		if got := topics.match("topic"); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
}

func TestStalledSubscriberIsDisconnected(t *testing.T) {
	s := publisher(t)
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write(greeting())
	conn.Write(ready(property("Socket-Type", "SUB")))
	conn.Write(frame(0, "\x01")) // subscribes to everything, reads nothing
	reader := subscriber(t, s, "")
	for subscribers(s) != 2 {
		time.Sleep(time.Millisecond)
	}
	const count = 40
	body := make([]byte, 2<<20)
	for i := range count { // without a limit of its own: they would wait for the stalled one for ever
		s.Publish([][]byte{fmt.Appendf(nil, "%d", i), body})
		if msg, err := reader.Recv(); err != nil || string(msg.Frames[0]) != fmt.Sprint(i) {
			t.Fatalf("message %d: %v, %v", i, msg, err)
		}
	}
	for subscribers(s) != 1 { // the other one is disconnected, because its queue is full
		time.Sleep(time.Millisecond)
	}
}

func subscribers(s *Socket) (n int) {
	s.each(func(p *Peer) {
		if p.subscribes("") {
			n++
		}
	})
	return n
}

func TestCloseSendsTheQueue(t *testing.T) {
	s := publisher(t)
	sub := subscriber(t, s, "")
	const count = 1000
	for i := range count {
		s.Publish([][]byte{fmt.Appendf(nil, "%d", i)})
	}
	go s.Close(10 * time.Second)
	for i := range count {
		if msg, err := sub.Recv(); err != nil || string(msg.Frames[0]) != fmt.Sprint(i) {
			t.Fatalf("message %d: %v, %v", i, msg, err)
		}
	}
}

func TestCloseEndsEveryGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	least := time.Hour
	for try := 0; try < 5 && least > promptly; try++ {
		s := publisher(t)
		for _, data := range [][]byte{nil, greeting(), append(greeting(), ready(property("Socket-Type", "SUB"))...)} {
			conn, err := net.Dial("tcp", s.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.Write(data)
		}
		for s.Publish([][]byte{nil, make([]byte, 8<<20)}); peers(s) == 0; {
			time.Sleep(time.Millisecond)
		}
		start := time.Now()
		if err := s.Close(50 * time.Millisecond); err != nil {
			t.Error(err)
		}
		least = min(least, time.Since(start))
	}
	if least > promptly {
		t.Errorf("closed after %v", least)
	}
	for deadline := time.Now().Add(floodTime); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func peers(s *Socket) (n int) {
	s.each(func(*Peer) { n++ })
	return n
}

// When a peer does not take a message at once, its write goroutine continues in the
// middle of the message. Each sender's messages stay whole and in order.
func TestSlowPeerGetsAllInOrder(t *testing.T) {
	const senders, messages = 4, 4000
	s := echo(t)
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	conn.Write(append(greeting(), ready(property("Socket-Type", "DEALER")+property("Identity", "slow"))...))
	conn.Write(frame(0, "hello"))
	io.CopyN(io.Discard, in, greetingBytes)
	for got := []byte{}; !bytes.HasSuffix(got, frame(0, "hello")); { // READY, and the answer
		b, err := in.ReadByte()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, b)
	}
	filler := bytes.Repeat([]byte("x"), 3000) // 48 MB in all, more than sockets take
	var sending sync.WaitGroup
	for n := range senders {
		sending.Go(func() {
			for i := range messages {
				s.Send("slow", [][]byte{fmt.Appendf(nil, "%d %d", n, i), filler})
			}
		})
	}
	sending.Wait()
	conn.SetDeadline(time.Now().Add(floodTime))
	var next [senders]int
	tail := append(long(0, uint64(len(filler))), filler...)
	for range senders * messages {
		head := make([]byte, 2)
		io.ReadFull(in, head)
		body := make([]byte, int(head[1])+len(tail))
		if _, err := io.ReadFull(in, body); err != nil {
			t.Fatal(err)
		}
		var n, i int
		if _, err := fmt.Sscan(string(body[:head[1]]), &n, &i); err != nil || i != next[n] || !bytes.Equal(body[head[1]:], tail) {
			t.Fatalf("got %q, %v, want one of %v", body[:head[1]], err, next)
		}
		next[n]++
	}
}
