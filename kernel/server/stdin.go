package server

import (
	"encoding/json"
	"slices"
	"sync"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/zmtp"
)

type inputRequest struct {
	Prompt   string `json:"prompt"`
	Password bool   `json:"password"`
}

type inputReply struct {
	Value string `json:"value"`
}

// input holds the open questions of cells, at most one for each shell.
type input struct {
	mu   sync.Mutex // guards open
	open []asked
}

// asked is a cell's open question.
type asked struct {
	shell   *shell
	event   uint64 // id of the Input event
	client  string // identity of the client that was asked
	request string // msg_id of the input_request
}

// ask asks the client that runs the cell for a line of text. A client has the same
// identity on its shell and its stdin socket.
func (c *call) ask(e cellproto.Event, allowed bool) {
	s := c.server
	if !allowed {
		s.cells.Refuse(e.ID, "the client that runs this cell does not allow input")
		return
	}
	s.input.mu.Lock()
	defer s.input.mu.Unlock()
	client := c.from.Identity()
	id, frames := c.child("input_request", marshal(inputRequest{e.Text, e.Password}))
	if !s.stdin.Send(client, frames) {
		s.cells.Refuse(e.ID, "the client that runs this cell is not connected to stdin")
		return
	}
	s.input.withdraw(c.shell)
	s.input.open = append(s.input.open, asked{c.shell, e.ID, client, id})
}

// end withdraws the question of a cell.
func (i *input) end(c *call) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.withdraw(c.shell)
}

// withdraw forgets the question of a shell. The caller holds mu.
func (i *input) withdraw(of *shell) {
	i.open = slices.DeleteFunc(i.open, func(q asked) bool { return q.shell == of })
}

// receiveInput passes an input_reply to the waiting cell.
func (s *Server) receiveInput(from *zmtp.Peer, frames [][]byte) (accepted bool) {
	m, ok := s.decode(frames)
	if !ok {
		return false
	}
	var reply inputReply
	if err := json.Unmarshal(m.Content, &reply); err != nil || m.Header.Type != "input_reply" {
		s.debugf("server: %s on stdin: %v, expected an input_reply", m.Header.Type, err)
		return true
	}
	if event, ok := s.input.takes(from.Identity(), m); ok {
		s.cells.Reply(event, reply.Value)
	}
	return true
}

// takes returns the event that the reply answers, and withdraws its question. Some
// clients leave the parent header empty: their reply answers the question of the shell
// that they name.
func (i *input) takes(from string, m jupyter.Message) (event uint64, ok bool) {
	var parent jupyter.Header
	if err := json.Unmarshal(m.Parent, &parent); err != nil {
		return 0, false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	at := slices.IndexFunc(i.open, func(q asked) bool {
		return q.client == from && (q.request == parent.ID || parent.ID == "" && q.shell.id == m.Header.Subshell)
	})
	if at < 0 {
		return 0, false
	}
	event = i.open[at].event
	i.open = slices.Delete(i.open, at, at+1)
	return event, true
}
