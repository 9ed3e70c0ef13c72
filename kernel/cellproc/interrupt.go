package cellproc

import (
	"fmt"
	"syscall"
	"time"

	"warpbook/kernel/cellproto"
)

// deafAfter is how long the program may take to answer an interrupt. It normally
// answers at once. After this time its cells report the missing answer.
var deafAfter = 5 * time.Second

// interrupt asks the program to stop the cells that run. A program stopped by a signal,
// from a debugger or SIGSTOP, is continued first: otherwise it would not read the
// request.
func (c *child) interrupt(id uint64) {
	if c.isEnding() {
		return
	}
	c.command.Process.Signal(syscall.SIGCONT)
	c.interrupts.Store(id, time.AfterFunc(deafAfter, func() { c.tellDeaf(id) }))
	c.post(cellproto.Request{ID: id, Type: cellproto.Interrupt})
}

// answered is called when the program has answered an interrupt.
func (c *child) answered(id uint64) {
	if deaf, ok := c.interrupts.LoadAndDelete(id); ok {
		deaf.(*time.Timer).Stop()
	}
}

// tellDeaf writes to the running cells that the program has not answered an interrupt.
func (c *child) tellDeaf(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.interrupts.LoadAndDelete(id); !open || c.over {
		return
	}
	text := fmt.Sprintf("warpbook: the cells program has not answered the interrupt for %v: restart the kernel to end it; its variables will be lost\n", deafAfter)
	for _, call := range c.pending {
		if call.sink != nil {
			call.take(cellproto.Event{ID: call.id, Type: cellproto.Stream, Name: "stderr", Text: text})
		}
	}
}
