package server

import (
	"testing"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/jupyter"
)

// An event of the debugger is published as a child of the last cell.
func TestDebugEvents(t *testing.T) {
	k := start(t)
	c := k.connect()
	id := c.send("shell", "execute_request", cell("print a"))
	c.reply("shell", id)
	c.published(id)
	const event = `{"type":"event","event":"stopped","body":{"threadId":7}}`
	k.Late(0, cellproto.Event{Type: cellproto.Debugged, Text: event})
	if m := c.next("iopub"); line(m) != "debug_event "+event || parentOf(m) != id {
		t.Errorf("%s of %q, want the event of %q", line(m), parentOf(m), id)
	}
}

// When the last client of the debugger has left, the stopped cell goes on.
func TestDebugClientLeaves(t *testing.T) {
	defer func(before time.Duration) { debugGrace = before }(debugGrace)
	debugGrace = 10 * time.Millisecond
	k := start(t)
	c := k.connect()
	c.reply("control", c.send("control", "debug_request", `{"type":"request","seq":1,"command":"debugInfo"}`))
	other := k.connect()
	other.reply("shell", other.send("shell", "kernel_info_request", `{}`))
	if err := other.sockets["control"].Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-k.cells.running:
		t.Fatal("another client's end disconnected the debugger")
	case <-time.After(200 * time.Millisecond):
	}
	if err := c.sockets["control"].Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-k.cells.running:
	case <-time.After(patience):
		t.Error("the debugger was not disconnected")
	}
}

// A client that leaves before its request is served does not keep the debugger.
func TestDebugClientLeavesEarly(t *testing.T) {
	defer func(before time.Duration) { debugGrace = before }(debugGrace)
	debugGrace = 10 * time.Millisecond
	k := start(t)
	k.cells.holds = make(chan struct{})
	c, gone := k.connect(), k.connect()
	held := c.send("control", "debug_request", `{"type":"request","seq":1,"command":"hold"}`)
	<-k.cells.running
	gone.send("control", "debug_request", `{"type":"request","seq":1,"command":"disconnect"}`)
	gone.leaves(k)
	close(k.cells.holds)
	c.reply("control", held)
	<-k.cells.running // the request of the client that has left
	c.leaves(k)
	select {
	case <-k.cells.running:
	case <-time.After(patience):
		t.Error("the debugger was not disconnected")
	}
}

// leaves closes the client's control socket and waits until the kernel has noticed.
func (c *client) leaves(k *kernel) {
	c.t.Helper()
	if err := c.sockets["control"].Close(); err != nil {
		c.t.Fatal(err)
	}
	probe := c.encode(jupyter.Message{Header: jupyter.NewHeader("", "probe")})
	for end := time.Now().Add(patience); k.control.Send(c.session, probe); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatal("the kernel did not notice that the client has left")
		}
	}
}

// A client that comes back within the grace and leaves again has the whole grace again. On
// a machine so busy that it comes back too late, the grace is doubled.
func TestDebugClientLeavesTwice(t *testing.T) {
	defer func(before time.Duration) { debugGrace = before }(debugGrace)
	for debugGrace = 500 * time.Millisecond; !leavesTwice(t); debugGrace *= 2 {
		t.Logf("the second client came after %v", debugGrace)
	}
}

// leavesTwice reports whether the second client came within the grace.
func leavesTwice(t *testing.T) (inTime bool) {
	k := start(t)
	first, second := k.connect(), k.connect()
	first.reply("control", first.send("control", "debug_request", `{"type":"request","seq":1,"command":"debugInfo"}`))
	gone := time.Now()
	first.leaves(k)
	time.Sleep(debugGrace / 2)
	second.reply("control", second.send("control", "debug_request", `{"type":"request","seq":1,"command":"debugInfo"}`))
	left := time.Now()
	if left.Sub(gone) >= debugGrace {
		return false
	}
	second.leaves(k)
	select {
	case <-k.cells.running:
		if after := time.Since(left); after < debugGrace {
			t.Errorf("the debugger was disconnected %v after the second leave, want %v", after, debugGrace)
		}
	case <-time.After(patience):
		t.Error("the debugger was not disconnected")
	}
	return true
}
