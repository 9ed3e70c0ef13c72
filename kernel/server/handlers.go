package server

import (
	"encoding/json"
	"fmt"
)

// handlers lists every message that the kernel answers or takes notice of.
// Other requests are answered with an error.
var handlers = map[string]handler{
	"kernel_info_request": on(anyChannel, kernelInfo),
	"connect_request":     on(anyChannel, connect),
	"execute_request":     {shellOnly, execute},
	"complete_request":    on(shellOnly, complete),
	"inspect_request":     on(shellOnly, inspect),
	"is_complete_request": on(shellOnly, isComplete),
	"history_request":     on(shellOnly, historyOf),
	"comm_info_request":   on(shellOnly, commInfo),
	"comm_open":           on(shellOnly, commOpen),
	"comm_msg":            on(shellOnly, ignore),
	"comm_close":          on(shellOnly, ignore),
	"interrupt_request":   on(anyChannel, interrupt),
	"shutdown_request":    on(anyChannel, shutdown),
	"debug_request":       on(anyChannel, debug),

	"create_subshell_request": on(controlOnly, createSubshell),
	"delete_subshell_request": on(controlOnly, deleteSubshell),
	"list_subshell_request":   on(controlOnly, listSubshells),
}

// channels are where a request may come in.
type channels int

const (
	anyChannel  channels = iota
	shellOnly            // needs the cells program, or its place among cells
	controlOnly          // is about all shells
)

type handler struct {
	channel channels
	answer  func(c *call, finish func(any, error)) // calls finish once
}

// on makes a handler of a function that takes the typed content of a request
// and returns that of the reply.
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

// none is the content of requests and replies that have no fields.
type none struct{}

// ignore takes a message that needs no reaction.
func ignore(*call, none) (*none, error) { return nil, nil }
