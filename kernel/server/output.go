package server

import (
	"encoding/json"
	"sync"

	"warpbook/kernel/cellproto"
)

type stream struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// display is the content of display_data and update_display_data.
type display struct {
	Data      map[string]any `json:"data"`
	Metadata  map[string]any `json:"metadata"`
	Transient *transient     `json:"transient,omitempty"`
}

type transient struct {
	DisplayID string `json:"display_id,omitempty"`
}

type clearOutput struct {
	Wait bool `json:"wait"`
}

func displayOf(e cellproto.Event) display {
	d := display{Data: orEmpty(e.Data), Metadata: orEmpty(e.Metadata)}
	if e.Display != "" {
		d.Transient = &transient{e.Display}
	}
	return d
}

// output publishes the events of a running cell and passes its questions on. A silent
// cell publishes nothing.
func (c *call) output(e cellproto.Event, silent, allowStdin bool) {
	switch c.begin(); {
	case e.Type == cellproto.Begun:
	case e.Type == cellproto.Input:
		c.ask(e, allowStdin)
	case !silent:
		c.server.show(c.request.RawHeader, e)
	}
}

// show publishes output as a child of the request that caused it.
func (s *Server) show(parent json.RawMessage, e cellproto.Event) {
	switch e.Type {
	case cellproto.Stream:
		s.publish(parent, publication{msgType: "stream", content: stream{e.Name, e.Text}})
	case cellproto.Display:
		msgType := "display_data"
		if e.Update {
			msgType = "update_display_data"
		}
		s.publish(parent, publication{msgType: msgType, content: displayOf(e)})
	case cellproto.Clear:
		s.publish(parent, publication{msgType: "clear_output", content: clearOutput{e.Wait}})
	case cellproto.CommMessage:
		s.say(parent, e.Comms)
	case cellproto.Debugged:
		s.publish(parent, publication{msgType: "debug_event", content: json.RawMessage(e.Text)})
	default:
		s.debugf("server: event %q: unknown", e.Type)
	}
}

// Late publishes output that arrives after its cell has ended, as output of the last
// cell of that cell's shell: clients such as nbclient drop output of other cells while
// one runs. Before the sockets listen there can be no subscriber, and the output is
// dropped.
func (s *Server) Late(cell int, e cellproto.Event) {
	select {
	case <-s.listening:
		s.show(s.parents.of(cellproto.CellShell(cell)), e)
	default:
		s.debugf("server: output before the sockets listen: %s %q", e.Type, e.Text)
	}
}

// parents remembers the request header of the last cell of each shell that is not
// silent.
type parents struct {
	mu   sync.Mutex // guards last
	last map[int]json.RawMessage
}

func (p *parents) set(shell int, header json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[int]json.RawMessage{}
	}
	p.last[shell] = header
}

// of returns the header of a shell's last cell, or that of the parent shell if the shell
// was deleted.
func (p *parents) of(shell int) json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if header, ok := p.last[shell]; ok {
		return header
	}
	return p.last[0]
}

func (p *parents) forget(shell int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, shell)
}
