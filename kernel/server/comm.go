package server

import (
	"encoding/json"
	"fmt"

	"warpbook/kernel/cellproto"
)

// comm is the content of comm_open, comm_msg and comm_close.
type comm struct {
	ID     string          `json:"comm_id"`
	Target string          `json:"target_name,omitempty"`
	Data   json.RawMessage `json:"data"`
}

// talk passes a client's message to the cells program, which has the widgets, and then
// the messages of comms that wait behind it. Then the functions run whose controls have
// changed: once, with the latest values, so that a control that moves fast queues no
// calls.
func talk(c *call, finish func(any, error)) {
	var ends []func()
	follow, err := c.hand()
	for err == nil {
		next := c.shell.queue.next(isComm)
		if next == nil {
			break
		}
		also, err := next.hand()
		follow = follow || also
		ends = append(ends, func() { next.conclude(nil, err) })
	}
	end := func(err error) {
		for _, end := range ends {
			end()
		}
		finish(nil, err) // last: the shell's next request may be served then
	}
	if err != nil || !follow {
		end(err)
		return
	}
	err = c.server.cells.Begin(cellproto.Request{Follow: true, Silent: true, Shell: c.shell.place},
		func(e cellproto.Event) { c.output(e, false, false) },
		func(done cellproto.Event) {
			c.server.input.end(c)
			if done.Error != nil {
				end(done.Error)
				return
			}
			end(nil)
		})
	if err != nil {
		end(err)
	}
}

func isComm(c *call) bool {
	switch c.request.Header.Type {
	case "comm_open", "comm_msg", "comm_close":
		return true
	}
	return false
}

// hand passes a message to the cells program and publishes the answers. follow reports
// whether functions are to run.
func (c *call) hand() (follow bool, err error) {
	c.begin()
	var q comm
	if err := json.Unmarshal(c.request.Content, &q); err != nil {
		return false, fmt.Errorf("server: %s: %w", c.request.Header.Type, err)
	}
	if q.Data == nil {
		q.Data = json.RawMessage("{}")
	}
	done, err := c.query(cellproto.Request{Type: cellproto.CommMessage, Comm: &cellproto.Comm{Type: c.request.Header.Type, ID: q.ID, Target: q.Target, Data: q.Data}})
	c.server.say(c.request.RawHeader, done.Comms)
	return done.Follow, err
}

// say publishes messages of comms.
func (s *Server) say(parent json.RawMessage, comms []cellproto.Comm) {
	var list []publication
	for _, m := range comms {
		list = append(list, publication{m.Type, comm{m.ID, m.Target, m.Data}, m.Metadata})
	}
	s.publish(parent, list...)
}

type commInfoRequest struct {
	Target string `json:"target_name"` // "": all
}

type commTarget struct {
	Target string `json:"target_name"`
}

type commInfoReply struct {
	Comms map[string]commTarget `json:"comms"`
}

func commInfo(c *call, q commInfoRequest) (*commInfoReply, error) {
	reply := &commInfoReply{Comms: map[string]commTarget{}}
	done, err := c.query(cellproto.Request{Type: cellproto.AskComms})
	for _, m := range done.Comms {
		if q.Target == "" || q.Target == m.Target {
			reply.Comms[m.ID] = commTarget{m.Target}
		}
	}
	return reply, err
}
