package zmtp

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
	"github.com/google/uuid"
)

// handshakeTime is how long a peer may take to say who it is.
const handshakeTime = 5 * time.Second

// Peer is one connection. Its socket's serve goroutine reads it; who has its
// outbox writes it.
type Peer struct {
	conn     *zmq4.Conn
	guard    *guard
	identity string
	outbox   *outbox

	mu     sync.Mutex     // guards topics
	topics map[string]int // subscriptions, with how often each was made
}

// newPeer shakes hands. The panics that it recovers are zmq4's: it indexes
// past the end of malformed metadata, and knows no unknown socket type.
func newPeer(conn net.Conn, typ zmq4.SocketType) (p *Peer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed metadata: %v", r)
		}
	}()
	p = &Peer{guard: newGuard(conn), outbox: newOutbox(), topics: map[string]int{}}
	conn.SetDeadline(time.Now().Add(handshakeTime))
	id := zmq4.SocketIdentity(uuid.NewString())
	if p.conn, err = zmq4.Open(p.guard, null.Security(), typ, id, true, nil); err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	if p.identity = p.conn.Peer.Meta["Identity"]; p.identity == "" {
		p.identity = string(id)
	}
	p.guard.established(func() { p.queue(message{pong: true}) })
	return p, nil
}

// Identity is the name that the peer gave itself, or one made up for it.
func (p *Peer) Identity() string { return p.identity }

// Send sends a message to this peer, or queues it where that would take time.
func (p *Peer) Send(frames [][]byte) { p.queue(message{frames: frames}) }

// queue sends messages in one write, if it may write.
func (p *Peer) queue(list ...message) {
	if !p.outbox.lend(list) {
		for _, m := range list {
			p.outbox.add(m)
		}
		return
	}
	for _, m := range list {
		p.send(m) // into the guard's buffer
	}
	p.outbox.giveBack(!p.guard.tryFlush())
}

// read hands on what the peer sends, until it leaves or breaks the rules.
func (p *Peer) read(config *Config) error {
	publisher := config.Type == zmq4.Pub || config.Type == zmq4.XPub
	for {
		msg, err := p.conn.RecvMsg()
		if err != nil {
			return err
		}
		switch {
		case !publisher:
			config.Receive(p, msg.Frames)
		case len(msg.Frames) == 1 && len(msg.Frames[0]) > 0:
			p.subscription(msg.Frames[0][0], string(msg.Frames[0][1:]), config.Subscribe)
		}
	}
}

// subscription begins (1) or ends (0) a subscription. What told sends comes
// before anything that is published to it, since mu is held.
func (p *Peer) subscription(kind byte, topic string, told func(*Peer, string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case kind == 1:
		p.topics[topic]++
		told(p, topic)
	case kind == 0 && p.topics[topic] > 1:
		p.topics[topic]--
	case kind == 0:
		delete(p.topics, topic)
	}
}

func (p *Peer) subscribes(topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return subscribed(p.topics, topic)
}

// write sends what is queued until the outbox is closed and empty, then hangs
// up, at which read returns.
func (p *Peer) write() {
	defer p.conn.Close()
	for {
		batch, more := p.outbox.take()
		for _, m := range batch {
			if err := p.send(m); err != nil {
				p.outbox.close()
				return
			}
		}
		if err := p.guard.flush(); err != nil || !more {
			p.outbox.close()
			return
		}
	}
}

func (p *Peer) send(m message) error {
	if m.pong {
		return p.conn.SendCmd(zmq4.CmdPong, nil)
	}
	return p.conn.SendMsg(zmq4.NewMsgFrom(m.frames...))
}
