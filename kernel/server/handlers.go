package server

import (
	"context"
	"encoding/json"
	"fmt"

	"warpbook/kernel/cellproto"
)

// handlers lists every message that the kernel handles. Other requests are
// answered with an error.
var handlers = map[string]handler{
	"kernel_info_request": on(anyChannel, kernelInfo),
	"connect_request":     on(anyChannel, connect),
	"execute_request":     {shellOnly, execute},
	"complete_request":    on(shellOnly, complete),
	"inspect_request":     on(shellOnly, inspect),
	"is_complete_request": on(shellOnly, isComplete),
	"history_request":     on(shellOnly, historyOf),
	"comm_info_request":   on(shellOnly, commInfo),
	"comm_open":           {shellOnly, talk},
	"comm_msg":            {shellOnly, talk},
	"comm_close":          {shellOnly, talk},
	"interrupt_request":   on(anyChannel, interrupt),
	"shutdown_request":    on(anyChannel, shutdown),
	"debug_request":       on(anyChannel, debug),
	"usage_request":       on(anyChannel, usage),

	"create_subshell_request": on(controlOnly, createSubshell),
	"delete_subshell_request": on(controlOnly, deleteSubshell),
	"list_subshell_request":   on(controlOnly, listSubshells),
}

// channels are the channels on which a request may arrive.
type channels int

const (
	anyChannel  channels = iota
	shellOnly            // needs the cells program, or a place in the queue of cells
	controlOnly          // concerns all shells
)

type handler struct {
	channel channels
	answer  func(c *call, finish func(any, error)) // calls finish once
}

// on makes a handler from a function that takes the typed content of a request and
// returns the content of the reply.
func on[Q, R any](channel channels, f func(*call, Q) (R, error)) handler {
	return handler{channel, func(c *call, finish func(any, error)) {
		c.begin()
		var content Q
		if err := json.Unmarshal(c.request.Content, &content); err != nil {
			finish(nil, fmt.Errorf("server: %s: %w", c.request.Header.Type, err))
			return
		}
		reply, err := f(c, content)
		finish(reply, err)
	}}
}

// query makes a request to the cells program and returns its answer. A new request of
// clients that uses it needs three additions: a type of cellproto.Request, a row in
// handlers with its function, and a case in the cells program's request handler.
func (c *call) query(r cellproto.Request) (cellproto.Event, error) {
	done, err := c.server.cells.Ask(context.Background(), r)
	if err == nil && done.Error != nil {
		err = done.Error
	}
	return done, err
}

// none is the content of requests and replies that have no fields.
type none struct{}
