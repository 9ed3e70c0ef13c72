package zmtp

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"syscall"

	"warpbook/kernel/nonblock"
)

const (
	greetingBytes = 64
	readyBytes    = 64 << 10  // the longest READY command
	messageBytes  = 256 << 20 // the longest message
	messageFrames = 1 << 10
	keepBytes     = 1 << 20 // a larger read buffer is given back after use
	writeBytes    = 64 << 10
)

// The bits of a frame's flags.
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

// guard stands between zmq4's Conn and the network. Reading, it hands on whole
// messages only, so that what Conn allocates has arrived; it limits them and
// answers pings, which Conn would hand to the application. Writing, it
// buffers. Conn's reader may be another goroutine than the one that has its
// outbox and writes.
type guard struct {
	net.Conn
	in       *bufio.Reader
	greeting int          // bytes of the greeting still to come
	whole    bytes.Buffer // a message that has arrived and is being read
	limit    uint64       // bytes of a message
	ping     func()       // nil until the handshake is over
	buffers  bool         // the handshake is over: what is written waits for flush
	out      []byte       // it
}

func newGuard(conn net.Conn) *guard {
	in := io.Reader(conn)
	if c, ok := conn.(syscall.Conn); ok {
		in = nonblock.New(c)
	}
	return &guard{Conn: conn, in: bufio.NewReader(in), greeting: greetingBytes, limit: readyBytes}
}

// established ends the handshake: from now on messages may be long, pings are
// passed to ping, and what is written waits for flush.
func (g *guard) established(ping func()) {
	g.limit, g.ping, g.buffers = messageBytes, ping, true
}

func (g *guard) Write(p []byte) (int, error) {
	if len(g.out)+len(p) > writeBytes {
		if err := g.flush(); err != nil {
			return 0, err
		}
	}
	if !g.buffers || len(p) > writeBytes {
		return g.Conn.Write(p)
	}
	g.out = append(g.out, p...)
	return len(p), nil
}

// flush sends what is buffered.
func (g *guard) flush() error {
	if len(g.out) == 0 {
		return nil
	}
	_, err := g.Conn.Write(g.out)
	g.out = g.out[:0]
	return err
}

// tryFlush sends of what is buffered what the network takes without waiting, and
// says whether that is all. An error is met again by flush.
func (g *guard) tryFlush() bool {
	conn, ok := g.Conn.(syscall.Conn)
	if !ok {
		return len(g.out) == 0
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	sent := 0
	raw.Write(func(fd uintptr) bool {
		n, err := nonblock.Write(int(fd), g.out)
		if err == nil {
			sent = n
		}
		return true
	})
	g.out = g.out[:copy(g.out, g.out[sent:])]
	return len(g.out) == 0
}

func (g *guard) Read(p []byte) (int, error) {
	if g.greeting > 0 {
		n, err := g.in.Read(p[:min(len(p), g.greeting)])
		g.greeting -= n
		return n, err
	}
	for g.whole.Len() == 0 {
		if err := g.fill(); err != nil {
			return 0, err
		}
	}
	return g.whole.Read(p)
}

// fill reads a message, unless it is a command that ends here.
func (g *guard) fill() error {
	if g.whole.Cap() > keepBytes {
		g.whole = bytes.Buffer{}
	}
	g.whole.Reset()
	for frames := 1; ; frames++ {
		flags, err := g.frame()
		if err != nil {
			return err
		}
		switch {
		case flags&flagCommand != 0 && (frames > 1 || flags&flagMore != 0):
			return fmt.Errorf("command inside a message")
		case flags&flagCommand != 0 && g.ping != nil:
			g.command(flags)
			return nil
		case flags&flagMore == 0:
			return nil
		case frames == messageFrames:
			return fmt.Errorf("message of more than %d frames", messageFrames)
		}
	}
}

// frame appends a frame to whole and returns its flags.
func (g *guard) frame() (flags byte, err error) {
	head, err := g.in.Peek(2)
	if err != nil {
		return 0, err
	}
	flags = head[0]
	size := uint64(head[1])
	if flags&flagLong != 0 {
		if head, err = g.in.Peek(9); err != nil {
			return 0, err
		}
		size = binary.BigEndian.Uint64(head[1:])
	}
	if flags > flagMore|flagLong|flagCommand {
		return 0, fmt.Errorf("frame flags %#x: unknown", flags)
	}
	if size > g.limit || uint64(g.whole.Len())+size > g.limit {
		return 0, fmt.Errorf("message of more than %d bytes", g.limit)
	}
	g.take(head)
	if size > uint64(g.in.Size()) {
		_, err = io.CopyN(&g.whole, g.in, int64(size))
		return flags, err
	}
	small, err := g.in.Peek(int(size))
	g.take(small)
	return flags, err
}

// take moves what has been looked at from in to whole.
func (g *guard) take(seen []byte) {
	g.whole.Write(seen)
	g.in.Discard(len(seen))
}

// command takes the command that whole holds. Subscriptions do not come as
// commands to a peer of version 3.0, which zmq4 is, so only pings matter.
func (g *guard) command(flags byte) {
	head := 2
	if flags&flagLong != 0 {
		head = 9
	}
	if bytes.HasPrefix(g.whole.Bytes()[head:], []byte("\x04PING")) {
		g.ping()
	}
	g.whole.Reset()
}
