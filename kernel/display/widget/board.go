// Package widget keeps the controls of display.Interact and speaks the protocol of
// ipywidgets 8 with their pictures in the clients: each control is a model with a comm.
// Its main type is Board. Package display opens panels of controls; the cells program
// passes messages of clients to the Board and runs the panels that have changed.
//
// It draws nothing, calls no function of a cell by itself, and must not import display.
package widget

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"warpbook/kernel/cellproto"
)

// The targets of comms: of a widget, and of a client that asks for all widgets at once.
const (
	target  = "jupyter.widget"
	control = "jupyter.widget.control"
)

// protocol is the metadata of an opening: the version of ipywidgets' messages.
var protocol = json.RawMessage(`{"version":"2.1.0"}`)

// Board holds the open panels. Any goroutine may call its methods.
type Board struct {
	mu      sync.Mutex // guards the fields below, and the states of models
	panels  []*Panel
	widgets map[string]*Panel // by the ids of their comms
	asking  map[string]bool   // ids of comms with the target control
}

// Panel is the controls of one function, and the function.
type Panel struct {
	// Run calls the function with the values of the controls and keeps its result. Show
	// shows the result, or why there is none. The cells program calls one after the other.
	Run  func(values []any)
	Show func(*cellproto.Error)

	board  *Board
	place  string   // the client's name of the cell, "" if the client gives none
	ids    []string // of the comms: those of models, then that of the box
	models []*Model
	stale  bool // a control has changed since Run was called
	busy   bool // Run is being called: changes wait for its end
}

// NewBoard returns a board without panels.
func NewBoard() *Board {
	return &Board{widgets: map[string]*Panel{}, asking: map[string]bool{}}
}

// Open adds a panel of models for a cell, and returns the messages that open it in the
// clients, and the id of the box of all its controls.
func (b *Board) Open(p *Panel, place string, models []*Model) (opening []cellproto.Comm, box string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.board, p.place, p.models = b, place, models
	for range len(models) + 1 {
		id := uuid.NewString()
		p.ids = append(p.ids, id)
		b.widgets[id] = p
	}
	b.panels = append(b.panels, p)
	for i, id := range p.ids {
		opening = append(opening, cellproto.Comm{Type: "comm_open", ID: id, Target: target, Metadata: protocol,
			Data: encode(map[string]any{"state": p.state(i), "buffer_paths": []string{}})})
	}
	return opening, p.ids[len(models)]
}

// state returns the whole state of one of the panel's widgets. The caller holds mu.
func (p *Panel) state(i int) map[string]any {
	if i < len(p.models) {
		return p.models[i].whole()
	}
	children := []string{}
	for _, id := range p.ids[:i] {
		children = append(children, "IPY_MODEL_"+id)
	}
	return (&Model{Name: "VBox", State: map[string]any{"children": children}}).whole()
}

// Values returns the values of the controls that have one.
func (p *Panel) Values() []any {
	p.board.mu.Lock()
	defer p.board.mu.Unlock()
	return Values(p.models)
}

// Next returns a panel that has changed, whose function the caller runs, and nil if there
// is none. A panel that is running is not returned: the caller that runs it gets it again.
func (b *Board) Next() *Panel {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.panels {
		if p.stale && !p.busy {
			p.stale, p.busy = false, true
			return p
		}
	}
	return nil
}

// Ended ends the call that Next began, and reports whether the panel is still open.
func (b *Board) Ended(p *Panel) (open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.busy = false
	return slices.Contains(b.panels, p)
}

// Close closes the panels of a cell that runs again, and returns the messages that tell
// the clients.
func (b *Board) Close(place string) (closing []cellproto.Comm) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range slices.Clone(b.panels) {
		if place != "" && p.place == place {
			closing = append(closing, b.drop(p, "")...)
		}
	}
	return closing
}

// drop removes a panel, and returns the messages that close its widgets, but for one
// that a client has closed. The caller holds mu.
func (b *Board) drop(p *Panel, closed string) (closing []cellproto.Comm) {
	for _, id := range p.ids {
		delete(b.widgets, id)
		if id != closed {
			closing = append(closing, closeOf(id))
		}
	}
	b.panels = slices.DeleteFunc(b.panels, func(other *Panel) bool { return other == p })
	return closing
}

