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
		s.publish(parent, publication{"stream", stream{e.Name, e.Text}})
	case cellproto.Display:
		msgType := "display_data"
		if e.Update {
			msgType = "update_display_data"
		}
		s.publish(parent, publication{msgType, displayOf(e)})
	case cellproto.Clear:
		s.publish(parent, publication{"clear_output", clearOutput{e.Wait}})
	default:
		s.debugf("server: event %q: unknown", e.Type)
	}
}

// Late publishes output that arrives after its cell has ended. Before the sockets
// listen there can be no subscriber, and the output is dropped.
func (s *Server) Late(cell int, e cellproto.Event) {
	select {
	case <-s.listening:
		s.show(s.parents.of(cell), e)
	default:
		s.debugf("server: output before the sockets listen: %s %q", e.Type, e.Text)
	}
}

// keptParents is the number of recent cells whose late output still finds its parent.
const keptParents = 500

// parents remembers the request headers of the most recent cells.
type parents struct {
	mu      sync.Mutex // guards the fields below
	headers map[int]json.RawMessage
	kept    []int // cells, oldest first
	last    json.RawMessage
}

func (p *parents) add(cell int, header json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.headers == nil {
		p.headers = map[int]json.RawMessage{}
	}
	p.headers[cell], p.last = header, header
	if p.kept = append(p.kept, cell); len(p.kept) > keptParents {
		delete(p.headers, p.kept[0])
		p.kept = p.kept[1:]
	}
}

// of returns the header of a cell's request. For a cell that is too old, or has no
// number, it returns the header of the last cell.
func (p *parents) of(cell int) json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if header, ok := p.headers[cell]; ok {
		return header
	}
	return p.last
}
