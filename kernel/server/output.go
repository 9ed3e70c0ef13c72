package server

import (
	"encoding/json"
	"sync"

	"warpbook/kernel/frame"
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

func displayOf(e frame.Event) display {
	d := display{Data: orEmpty(e.Data), Metadata: orEmpty(e.Metadata)}
	if e.Display != "" {
		d.Transient = &transient{e.Display}
	}
	return d
}

// output hands on what a running cell shows and asks. A silent cell shows
// nothing.
func (c *call) output(e frame.Event, silent, allowStdin bool) {
	switch c.begin(); {
	case e.Type == frame.Begun:
	case e.Type == frame.Input:
		c.ask(e, allowStdin)
	case !silent:
		c.server.show(c.request.RawHeader, e)
	}
}

// show publishes output as a child of the request that caused it.
func (s *Server) show(parent json.RawMessage, e frame.Event) {
	switch e.Type {
	case frame.Stream:
		s.publish(parent, publication{"stream", stream{e.Name, e.Text}})
	case frame.Display:
		msgType := "display_data"
		if e.Update {
			msgType = "update_display_data"
		}
		s.publish(parent, publication{msgType, displayOf(e)})
	case frame.Clear:
		s.publish(parent, publication{"clear_output", clearOutput{e.Wait}})
	default:
		s.debugf("server: event %q: unknown", e.Type)
	}
}

// Late publishes output that came after its cell had ended.
func (s *Server) Late(cell int, e frame.Event) { s.show(s.parents.of(cell), e) }

// keptParents is how many cells later the output of a goroutine still finds its
// cell.
const keptParents = 500

// parents remembers the header of the request behind each of the last cells.
type parents struct {
	mu      sync.Mutex // guards what follows
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

// of is the request of a cell; what is too old or has no number counts as part of
// the last cell.
func (p *parents) of(cell int) json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if header, ok := p.headers[cell]; ok {
		return header
	}
	return p.last
}
