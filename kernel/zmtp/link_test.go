package zmtp

import (
	"bytes"
	"net"
	"testing"

	"github.com/go-zeromq/zmq4"
)

// FuzzPeer has a peer send anything after a good greeting, or instead of one.
func FuzzPeer(f *testing.F) {
	hello := append(greeting(), ready(property("Socket-Type", "DEALER"))...)
	f.Add(hello)
	f.Add(append(hello, frame(flagMore, "a")...))
	f.Add(append(hello, append(long(0, 3), "abc"...)...))
	f.Add(append(hello, frame(flagCommand, "\x04PING\x00\x00ctx")...))
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() {
			theirs.Write(data)
			theirs.Close()
		}()
		go new(bytes.Buffer).ReadFrom(theirs)
		p, err := newPeer(t.Context(), ours, zmq4.Router, NewBudget())
		if err != nil {
			return
		}
		received := 0
		p.read(&Config{Type: zmq4.Router, Receive: func(_ *Peer, frames [][]byte) bool {
			for _, frame := range frames {
				received += len(frame)
			}
			return true
		}})
		if received > len(data) {
			t.Errorf("%d bytes received of %d sent", received, len(data))
		}
	})
}
