// Package zmtp is a listening ZeroMQ socket that no peer can stall, exhaust or
// crash. Its main type is Socket; package server opens one a channel. Greeting,
// handshake and framing are those of go-zeromq/zmq4's Conn. The sockets of zmq4 are not
// used: their accept loop waits for each peer's handshake, one slow subscriber delays
// all, queues have no bound, closing drops queued messages, and subscriptions are hidden.
//
// It imports no other package of the kernel but nonblock, knows no Jupyter message, and
// never dials.
package zmtp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
)

// acceptPause is the pause after a failed accept, for example without free
// descriptors.
const acceptPause = 20 * time.Millisecond

// Config describes a socket and the functions that handle incoming messages. They
// are called from one goroutine a peer, and may send.
type Config struct {
	Type zmq4.SocketType

	// Receive takes a message and reports whether it accepts it: whether the
	// peer has the key. While Receive waits, its peer waits. A peer whose
	// messages are not accepted may send less, and only for a while.
	Receive func(from *Peer, frames [][]byte) (accepted bool)

	// Subscribe, if set, takes a peer's new subscription. It may send to this
	// peer only.
	Subscribe func(from *Peer, topic string)

	// Left, if set, is called after a peer has left. It must not block.
	Left func(*Peer)

	// MessageBytes is the longest message that a peer may send; 0 is 256 MiB.
	MessageBytes int

	// Budget bounds the memory that peers make this process hold; nil is a budget of its own.
	Budget *Budget

	// Logf, if set, receives why peers left. Warnf, if set, receives why peers
	// were disconnected.
	Logf, Warnf func(format string, args ...any)

	hasty bool // tests only: peers are not slowed down, and the system buffers little
}

// Socket listens on one address. Its methods may be called from any goroutine
// and never wait for a peer.
type Socket struct {
	config   Config
	listener net.Listener
	running  sync.WaitGroup // the accept loop, and two goroutines a peer
	ctx      context.Context
	cancel   context.CancelFunc // ends waiting for the budget

	mu     sync.Mutex // guards what follows
	peers  map[*Peer]struct{}
	named  map[string][]*Peer    // the peers of each identity, the newest last
	opened map[net.Conn]struct{} // in their handshake
	closed bool
}

// Listen opens a socket on an address as net.Listen takes it.
func Listen(network, address string, config Config) (*Socket, error) {
	listener, err := listenOn(network, address)
	if err != nil {
		return nil, fmt.Errorf("zmtp: %w", err)
	}
	if config.Logf == nil {
		config.Logf = func(string, ...any) {}
	}
	if config.Subscribe == nil {
		config.Subscribe = func(*Peer, string) {}
	}
	if config.Warnf == nil {
		config.Warnf = config.Logf
	}
	if config.Budget == nil {
		config.Budget = NewBudget()
	}
	s := &Socket{
		config: config, listener: listener,
		peers: map[*Peer]struct{}{}, named: map[string][]*Peer{}, opened: map[net.Conn]struct{}{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.running.Go(s.accept)
	return s, nil
}

// listenOn is net.Listen, which also takes the place of a socket in the file system whose
// process was killed.
func listenOn(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	if network != "unix" || !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	conn, refused := net.Dial(network, address)
	if refused == nil {
		conn.Close()
		return nil, err
	}
	info, statErr := os.Lstat(address)
	if statErr != nil || info.Mode().Type() != os.ModeSocket || !errors.Is(refused, syscall.ECONNREFUSED) || os.Remove(address) != nil {
		return nil, err
	}
	return net.Listen(network, address)
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
		if c, ok := conn.(*net.TCPConn); ok && s.config.hasty {
			c.SetWriteBuffer(4 << 10)
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

// serve shakes hands with a peer, then reads its messages until it leaves.
func (s *Socket) serve(conn net.Conn) {
	defer conn.Close()
	p, err := newPeer(s.ctx, conn, s.config.Type, s.config.Budget)
	if err = s.enter(conn, p, err); err != nil {
		s.log("handshake with", conn, err)
		return
	}
	err = p.read(&s.config)
	conn.Close()
	s.leave(p)
	if s.config.Left != nil {
		s.config.Left(p)
	}
	if reason := p.outbox.why(); reason != nil {
		err = reason
	}
	s.log("peer", conn, err)
}

// log reports why a connection ended.
func (s *Socket) log(what string, conn net.Conn, err error) {
	if asViolation(err) != nil {
		s.config.Warnf("zmtp: %s %s: disconnected: %v", what, conn.RemoteAddr(), err)
	} else {
		s.config.Logf("zmtp: %s %s: left: %v", what, conn.RemoteAddr(), err)
	}
}

// enter adds a peer whose handshake was made without an error. Peers may have the same
// identity: the clients of one session of jupyter_client have, and a client may
// reconnect before its old connection is known to be dead.
func (s *Socket) enter(conn net.Conn, p *Peer, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.opened, conn)
	switch {
	case err != nil:
		return err
	case s.closed:
		return net.ErrClosed
	}
	s.peers[p] = struct{}{}
	s.named[p.identity] = append(s.named[p.identity], p)
	s.running.Go(p.write)
	return nil
}

// leave removes a peer and releases its memory.
func (s *Socket) leave(p *Peer) {
	s.mu.Lock()
	delete(s.peers, p)
	rest := slices.DeleteFunc(s.named[p.identity], func(other *Peer) bool { return other == p })
	if s.named[p.identity] = rest; len(rest) == 0 {
		delete(s.named, p.identity)
	}
	s.mu.Unlock()
	p.outbox.discard(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.topics.clear()
}

// Send queues a message for the newest peer of that identity, and reports
// whether there is one.
func (s *Socket) Send(identity string, frames [][]byte) (sent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(s.newest(identity), frames)
}

// Answer queues a message for a peer or, if the peer has left, for the newest of its
// identity, and reports whether there is one.
func (s *Socket) Answer(to *Peer, frames [][]byte) (sent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, here := s.peers[to]; !here {
		to = s.newest(to.identity)
	}
	return s.send(to, frames)
}

// newest returns the newest peer of an identity, nil if there is none. The caller holds
// mu.
func (s *Socket) newest(identity string) *Peer {
	if list := s.named[identity]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

// send is Send to a peer, which may be nil, with mu held.
func (s *Socket) send(p *Peer, frames [][]byte) (sent bool) {
	if p != nil {
		p.queue(newMessage(frames))
	}
	return p != nil
}

// Publish queues messages for every peer that subscribes to their first frame.
func (s *Socket) Publish(messages ...[][]byte) {
	list := make([]*message, len(messages))
	for i, frames := range messages {
		list[i] = newMessage(frames)
	}
	s.each(func(p *Peer) {
		var wanted []*message
		for _, m := range list {
			if p.subscribes(string(m.frames[0])) {
				wanted = append(wanted, m)
			}
		}
		if len(wanted) > 0 {
			p.queue(wanted...)
		}
	})
}

func (s *Socket) each(f func(*Peer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		f(p)
	}
}

// Close stops listening, sends the queues for at most grace, and returns when every
// connection is closed.
func (s *Socket) Close(grace time.Duration) error {
	s.cancel()
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
