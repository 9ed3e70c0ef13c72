//go:build linux

package wire

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// write puts a message into the ring as a program does.
func write(c *Channel, head *uint64, op Op, bytes uint32, body ...byte) {
	at := ringAt + int(*head%ringBytes)
	binary.LittleEndian.PutUint32(c.shared[at:], uint32(op))
	binary.LittleEndian.PutUint32(c.shared[at+4:], bytes)
	copy(c.shared[at+16:], body)
	*head += uint64(bytes)
	binary.LittleEndian.PutUint64(c.shared[headAt:], *head)
}

func TestMessages(t *testing.T) {
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var head uint64
	for i := range 3 * ringBytes / 4096 { // around the ring
		write(c, &head, Upload, 4096, 1, 0, 0, 0, 0, 0, 0, 0, byte(i))
		m, err := c.Next()
		if err != nil || m.Op != Upload || m.Value(0) != 1 || m.Bytes(1, 1)[0] != byte(i) || m.Value(1<<20) != 0 || len(m.Bytes(0, 1<<40)) != 4080 {
			t.Fatalf("message %d: %v, %v", i, m, err)
		}
	}
}

// What a program writes over the ring is an error, never a panic.
func TestBrokenRing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		c, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		for j := 0; j < ringBytes; j += 4 {
			binary.LittleEndian.PutUint32(c.shared[ringAt+j:], r.Uint32()>>r.UintN(32))
			if j > 4096 {
				break
			}
		}
		binary.LittleEndian.PutUint64(c.shared[headAt:], r.Uint64()>>r.UintN(64)|8)
		c.Hangup()
		for range 1000 {
			m, err := c.Next()
			if err != nil {
				break
			}
			m.Value(i)
			m.Bytes(i, r.Uint64())
		}
		c.Close()
	}
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var head uint64
	write(c, &head, ops, 16)
	if _, err := c.Next(); !errors.Is(err, errBroken) {
		t.Errorf("an unknown message: %v", err)
	}
}

// The end of the program ends Next, also while it sleeps.
func TestHangup(t *testing.T) {
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Next()
		ended <- err
	}()
	c.Hangup()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a message, expected the end")
		}
	case <-time.After(time.Minute):
		t.Fatal("Next does not end")
	}
}

func TestHeaderHasEveryOperation(t *testing.T) {
	for op := Skip; op < ops; op++ {
		if !strings.Contains(Header(), "#define WB_OP_"+op.String()+" ") {
			t.Errorf("%v is missing", op)
		}
	}
}
