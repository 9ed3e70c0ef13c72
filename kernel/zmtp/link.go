package zmtp

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"warpbook/kernel/nonblock"
)

const (
	greetingBytes = 64
	readyBytes    = 8 << 10   // the longest READY command, and any other
	messageBytes  = 256 << 20 // the longest message
	strangerBytes = 24 << 20  // the longest message of a peer that has not proved that it has the key
	freeBytes     = 4 << 10   // a message up to here is received without asking the budget
	messageFrames = 1 << 10
	writeBytes    = 64 << 10 // of the write buffer
	chunkBytes    = 256 << 10
)

// strangerTime is how long a stranger's message may wait for the budget and
// take to arrive, once it is longer than freeBytes.
const strangerTime = 10 * time.Second

// A peer that sends burst messages in less than burstTime waits for the rest of
// that, so that floods leave the processors to others.
const (
	burst     = 64
	burstTime = 5 * time.Millisecond
)

// stallTime is how long a peer with a full outbox may take no byte.
const stallTime = 2 * time.Second

// The bits of a frame's flags.
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

// violation is the reason why a peer is disconnected by this side.
type violation struct{ error }

func violates(format string, args ...any) error { return violation{fmt.Errorf(format, args...)} }

// link is the connection of one peer. During the handshake zmq4's Conn reads and
// writes through it. Afterwards the peer's read goroutine owns the reading part
// and calls message; Conn writes through it, in the goroutine that the outbox
// allows to write.
type link struct {
	net.Conn
	in     *bufio.Reader
	budget *Budget
	ctx    context.Context // ends with the socket

	greeting int    // bytes of the greeting still to come
	ready    []byte // what Conn has not read yet of the READY command

	limit int                 // bytes of a message
	held  int                 // taken from the budget for the message being received
	from  *semaphore.Weighted // the part of the budget that held was taken from
	known bool                // the peer has proved that it has the key
	ping  func()              // answers a PING
	count int                 // of messages and commands
	since time.Time           // the last burst began
	hasty bool                // tests only: the peer is not slowed down

	buffers bool        // the handshake is over: small writes wait for flush
	out     []byte      // waits for flush
	behind  func() bool // reports whether too much waits in the outbox
}

func newLink(ctx context.Context, conn net.Conn, budget *Budget) *link {
	in := io.Reader(conn)
	if c, ok := conn.(syscall.Conn); ok {
		in = nonblock.New(c)
	}
	return &link{Conn: conn, in: bufio.NewReader(in), budget: budget, ctx: ctx, greeting: greetingBytes}
}

