package zmtp

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zeromq/zmq4"
)

func greeting() []byte {
	g := make([]byte, greetingBytes)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

func frame(flags byte, body string) []byte {
	return append([]byte{flags, byte(len(body))}, body...)
}

func long(flags byte, size uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{flags | flagLong}, size)
}

func ready(properties string) []byte { return frame(flagCommand, "\x05READY"+properties) }

// ready1 is ready for properties of more than 255 bytes.
func ready1(properties string) []byte {
	return append(long(flagCommand, uint64(len(properties)+6)), "\x05READY"+properties...)
}

func property(key, value string) string {
	size := binary.BigEndian.AppendUint32(nil, uint32(len(value)))
	return string(byte(len(key))) + key + string(size) + value
}

func TestHostilePeersAreDisconnected(t *testing.T) {
	with := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	hello := append(greeting(), ready(property("Socket-Type", "DEALER"))...)
	waiting := map[string][]byte{ // for more; they may stay
		"silent":            nil,
		"half a greeting":   greeting()[:11],
		"greeting only":     greeting(),
		"claims 20 MB":      with(hello, long(0, 20<<20), []byte("but sends this")),
		"half a message":    with(hello, frame(flagMore, "a")),
		"leaves in a frame": with(hello, frame(0, "hello")[:3]),
	}
	wrong := map[string][]byte{ // they are disconnected
		"no greeting":            bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 10),
		"unknown mechanism":      with(greeting()[:12], []byte("CURVE"), make([]byte, 47)),
		"huge READY":             with(greeting(), long(flagCommand, 1<<62)),
		"READY one over":         with(greeting(), long(flagCommand, readyBytes+1)),
		"no command":             with(greeting(), frame(0, "hello")),
		"empty command":          with(greeting(), frame(flagCommand, "")),
		"command of bad length":  with(greeting(), frame(flagCommand, "\xffREADY")),
		"property cut off":       with(greeting(), ready("\x20Socket")),
		"property without size":  with(greeting(), ready("\x0bSocket-Type\x00")),
		"property of huge size":  with(greeting(), ready("\x0bSocket-Type\xff\xff\xff\xffDEALER")),
		"unknown socket type":    with(greeting(), ready(property("Socket-Type", "TELEPHONE"))),
		"no socket type":         with(greeting(), ready("")),
		"incompatible type":      with(greeting(), ready(property("Socket-Type", "SUB"))),
		"frame of 2^62 bytes":    with(hello, long(0, 1<<62)),
		"frame of 2^64-1 bytes":  with(hello, long(0, 1<<64-1)),
		"claims 200 MB":          with(hello, long(0, 200<<20), []byte("but sends this")),
		"identity of 256 bytes":  with(greeting(), ready1(property("Socket-Type", "DEALER")+property("Identity", strings.Repeat("i", 256)))),
		"reserved flags":         with(hello, frame(0x80, "x")),
		"endless message":        with(hello, bytes.Repeat(frame(flagMore, ""), 5000)),
		"command in the middle":  with(hello, frame(flagMore, "a"), frame(flagCommand, "\x04PING")),
		"command of many frames": with(hello, frame(flagCommand|flagMore, "\x04PING")),
		"huge second frame":      with(hello, frame(flagMore, "a"), long(0, 1<<64-1)),
	}
	s := echo(t)
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	dial := func(name string, data []byte) net.Conn {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Cleanup(func() { conn.Close() })
		conn.Write(data)
		return conn
	}
	for name, data := range waiting {
		if conn := dial(name, data); strings.HasPrefix(name, "leaves") {
			conn.Close()
		}
	}
	for name, data := range wrong {
		took := best(func() {
			conn := dial(name, data)
			conn.SetReadDeadline(time.Now().Add(2 * promptly))
			io.Copy(io.Discard, conn)
		})
		if took > promptly { // handshakeTime would end some, later
			t.Errorf("%s: still connected after %v", name, took)
		}
	}
	answered(t, s)
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 32<<20 {
		t.Errorf("%d bytes allocated for what never arrived", grown)
	}
}

// A peer that does not finish the handshake is disconnected after handshakeTime.
func TestHandshakeTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		go io.Copy(io.Discard, theirs)
		start := time.Now()
		_, err := newPeer(context.Background(), ours, zmq4.Router, NewBudget())
		if took := time.Since(start); err == nil || took != handshakeTime {
			t.Errorf("%v after %v, want an error after %v", err, took, handshakeTime)
		}
		ours.Close()
	})
}

func TestPingIsAnswered(t *testing.T) {
	s := echo(t)
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write(greeting())
	conn.Write(ready(property("Socket-Type", "DEALER")))
	conn.Write(frame(flagCommand, "\x04PING\x00\x00"))
	conn.Write(frame(0, "after"))
	conn.SetDeadline(time.Now().Add(floodTime))
	want := append(frame(flagCommand, "\x04PONG"), frame(0, "after")...)
	var got []byte
	for !bytes.HasSuffix(got, want) {
		b := make([]byte, 1)
		if _, err := io.ReadFull(conn, b); err != nil {
			t.Fatalf("read %q, then %v, want %q at its end", got, err, want)
		}
		got = append(got, b...)
	}
}
