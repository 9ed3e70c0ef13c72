package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/zmtp"
)

// call is one request on its way through the kernel.
type call struct {
	server  *Server
	request jupyter.Message
	channel *zmtp.Socket // the socket that received it
	shell   *shell       // the shell that answers it; nil: the request came on control, or its subshell is unknown
	from    *zmtp.Peer   // the connection that sent it
	arrived time.Time

	opening []publication // sent together with busy
	begun   bool          // busy has been sent
}

// receiveShell queues a request after the cells of its shell. kernel_info_request does
// not wait for them: a client may connect while a cell runs.
func (s *Server) receiveShell(from *zmtp.Peer, frames [][]byte) (accepted bool) {
	c := s.newCall(s.shell, from, frames)
	if c == nil {
		return false
	}
	c.shell = s.shells.find(c.request.Header.Subshell)
	if c.shell != nil && c.request.Header.Type != "kernel_info_request" && c.shell.take(c) {
		return true
	}
	if c.shell != nil && c.shell.id != "" && s.shells.find(c.shell.id) == nil {
		c.shell = nil // the subshell was deleted in the meantime
	}
	s.prompt.push(c)
	return true
}

func (s *Server) receiveControl(from *zmtp.Peer, frames [][]byte) (accepted bool) {
	c := s.newCall(s.control, from, frames)
	if c != nil {
		s.prompt.push(c)
	}
	return c != nil
}

func (s *Server) newCall(channel *zmtp.Socket, from *zmtp.Peer, frames [][]byte) *call {
	m, ok := s.decode(frames)
	if !ok {
		return nil
	}
	if m.Header.Type == "debug_request" { // not later: the peer may have left by then
		s.debugs.add(from)
	}
	return &call{server: s, request: m, channel: channel, from: from, arrived: time.Now()}
}

// size is the number of bytes of a request.
func (c *call) size() (n int) {
	m := c.request
	for _, b := range m.Buffers {
		n += len(b)
	}
	return n + len(m.RawHeader) + len(m.Parent) + len(m.Metadata) + len(m.Content)
}

// serve answers a request and then calls done. It does not wait for a cell: the
// goroutine that receives the cell's answer calls done.
func (c *call) serve(done func()) {
	c.answer(func(reply any, err error) {
		c.conclude(reply, err)
		done()
	})
}

// conclude sends busy, the reply and idle. The request's type determines the reply's. A
// message that is not a request has no reply.
func (c *call) conclude(reply any, err error) {
	c.begin() // without a handler begin was not called yet
	name, isRequest := strings.CutSuffix(c.request.Header.Type, "_request")
	if isRequest {
		c.reply(name+"_reply", outcome(reply, err))
	} else if err != nil {
		c.server.debugf("%s: %v", c.request.Header.Type, err)
	}
	c.publish("status", status{"idle"})
	c.server.memory.Worked()
}

// answer calls finish once, with the reply and the error.
func (c *call) answer(finish func(any, error)) {
	h, ok := handlers[c.request.Header.Type]
	switch {
	case !ok:
		finish(nil, fmt.Errorf("server: %s: unknown", c.request.Header.Type))
	case c.channel == c.server.shell && c.shell == nil:
		finish(c.empty(), noSubshell(c.request.Header.Subshell))
	case h.channel == shellOnly && c.channel != c.server.shell:
		finish(c.empty(), fmt.Errorf("server: %s: came on control, expected on shell", c.request.Header.Type))
	case h.channel == controlOnly && c.channel != c.server.control:
		finish(nil, fmt.Errorf("server: %s: came on shell, expected on control", c.request.Header.Type))
	default:
		h.answer(c, finish)
	}
}

// empty returns the required fields of a reply without a result.
func (c *call) empty() any {
	if c.request.Header.Type == "execute_request" {
		return &executeReply{ExecutionCount: c.server.shells.find("").counted()}
	}
	return nil
}

// ending holds the fields of every reply.
type ending struct {
	Status string `json:"status"`
	*cellproto.Error
}

// concluded is a reply that may hold its own status.
type concluded interface{ conclusion() string }

// outcome returns the content of a reply: the handler's reply with a status,
// unless it has one, and the error.
func outcome(reply any, err error) json.RawMessage {
	content, end := marshal(reply), ending{Status: "ok"}
	if err != nil {
		end = ending{"error", asError(err)}
	} else if r, ok := reply.(concluded); ok && r.conclusion() != "" {
		return content
	}
	return join(content, marshal(end))
}

// join merges two objects without a common name. The first may be null, if a handler
// returns only an error.
func join(a, b json.RawMessage) json.RawMessage {
	if s := string(a); s == "null" || s == "{}" {
		return b
	}
	return slices.Concat(a[:len(a)-1], json.RawMessage(","), b[1:])
}

// asError converts an error to the form of a cell's errors.
func asError(err error) *cellproto.Error {
	var e *cellproto.Error
	if !errors.As(err, &e) {
		e = &cellproto.Error{Name: "error", Value: err.Error(), Traceback: []string{err.Error()}}
	}
	if e.Traceback == nil {
		e = &cellproto.Error{Name: e.Name, Value: e.Value, Traceback: []string{}}
	}
	return e
}

// reply answers on the channel that received the request.
func (c *call) reply(msgType string, content json.RawMessage) {
	_, frames := c.child(msgType, content)
	c.channel.Answer(c.from, frames)
}

// begin publishes busy once, before anything else. For a cell, busy is published
// together with the cell's input, after the cells program has accepted the cell.
func (c *call) begin() {
	if !c.begun {
		c.begun = true
		c.server.publish(c.request.RawHeader, append([]publication{{msgType: "status", content: status{"busy"}}}, c.opening...)...)
	}
}

// publish sends on iopub, as a child of the request.
func (c *call) publish(msgType string, content any) {
	c.begin()
	c.server.publish(c.request.RawHeader, publication{msgType: msgType, content: content})
}

// child encodes a message to the client of a request, and returns its id.
func (c *call) child(msgType string, content json.RawMessage) (id string, frames [][]byte) {
	header := jupyter.NewHeader(c.server.session, msgType)
	frames, err := c.server.key.Encode(jupyter.Message{
		Identities: c.request.Identities, Header: header,
		Parent: c.request.RawHeader, Content: content,
	})
	if err != nil {
		panic(err) // an error of this package: a header is always encodable
	}
	return header.ID, frames
}

func debugf(log *slog.Logger, format string, args ...any) {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug(fmt.Sprintf(format, args...))
	}
}
