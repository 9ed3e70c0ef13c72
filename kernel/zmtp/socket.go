// Package zmtp is a listening ZeroMQ socket that no peer can stall, exhaust or
// crash. Greeting, handshake and framing are those of go-zeromq/zmq4's Conn;
// the sockets of that package are not used, because their accept loop waits
// for each peer's handshake, one slow subscriber holds up all, queues have no
// bound, closing drops what is queued, and subscriptions cannot be seen.
//
// It knows nothing of Jupyter, and it never dials.
package zmtp

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// acceptPause is how long a socket waits after it could not accept, for want
// of descriptors say.
const acceptPause = 20 * time.Millisecond

// Config says what a socket is and who handles what comes in. The functions
// are called from one goroutine a peer, and may send.
type Config struct {
	Type zmq4.SocketType

	// Receive takes a message. While it waits, its peer waits.
	Receive func(from *Peer, frames [][]byte)

	// Subscribe, if set, is told of a peer's new subscription. It may send
	// to this peer only.
	Subscribe func(from *Peer, topic string)

	// Logf, if set, receives why peers were turned away.
	Logf func(format string, args ...any)
}

// Socket listens on one address. Its methods may be called from any goroutine
// and never wait for a peer.
type Socket struct {
	config   Config
	listener net.Listener
	running  sync.WaitGroup // the accept loop, and two goroutines a peer

	mu     sync.Mutex // guards what follows
	peers  map[*Peer]struct{}
	opened map[net.Conn]struct{} // still in their handshake
	closed bool
}

// Listen opens a socket on an address as net.Listen takes it.
func Listen(network, address string, config Config) (*Socket, error) {
	listener, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("zmtp: %w", err)
	}
	if config.Logf == nil {
		config.Logf = func(string, ...any) {}
	}
	if config.Subscribe == nil {
		config.Subscribe = func(*Peer, string) {}
	}
	s := &Socket{
		config: config, listener: listener,
		peers: map[*Peer]struct{}{}, opened: map[net.Conn]struct{}{},
	}
	s.running.Go(s.accept)
	return s, nil
}

// Addr is the address that the socket listens on.
func (s *Socket) Addr() net.Addr { return s.listener.Addr() }

func (s *Socket) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			if s.isClosed() {
				return
			}
			s.config.Logf("zmtp: accept on %s: %v", s.Addr(), err)
			time.Sleep(acceptPause)
			continue
		}
		if !s.opening(conn) {
			conn.Close()
			return
		}
		s.running.Go(func() { s.serve(conn) })
	}
}

func (s *Socket) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// opening notes a connection whose handshake begins, unless the socket is closed.
func (s *Socket) opening(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.opened[conn] = struct{}{}
	}
	return !s.closed
}

// serve shakes hands with a peer, then reads what it sends until it leaves.
func (s *Socket) serve(conn net.Conn) {
	defer conn.Close()
	p, err := newPeer(conn, s.config.Type)
	s.mu.Lock()
	delete(s.opened, conn)
	if err == nil && !s.closed {
		s.peers[p] = struct{}{}
		s.running.Go(p.write)
	} else if err == nil {
		err = net.ErrClosed
	}
	s.mu.Unlock()
	if err != nil {
		s.config.Logf("zmtp: handshake with %s: %v", conn.RemoteAddr(), err)
		return
	}
	err = p.read(&s.config)
	s.config.Logf("zmtp: peer %s left: %v", conn.RemoteAddr(), err)
	s.mu.Lock()
	delete(s.peers, p)
	s.mu.Unlock()
	p.outbox.close()
}

// Send queues a message for every peer of that identity, and reports whether
// there is one.
func (s *Socket) Send(identity string, frames [][]byte) (sent bool) {
	s.each(func(p *Peer) {
		if p.identity == identity {
			p.Send(frames)
			sent = true
		}
	})
	return sent
}

// Publish queues messages for every peer that subscribes to their first frame.
func (s *Socket) Publish(messages ...[][]byte) {
	s.each(func(p *Peer) {
		var wanted []message
		for _, frames := range messages {
			if p.subscribes(string(frames[0])) {
				wanted = append(wanted, message{frames: frames})
			}
		}
		p.queue(wanted...)
	})
}

func (s *Socket) each(f func(*Peer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		f(p)
	}
}

// Close stops listening, sends what is queued for at most grace, and returns
// when every connection is closed.
func (s *Socket) Close(grace time.Duration) error {
	s.mu.Lock()
	s.closed = true
	for conn := range s.opened {
		conn.Close()
	}
	for p := range s.peers {
		p.outbox.close()
	}
	s.mu.Unlock()
	err := s.listener.Close()
	timer := time.AfterFunc(grace, func() { s.each(func(p *Peer) { p.conn.Close() }) })
	defer timer.Stop()
	s.running.Wait()
	if err != nil {
		return fmt.Errorf("zmtp: %w", err)
	}
	return nil
}

// subscribed reports whether one of the topics is a prefix of topic.
func subscribed(topics map[string]int, topic string) bool {
	for prefix := range topics {
		if strings.HasPrefix(topic, prefix) {
			return true
		}
	}
	return false
}
