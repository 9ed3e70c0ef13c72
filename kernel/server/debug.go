package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/zmtp"
)

// debugTime is how long the debugger may take to answer: it answers at once, also while
// a cell is stopped, and an interrupt queued after the request waits for the answer.
const debugTime = 5 * time.Second

// debug passes a request of the Debug Adapter Protocol to the cells program, which has
// the debugger, and returns its response. What the debugger refuses is a response too.
func debug(c *call, request json.RawMessage) (json.RawMessage, error) {
	done, err := c.server.askDebugger(string(request))
	if err != nil {
		return nil, err
	}
	if done.Error != nil {
		return nil, done.Error
	}
	if !strings.HasPrefix(done.Text, "{") || !json.Valid([]byte(done.Text)) {
		return nil, fmt.Errorf("server: debug_request: the cells program answered %q, expected a response of the protocol", done.Text)
	}
	return json.RawMessage(done.Text), nil
}

func (s *Server) askDebugger(request string) (cellproto.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), debugTime)
	defer cancel()
	return s.cells.Ask(ctx, cellproto.Request{Type: cellproto.Debug, Text: request})
}

// debuggers are the connections that have sent a debug_request.
type debuggers struct {
	mu    sync.Mutex // guards the fields below
	peers map[*zmtp.Peer]bool
	ends  int // how often the last one has left
}

// add is called by the goroutine that reads from the peer, which later reports its end.
func (d *debuggers) add(p *zmtp.Peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.peers == nil {
		d.peers = map[*zmtp.Peer]bool{}
	}
	d.peers[p] = true
}

// remove reports whether the last debugger has left, and numbers that end.
func (d *debuggers) remove(p *zmtp.Peer) (end int, last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.peers[p]
	delete(d.peers, p)
	if last = was && len(d.peers) == 0; last {
		d.ends++
	}
	return d.ends, last
}

// noneSince reports whether no debugger has come since an end.
func (d *debuggers) noneSince(end int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.peers) == 0 && d.ends == end
}

// debugGrace is how long a page may take to come back after a reload, before what is
// stopped goes on without a client. Tests shorten it.
var debugGrace = 10 * time.Second

// left ends the debugger when its last client has gone: a cell that is stopped goes on.
func (s *Server) left(p *zmtp.Peer) {
	end, last := s.debugs.remove(p)
	if !last {
		return
	}
	time.AfterFunc(debugGrace, func() {
		if !s.debugs.noneSince(end) {
			return
		}
		if _, err := s.askDebugger(`{"type":"request","seq":0,"command":"disconnect","arguments":{}}`); err != nil {
			s.debugf("server: disconnect the debugger: %v", err)
		}
	})
}
