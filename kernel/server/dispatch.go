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

	"warpbook/kernel/frame"
	"warpbook/kernel/wire"
	"warpbook/kernel/zmtp"
)

// call is one request on its way through the kernel.
type call struct {
	server  *Server
	request wire.Message
	channel *zmtp.Socket // that it came on
	shell   *shell       // that answers it; nil: it came on control, or its subshell is unknown
	from    string       // identity of the client
	arrived time.Time

	opening []publication // goes out together with busy
	begun   bool          // busy has gone out
}

// receiveShell queues a request behind the cells of its shell, unless its answer
// needs none and a client may be waiting to connect while a cell runs.
func (s *Server) receiveShell(from *zmtp.Peer, frames [][]byte) {
	c := s.newCall(s.shell, from, frames)
	if c == nil {
		return
	}
	c.shell = s.shells.find(c.request.Header.Subshell)
	if c.shell != nil && c.request.Header.Type != "kernel_info_request" && c.shell.take(c) {
		return
	}
	if c.shell != nil && c.shell.id != "" && s.shells.find(c.shell.id) == nil {
		c.shell = nil // it was deleted meanwhile
	}
	s.prompt.push(c)
}

func (s *Server) receiveControl(from *zmtp.Peer, frames [][]byte) {
	if c := s.newCall(s.control, from, frames); c != nil {
		s.prompt.push(c)
	}
}

func (s *Server) newCall(channel *zmtp.Socket, from *zmtp.Peer, frames [][]byte) *call {
	m, ok := s.decode(frames)
	if !ok {
		return nil
	}
	return &call{server: s, request: m, channel: channel, from: from.Identity(), arrived: time.Now()}
}

// serve answers a request and then calls done: for a cell, which it does not wait
// for, on the goroutine that brings its end.
func (c *call) serve(done func()) {
	c.answer(func(reply any, err error) {
		c.conclude(reply, err)
		done()
	})
}

// conclude is all that every request has in common: busy, the reply whose type
// follows from the request's, idle. A message that is no request has no reply.
func (c *call) conclude(reply any, err error) {
	c.begin() // if it is none that has a handler
	name, isRequest := strings.CutSuffix(c.request.Header.Type, "_request")
	if isRequest {
		c.reply(name+"_reply", outcome(reply, err))
	} else if err != nil {
		c.server.debugf("%s: %v", c.request.Header.Type, err)
	}
	c.publish("status", status{"idle"})
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

// empty is what a reply holds whatever its request.
func (c *call) empty() any {
	if c.request.Header.Type == "execute_request" {
		return &executeReply{ExecutionCount: c.server.shells.find("").counted()}
	}
	return nil
}

// ending is what every reply says.
type ending struct {
	Status string `json:"status"`
	*frame.Error
}

// concluded is a reply that may say by itself how its request ended.
type concluded interface{ conclusion() string }

// outcome is the content of a reply: what the handler answered, with a status
// where that has none, and the error.
func outcome(reply any, err error) json.RawMessage {
	content, end := marshal(reply), ending{Status: "ok"}
	if err != nil {
		end = ending{"error", asError(err)}
	} else if r, ok := reply.(concluded); ok && r.conclusion() != "" {
		return content
	}
	return join(content, marshal(end))
}

// join makes one object of two without a name in common. The first may be null,
// which a handler answers that only has an error.
func join(a, b json.RawMessage) json.RawMessage {
	if s := string(a); s == "null" || s == "{}" {
		return b
	}
	return slices.Concat(a[:len(a)-1], json.RawMessage(","), b[1:])
}

// asError gives every error the form that errors of cells have.
func asError(err error) *frame.Error {
	var e *frame.Error
	if !errors.As(err, &e) {
		e = &frame.Error{Name: "error", Value: err.Error(), Traceback: []string{err.Error()}}
	}
	if e.Traceback == nil {
		e = &frame.Error{Name: e.Name, Value: e.Value, Traceback: []string{}}
	}
	return e
}

// reply answers on the channel that the request came on.
func (c *call) reply(msgType string, content json.RawMessage) {
	c.server.send(c.channel, c, msgType, content)
}

// begin says busy, once, before anything else is published. A cell says so when the
// cells program has it, and together with its input.
func (c *call) begin() {
	if !c.begun {
		c.begun = true
		c.server.publish(c.request.RawHeader, append([]publication{{"status", status{"busy"}}}, c.opening...)...)
	}
}

// publish sends on iopub, as a child of the request.
func (c *call) publish(msgType string, content any) {
	c.begin()
	c.server.publish(c.request.RawHeader, publication{msgType, content})
}

// send sends a child of a request to the client that made it, and reports
// whether that is connected.
func (s *Server) send(on *zmtp.Socket, c *call, msgType string, content json.RawMessage) (id string, sent bool) {
	header := wire.NewHeader(s.session, msgType)
	frames, err := s.key.Encode(wire.Message{
		Identities: c.request.Identities, Header: header,
		Parent: c.request.RawHeader, Content: content,
	})
	if err != nil {
		panic(err) // ours: a header is always encodable
	}
	return header.ID, on.Send(c.from, frames)
}

func debugf(log *slog.Logger, format string, args ...any) {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug(fmt.Sprintf(format, args...))
	}
}
