package zmtp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// floodTime is how long a flooding peer may stay connected. Without a bound it
// stays for ever.
const floodTime = 2 * time.Minute

// warned collects the reasons for which a socket disconnected peers.
type warned struct {
	mu    sync.Mutex
	lines []string
}

func (w *warned) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *warned) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "\n")
}

// expect waits for a line with that text: a peer is logged after its memory is
// given back.
func (w *warned) expect(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(floodTime); !strings.Contains(w.all(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("logged %q, expected %q", w.all(), text)
		}
	}
}

// listen opens a socket with a budget and a log of its own.
func listen(t *testing.T, config Config) (*Socket, *Budget, *warned) {
	t.Helper()
	log := &warned{}
	config.Budget, config.Warnf = NewBudget(), log.add
	s, err := Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(0) })
	return s, config.Budget, log
}

// raw connects a peer of that type that reads nothing by itself.
func raw(t *testing.T, s *Socket, typ string, more ...string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.Write(append(greeting(), ready(property("Socket-Type", typ)+strings.Join(more, ""))...))
	return conn
}

// A peer that sends messages without a byte, or of one, or PINGs, and never reads
// the answers, is disconnected before they take memory; afterwards nothing is
// held for it.
func TestFloodsAreBounded(t *testing.T) {
	for name, unit := range map[string][]byte{
		"ping":    frame(flagCommand, "\x04PING\x00\x00"),
		"empty":   frame(0, ""),
		"byte":    frame(0, "x"),
		"frames":  append(bytes.Repeat(frame(flagMore, ""), messageFrames-1), frame(0, "")...),
		"refused": frame(0, "refuse"),
	} {
		t.Run(name, func(t *testing.T) {
			s, budget, log := listen(t, Config{Type: zmq4.Router, hasty: true, Receive: func(p *Peer, frames [][]byte) bool {
				if string(frames[0]) == "refuse" {
					return false
				}
				p.Send(frames)
				return true
			}})
			conn := raw(t, s, "DEALER")
			// The answers soon wait at the sender. With less, TCP itself sometimes stops for
			// minutes: acknowledgements beyond the shrunk window are dropped.
			conn.(*net.TCPConn).SetReadBuffer(256 << 10)
			conn.SetWriteDeadline(time.Now().Add(floodTime))
			many, peak := bytes.Repeat(unit, 1+(64<<10)/len(unit)), int64(0)
			for err := error(nil); err == nil; peak = max(peak, budget.Held()) {
				if _, err = conn.Write(many); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("still connected after %v", floodTime)
				}
			}
			if peak > 2*answerBytes {
				t.Errorf("%d bytes were held, expected at most %d", peak, 2*answerBytes)
			}
			nothingHeld(t, s, budget)
			log.expect(t, "disconnected")
		})
	}
}

func nothingHeld(t *testing.T, s *Socket, budget *Budget) {
	t.Helper()
	for deadline := time.Now().Add(floodTime); budget.Held() != 0 || peers(s) != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are held for %d peers", budget.Held(), peers(s))
		}
	}
}

// The subscriptions of a peer are bounded in number, length and all together.
func TestSubscriptionsAreBounded(t *testing.T) {
	subscribe := func(topic string) []byte {
		return append(long(0, uint64(len(topic)+1)), "\x01"+topic...)
	}
	for name, topic := range map[string]func(i int) string{
		"many":   func(i int) string { return fmt.Sprintf("topic %d", i) },
		"long":   func(int) string { return strings.Repeat("x", topicLength+1) },
		"longer": func(int) string { return strings.Repeat("x", 1<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			s, budget, log := listen(t, Config{Type: zmq4.XPub, hasty: true})
			conn := raw(t, s, "SUB")
			conn.SetWriteDeadline(time.Now().Add(floodTime))
			for i := range 1 << 20 {
				if _, err := conn.Write(subscribe(topic(i))); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("still connected after %d subscriptions", i)
				} else if err != nil {
					break
				}
				if i == 1<<20-1 {
					t.Errorf("still connected after %d subscriptions", i)
				}
			}
			nothingHeld(t, s, budget)
			log.expect(t, "disconnected")
		})
	}
	budget, one := NewBudget(), 0
	for i := range 100 {
		topics := topics{budget: budget, count: map[string]int{}}
		for range topicCount {
			one++
			if err := topics.add(fmt.Sprintf("%0200d", one)); err != nil {
				if i < 2 {
					t.Errorf("peer %d, subscription %d: %v", i, len(topics.count), err)
				}
				break
			}
		}
	}
	if budget.Held() > topicsBytes {
		t.Errorf("%d bytes of topics, expected at most %d", budget.Held(), topicsBytes)
	}
}