// Opened returns openings of all widgets, without their states.
func (b *Board) Opened() (all []cellproto.Comm) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(b.widgets)) {
		all = append(all, cellproto.Comm{Type: "comm_open", ID: id, Target: target, Data: empty})
	}
	return all
}

// Receive takes a client's message, and returns the answers and whether a panel has
// changed. A comm that the board does not have is closed.
func (b *Board) Receive(c cellproto.Comm) (answers []cellproto.Comm, changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.widgets[c.ID]
	switch {
	case c.Type == "comm_open" && c.Target == control:
		b.asking[c.ID] = true
	case c.Type == "comm_close" && p != nil:
		answers = b.drop(p, c.ID)
	case c.Type == "comm_close":
		delete(b.asking, c.ID)
	case c.Type == "comm_msg" && b.asking[c.ID]:
		answers = b.states(c)
	case c.Type == "comm_msg" && p != nil:
		answers = p.receive(c)
	default:
		answers = []cellproto.Comm{closeOf(c.ID)}
	}
	return answers, slices.ContainsFunc(b.panels, func(p *Panel) bool { return p.stale })
}

// message is the data of a client's message.
type message struct {
	Method  string                     `json:"method"`
	State   map[string]json.RawMessage `json:"state"`
	Content struct {
		Event string `json:"event"`
	} `json:"content"`
}

func decode(c cellproto.Comm) (m message) {
	if json.Unmarshal(c.Data, &m) != nil {
		return message{}
	}
	return m
}

// states answers a client that asks for all widgets: one that was opened later, or again.
// The caller holds mu.
func (b *Board) states(c cellproto.Comm) []cellproto.Comm {
	if decode(c).Method != "request_states" {
		return nil
	}
	all := map[string]any{}
	for _, p := range b.panels {
		for i, id := range p.ids {
			state := p.state(i)
			all[id] = map[string]any{"state": state, "model_name": state["_model_name"], "model_module": state["_model_module"],
				"model_module_version": state["_model_module_version"]}
		}
	}
	return []cellproto.Comm{messageOf(c.ID, map[string]any{"method": "update_states", "states": all, "buffer_paths": []string{}})}
}

// receive takes a message to one of the panel's widgets. An accepted value is echoed, so
// that other clients follow; a value out of the control's range is answered with the
// value that holds. The caller holds mu.
func (p *Panel) receive(c cellproto.Comm) []cellproto.Comm {
	i, m := slices.Index(p.ids, c.ID), decode(c)
	update := func(method string, state map[string]any) []cellproto.Comm {
		return []cellproto.Comm{messageOf(c.ID, map[string]any{"method": method, "state": state, "buffer_paths": []string{}})}
	}
	if m.Method == "request_state" {
		return update("update", p.state(i))
	}
	if i == len(p.models) {
		return nil
	}
	model := p.models[i]
	if m.Method == "custom" {
		p.stale = p.stale || model.Check == nil && m.Content.Event == "click"
		return nil
	}
	value, given := m.State[model.Attribute]
	if m.Method != "update" || !given || model.Check == nil {
		return nil
	}
	accepted, ok := model.Check(value)
	if !ok {
		return update("update", map[string]any{model.Attribute: model.State[model.Attribute]})
	}
	model.State[model.Attribute], p.stale = accepted, true
	return update("echo_update", map[string]any{model.Attribute: accepted})
}

var empty = json.RawMessage(`{}`)

func closeOf(id string) cellproto.Comm {
	return cellproto.Comm{Type: "comm_close", ID: id, Data: empty}
}

func messageOf(id string, data map[string]any) cellproto.Comm {
	return cellproto.Comm{Type: "comm_msg", ID: id, Data: encode(data)}
}

func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic("widget: encode: " + err.Error()) // an error of this package: states are numbers, texts and lists
	}
	return data
}
