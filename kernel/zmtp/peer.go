package zmtp

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
	"github.com/google/uuid"
)

// handshakeTime is how long a peer may take for its handshake.
const handshakeTime = 5 * time.Second

// identityLength is the longest identity that ZMTP admits.
const identityLength = 255

// refusals is how many messages in a row the receiver may reject before the peer is
// disconnected.
const refusals = 100

// Peer is one connection. Its socket's serve goroutine reads from it, and the
// goroutine that the outbox allows to writes to it.
type Peer struct {
	conn     *zmq4.Conn
	link     *link
	identity string
	outbox   *outbox

	mu     sync.Mutex // guards topics
	topics topics
}

// newPeer shakes hands. The panics that it recovers are zmq4's: it indexes past
// the end of malformed metadata, and rejects an unknown socket type by a panic.
func newPeer(ctx context.Context, conn net.Conn, typ zmq4.SocketType, budget *Budget) (p *Peer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = violates("malformed metadata: %v", r)
		}
	}()
	p = &Peer{
		link: newLink(ctx, conn, budget), outbox: newOutbox(budget),
		topics: topics{budget: budget, count: map[string]int{}},
	}
	conn.SetDeadline(time.Now().Add(handshakeTime))
	id := zmq4.SocketIdentity(uuid.NewString())
	if p.conn, err = zmq4.Open(p.link, null.Security(), typ, id, true, nil); err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	p.identity = p.conn.Peer.Meta["Identity"]
	p.conn.Peer.Meta = nil // a peer may have filled it
	if len(p.identity) > identityLength {
		return nil, violates("zmtp: identity of %d bytes, expected at most %d", len(p.identity), identityLength)
	}
	if p.identity == "" {
		p.identity = string(id)
	}
	p.link.limit, p.link.buffers, p.link.behind = messageBytes, true, p.outbox.behind
	p.link.ping = func() {
		p.queue(&message{command: zmq4.CmdPong, frames: [][]byte{nil}, answer: true, size: messageOverhead})
	}
	return p, nil
}

// Identity is the name that the peer gave itself, or one made up for it.
func (p *Peer) Identity() string { return p.identity }

// Send answers this peer's own message. The answer is written at once, or queued
// where that would take time.
func (p *Peer) Send(frames [][]byte) {
	m := newMessage(frames)
	m.answer = true
	p.queue(m)
}

// queue sends messages in one write, if the outbox lends it the connection.
func (p *Peer) queue(list ...*message) {
	if !p.outbox.lend(list) {
		for _, m := range list {
			if err := p.outbox.add(m); err != nil {
				p.cut(err)
				return
			}
		}
		return
	}
	for _, m := range list {
		p.send(m) // into the link's buffer
	}
	p.outbox.giveBack(!p.link.tryFlush())
}

// cut disconnects a peer for a violation. The connection is reset: a peer that
// reads nothing would otherwise keep the bytes that were already sent, and learn
// of the end only when it reads them.
func (p *Peer) cut(reason error) {
	p.outbox.discard(reason)
	if c, ok := p.link.Conn.(*net.TCPConn); ok {
		c.SetLinger(0)
	}
	p.link.Conn.Close()
}

// read handles the peer's messages until it leaves or breaks a rule.
func (p *Peer) read(config *Config) error {
	defer p.link.release()
	publisher := config.Type == zmq4.Pub || config.Type == zmq4.XPub
	if config.MessageBytes > 0 {
		p.link.limit = config.MessageBytes
	}
	p.link.hasty = config.hasty
	for refused := 0; ; {
		frames, err := p.link.message()
		if err != nil {
			return err
		}
		if publisher {
			err = p.subscription(frames, config.Subscribe)
		} else if config.Receive(p, frames) {
			p.link.known, refused = true, 0
		} else if refused++; refused == refusals {
			err = violates("zmtp: %d messages in a row were not accepted", refusals)
		}
		p.link.release()
		if err != nil {
			return err
		}
	}
}

// subscription begins (1) or ends (0) a subscription. The messages of the Subscribe
// function precede all published ones, because mu is held.
func (p *Peer) subscription(frames [][]byte, subscribed func(*Peer, string)) error {
	if len(frames) != 1 || len(frames[0]) == 0 {
		return nil
	}
	kind, topic := frames[0][0], string(frames[0][1:])
	p.mu.Lock()
	defer p.mu.Unlock()
	switch kind {
	case 1:
		if err := p.topics.add(topic); err != nil {
			return err
		}
		subscribed(p, topic)
	case 0:
		p.topics.remove(topic)
	}
	return nil
}

func (p *Peer) subscribes(topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.topics.match(topic)
}

// write sends the queue until the outbox is closed and empty, then closes the
// connection, which ends read.
func (p *Peer) write() {
	defer p.outbox.end()
	defer p.conn.Close()
	for p.outbox.wait() {
		for m := p.outbox.next(); m != nil; m = p.outbox.next() {
			if err := p.send(m); err != nil {
				p.cut(asViolation(err))
				return
			}
		}
		if err := p.link.flush(); err != nil {
			p.cut(asViolation(err))
			return
		}
	}
}

func (p *Peer) send(m *message) error {
	if m.command != "" {
		return p.conn.SendCmd(m.command, m.frames[0])
	}
	return p.conn.SendMsg(zmq4.NewMsgFrom(m.frames...))
}

// asViolation returns err if it is a violation, nil otherwise.
func asViolation(err error) error {
	var v violation
	if errors.As(err, &v) {
		return v
	}
	return nil
}