// A thousand subscriptions work, and a message is not compared with each of them.
func TestThousandSubscriptions(t *testing.T) {
	s := publisher(t)
	sub := subscriber(t, s, "0")
	for i := 1; i < 1000; i++ {
		sub.SetOption(zmq4.OptionSubscribe, fmt.Sprint(i))
		if msg, err := sub.Recv(); err != nil || string(msg.Frames[1]) != "welcome" {
			t.Fatalf("subscription %d: %v, %v", i, msg, err)
		}
	}
	s.Publish([][]byte{[]byte("no topic")}, [][]byte{[]byte("999.x")})
	if msg, err := sub.Recv(); err != nil || string(msg.Frames[0]) != "999.x" {
		t.Errorf("got %v, %v, want 999.x", msg, err)
	}
	// Other programs make a search longer, never shorter.
	found := func(n int) time.Duration {
		topics := topics{budget: NewBudget(), count: map[string]int{}}
		for i := range n {
			topics.add(fmt.Sprint(i))
		}
		least := time.Hour
		for range 1 << 8 {
			start := time.Now()
			for range 1 << 6 {
				topics.match("kernel.1234.status")
			}
			least = min(least, time.Since(start))
		}
		return least
	}
	if few, many := found(10), found(topicCount); many > 10*few { // as long; a look at each takes 400 times as long
		t.Errorf("a message is compared with %d topics in %v, with 10 in %v", topicCount, many, few)
	}
}

// Peers that have not proved that they have the key cannot have many large
// messages received at once; small ones are received meanwhile.
func TestLargeMessagesOfStrangers(t *testing.T) {
	s, budget, log := listen(t, Config{Type: zmq4.Router, Receive: func(p *Peer, frames [][]byte) bool {
		p.Send(frames[:min(len(frames), 3)])
		return false
	}})
	for i := range 14 {
		conn := raw(t, s, "DEALER")
		size := uint64(20 << 20)
		if i%2 == 0 {
			size = 250 << 20
		}
		go func() { // until it is disconnected, or the end of the test
			conn.Write(long(0, size))
			for part := make([]byte, 1<<20); ; {
				if _, err := conn.Write(part); err != nil {
					return
				}
			}
		}()
	}
	peak := int64(0)
	for deadline := time.Now().Add(floodTime); strings.Count(log.all(), "message of more than") < 7; time.Sleep(time.Millisecond) {
		if peak = max(peak, budget.Held()); time.Now().After(deadline) {
			t.Fatalf("logged %q, expected 7 peers disconnected", log.all())
		}
	}
	answered(t, s)
	if peak > strangersBytes+answersBytes {
		t.Errorf("%d bytes were held", peak)
	}
}

// A peer that floods is read at a bounded rate.
func TestFloodsAreSlowedDown(t *testing.T) {
	got := 0
	s, _, _ := listen(t, Config{Type: zmq4.Router, Receive: func(*Peer, [][]byte) bool { got++; return true }})
	conn := raw(t, s, "DEALER")
	conn.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	start := time.Now()
	for many := bytes.Repeat(frame(0, "x"), 20_000); ; {
		if _, err := conn.Write(many); err != nil {
			break
		}
	}
	s.Close(0)
	if most := burst * (int(time.Since(start)/burstTime) + 2); got == 0 || got > most {
		t.Errorf("%d messages were received, expected some and at most %d", got, most)
	}
}