// Read hands the greeting and then one whole command of bounded length to Conn,
// which allocates what a header claims.
func (l *link) Read(p []byte) (int, error) {
	if l.greeting > 0 {
		n, err := l.in.Read(p[:min(len(p), l.greeting)])
		l.greeting -= n
		return n, err
	}
	if len(l.ready) == 0 {
		flags, size, head, err := l.header()
		if err != nil {
			return 0, err
		}
		if flags&flagCommand == 0 || size > readyBytes {
			return 0, violates("zmtp: handshake: frame of flags %#x and %d bytes, expected a command of at most %d", flags, size, readyBytes)
		}
		l.ready = append([]byte(nil), head...)
		l.in.Discard(len(head))
		body := make([]byte, size)
		if _, err := io.ReadFull(l.in, body); err != nil {
			return 0, err
		}
		l.ready = append(l.ready, body...)
	}
	n := copy(p, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

// message returns the frames of the next message and answers commands before
// it. The caller calls release when it no longer needs the frames.
func (l *link) message() (frames [][]byte, err error) {
	for size := 0; ; {
		if len(frames) == 0 {
			l.pace()
		}
		flags, length, head, err := l.header()
		if err != nil {
			return nil, err
		}
		limit := l.limit
		if !l.known {
			limit = min(limit, strangerBytes)
		}
		switch command := flags&flagCommand != 0; {
		case command && (len(frames) > 0 || flags&flagMore != 0):
			return nil, violates("zmtp: command inside a message")
		case command && length > readyBytes:
			return nil, violates("zmtp: command of %d bytes, expected at most %d", length, readyBytes)
		case length > uint64(limit) || size+int(length) > limit:
			return nil, violates("zmtp: message of more than %d bytes", limit)
		case len(frames) == messageFrames:
			return nil, violates("zmtp: message of more than %d frames", messageFrames)
		}
		size += int(length) + frameOverhead
		l.in.Discard(len(head))
		if err := l.admit(size); err != nil {
			return nil, err
		}
		body, err := l.body(int(length))
		if err != nil {
			return nil, err
		}
		if flags&flagCommand != 0 {
			l.command(body)
			l.release()
			size = 0
			continue
		}
		if frames = append(frames, body); flags&flagMore == 0 {
			return frames, nil
		}
	}
}

// pace counts a message, and waits if a burst arrived in less than burstTime.
func (l *link) pace() {
	if l.count++; l.count%burst != 0 || l.hasty {
		return
	}
	if early := burstTime - time.Since(l.since); early > 0 {
		time.Sleep(early)
	}
	l.since = time.Now()
}

// header returns the flags, the length and the bytes of a frame's header, which
// are still to be discarded.
func (l *link) header() (flags byte, length uint64, head []byte, err error) {
	if head, err = l.in.Peek(2); err != nil {
		return 0, 0, nil, err
	}
	flags, length = head[0], uint64(head[1])
	if flags > flagMore|flagLong|flagCommand {
		return 0, 0, nil, violates("zmtp: frame flags %#x, expected at most 0x7", flags)
	}
	if flags&flagLong != 0 {
		if head, err = l.in.Peek(9); err != nil {
			return 0, 0, nil, err
		}
		length = binary.BigEndian.Uint64(head[1:])
	}
	return flags, length, head, nil
}

// admit waits until the budget has room for a message of size bytes.
func (l *link) admit(size int) error {
	more := size - l.held
	if size <= freeBytes || more <= 0 {
		return nil
	}
	ctx := l.ctx
	if l.held == 0 {
		l.from = l.budget.clients
		if !l.known {
			l.from = l.budget.strangers
			l.Conn.SetReadDeadline(time.Now().Add(2 * strangerTime))
		}
	}
	if !l.known {
		limited, cancel := context.WithTimeout(ctx, strangerTime)
		defer cancel()
		ctx = limited
	}
	if err := l.budget.receive(ctx, l.from, more); err != nil {
		if l.ctx.Err() != nil { // the socket was closed meanwhile
			return net.ErrClosed
		}
		return violates("zmtp: message of %d bytes: no memory for messages of peers without the key within %v", size, strangerTime)
	}
	l.held += more
	return nil
}

// release gives the message's share of the budget back.
func (l *link) release() {
	if l.held == 0 {
		return
	}
	l.budget.received(l.from, l.held)
	if l.from == l.budget.strangers {
		l.Conn.SetReadDeadline(time.Time{})
	}
	l.held = 0
}

// body reads n bytes. Until the peer has proved that it has the key, body allocates
// at most twice the bytes that have arrived.
func (l *link) body(n int) ([]byte, error) {
	room := n
	if !l.known {
		room = min(n, writeBytes)
	}
	body := make([]byte, 0, room)
	for {
		part := body[len(body):min(cap(body), n)]
		if _, err := io.ReadFull(l.in, part); err != nil {
			return nil, err
		}
		if body = body[:len(body)+len(part)]; len(body) == n {
			return body, nil
		}
		grown := make([]byte, len(body), min(n, 2*len(body)))
		copy(grown, body)
		body = grown
	}
}

// command answers a PING. Subscriptions do not come as commands to a peer of
// version 3.0, which zmq4 is.
func (l *link) command(body []byte) {
	if len(body) >= 5 && string(body[:5]) == "\x04PING" {
		l.ping()
	}
}

func (l *link) Write(p []byte) (int, error) {
	if !l.buffers {
		return l.Conn.Write(p)
	}
	if len(l.out)+len(p) > writeBytes {
		if err := l.flush(); err != nil {
			return 0, err
		}
	}
	if len(p) > writeBytes {
		return len(p), l.writeOut(p)
	}
	l.out = append(l.out, p...)
	return len(p), nil
}

// flush writes the buffer.
func (l *link) flush() error {
	err := l.writeOut(l.out)
	l.out = l.out[:0]
	return err
}

// writeOut writes until all is written, or until the peer has taken no byte for
// stallTime while too much waits for it.
func (l *link) writeOut(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	defer l.Conn.SetWriteDeadline(time.Time{})
	for len(p) > 0 {
		l.Conn.SetWriteDeadline(time.Now().Add(stallTime))
		n, err := l.Conn.Write(p[:min(len(p), chunkBytes)])
		p = p[n:]
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if n > 0 || !l.behind() {
				continue
			}
			return violates("zmtp: slow reader: more than %d bytes wait, and none was read for %v", outboxBytes, stallTime)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tryFlush writes as much of the buffer as the network takes without waiting, and
// reports whether the buffer is empty. An error occurs again in flush.
func (l *link) tryFlush() bool {
	conn, ok := l.Conn.(syscall.Conn)
	if !ok {
		return len(l.out) == 0
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	sent := 0
	raw.Write(func(fd uintptr) bool {
		n, err := nonblock.Write(int(fd), l.out)
		if err == nil {
			sent = n
		}
		return true
	})
	l.out = l.out[:copy(l.out, l.out[sent:])]
	return len(l.out) == 0
}