// The memory of a peer that has gone goes back to the system.
func TestMemoryIsReturned(t *testing.T) {
	returned := make(chan int64, 10)
	s, budget, _ := listen(t, Config{Type: zmq4.XPub})
	budget.returnToSystem = func() { returned <- budget.Held() }
	conn := raw(t, s, "SUB")
	conn.Write(frame(0, "\x01"))
	for subscribers(s) != 1 {
		time.Sleep(time.Millisecond)
	}
	s.Publish([][]byte{nil, make([]byte, 50<<20)})
	if budget.Held() < 50<<20 {
		t.Fatalf("%d bytes are held, expected 50 MB", budget.Held())
	}
	conn.Close()
	select {
	case held := <-returned:
		if held != 0 {
			t.Errorf("%d bytes were held when memory was returned", held)
		}
	case <-time.After(floodTime):
		t.Error("no memory was returned to the system")
	}
}

// A message counts once in the budget, however many peers it waits for. A peer
// that reads slowly gets the whole message and every later one.
func TestLargeMessagesReachSlowReaders(t *testing.T) {
	s, budget, log := listen(t, Config{Type: zmq4.XPub})
	var conns []net.Conn
	for range 3 {
		conn := raw(t, s, "SUB")
		conn.Write(frame(0, "\x01"))
		conns = append(conns, conn)
	}
	for subscribers(s) != 3 {
		time.Sleep(time.Millisecond)
	}
	const count, size = 3, 100 << 20
	body := make([]byte, size)
	for range count {
		s.Publish([][]byte{nil, body})
	}
	if held := budget.Held(); held > count*size+count*1000 {
		t.Errorf("%d bytes are held, expected %d", held, count*size)
	}
	var reading sync.WaitGroup
	for _, conn := range conns {
		reading.Go(func() {
			conn.SetReadDeadline(time.Now().Add(floodTime))
			if n, err := io.CopyN(io.Discard, conn, count*size); err != nil {
				t.Errorf("%d bytes, then %v; logged %s", n, err, log.all())
			}
		})
	}
	reading.Wait()
	runtime.KeepAlive(body)
}

// Clients of one session have one identity: each gets the answers to its own messages,
// and the newest gets those of a connection that has left.
func TestConnectionsOfOneIdentity(t *testing.T) {
	var mu sync.Mutex // guards from
	from := map[string]*Peer{}
	s, _, _ := listen(t, Config{Type: zmq4.Router, Receive: func(p *Peer, frames [][]byte) bool {
		mu.Lock()
		from[string(frames[len(frames)-1])] = p
		mu.Unlock()
		p.Send(frames)
		return true
	}})
	id := zmq4.WithID(zmq4.SocketIdentity("one"))
	greet := func(name string) zmq4.Socket {
		d := dialer(t, s, id)
		d.Send(zmq4.NewMsgString(name))
		d.Recv()
		return d
	}
	got := func(d zmq4.Socket, want string) {
		t.Helper()
		if msg, err := d.Recv(); err != nil || string(msg.Frames[0]) != want {
			t.Errorf("got %v, %v, want %s", msg, err, want)
		}
	}
	older, newer, newest := greet("older"), greet("newer"), greet("newest")
	for name, d := range map[string]zmq4.Socket{"older": older, "newer": newer, "newest": newest} {
		if !s.Answer(from[name], [][]byte{[]byte("to " + name)}) {
			t.Errorf("%s is not connected", name)
		}
		got(d, "to "+name)
	}
	s.Send("one", [][]byte{[]byte("sent")})
	got(newest, "sent")
	newest.Close()
	for peers(s) != 2 {
		time.Sleep(time.Millisecond)
	}
	s.Answer(from["newest"], [][]byte{[]byte("left")})
	got(newer, "left")
	older.Close()
	newer.Close()
	for peers(s) != 0 {
		time.Sleep(time.Millisecond)
	}
	if s.Answer(from["older"], [][]byte{[]byte("left")}) || len(s.named) > 0 {
		t.Errorf("an answer to nobody is sent, %d identities are kept", len(s.named))
	}
}

// TestSocketLeftByAKill: the file of a socket whose process was killed is replaced, and
// no other file is.
func TestSocketLeftByAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Listen("unix", path, Config{Type: zmq4.Router}); err == nil {
		s.Close(0)
		t.Error("a socket that another process listens on is replaced")
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as after kill -9
	l.Close()
	s, err := Listen("unix", path, Config{Type: zmq4.Router})
	if err != nil {
		t.Fatal(err)
	}
	s.Close(0)
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen("unix", path, Config{Type: zmq4.Router}); err == nil {
		t.Error("a file is replaced")
	}
}
